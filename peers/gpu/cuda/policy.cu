// large/policy.sim: 8, 16 or 32 lanes per agent, each of which holds the weights of some units of both hidden layers.
#include "peer.cuh"

constexpr int HIDDEN = 32, WEIGHTS = 5 * HIDDEN + HIDDEN * HIDDEN + 2 * HIDDEN + 1;

template <int L>
__device__ inline void policy(float *__restrict__ out, const float *__restrict__ weights,
                              const float *__restrict__ tilt, int agents, int steps) {
    constexpr int U = HIDDEN / L;
    Place<L> place(agents);
    const float *own = weights + (size_t)place.agent * WEIGHTS;
    float w1[U][4], b1[U], w2[U][HIDDEN], b2[U], w3[U];
#pragma unroll
    for (int u = 0; u < U; u++) {
        int j = place.lane * U + u;
#pragma unroll
        for (int k = 0; k < 4; k++) w1[u][k] = own[j * 4 + k];
        b1[u] = own[4 * HIDDEN + j];
#pragma unroll
        for (int k = 0; k < HIDDEN; k++) w2[u][k] = own[5 * HIDDEN + j * HIDDEN + k];
        b2[u] = own[5 * HIDDEN + HIDDEN * HIDDEN + j];
        w3[u] = own[6 * HIDDEN + HIDDEN * HIDDEN + j];
    }
    float b3 = own[WEIGHTS - 1];
    float position = 0.0f, velocity = 0.0f, angle = tilt[place.agent], spin = 0.0f, score = 0.0f;
    for (int t = 0; t < steps; t++) {
        float first[U], second[U], push = 0.0f;
#pragma unroll
        for (int u = 0; u < U; u++) {
            float sum = b1[u] + w1[u][0] * position + w1[u][1] * velocity + w1[u][2] * (10.0f * angle);
            first[u] = tanh_of<false>(sum + w1[u][3] * spin);
            second[u] = b2[u];
        }
#pragma unroll
        for (int k = 0; k < HIDDEN; k++) {
            float unit = __shfl_sync(0xffffffffu, first[k % U], k / U, L);
#pragma unroll
            for (int u = 0; u < U; u++) second[u] += w2[u][k] * unit;
        }
#pragma unroll
        for (int u = 0; u < U; u++) push += w3[u] * tanh_of<false>(second[u]);
        push = b3 + sum_of_lanes<L>(push);
        float force = 10.0f * fminf(fmaxf(push, -1.0f), 1.0f);
        float s = sinf(angle), c = cosf(angle);
        float pull = (force + 0.05f * spin * spin * s) / 1.1f;
        float turn = (9.8f * s - c * pull) / (0.5f * (4.0f / 3.0f - 0.1f * c * c / 1.1f));
        float gain = pull - 0.05f * turn * c / 1.1f;
        position = fminf(fmaxf(position + 0.02f * velocity, -4.8f), 4.8f);
        velocity = fminf(fmaxf(velocity + 0.02f * gain, -5.0f), 5.0f);
        angle = fminf(fmaxf(angle + 0.02f * spin, -0.8f), 0.8f);
        spin = fminf(fmaxf(spin + 0.02f * turn, -5.0f), 5.0f);
        score += fabsf(angle) < 0.21f && fabsf(position) < 2.4f ? 1.0f : 0.0f;
    }
    if (place.writes) out[place.agent] = score;
}

#define POLICY(L)                                                                                                      \
    KERNEL policy_##L(float *out, const float *weights, const float *tilt, int agents, int steps) {                    \
        policy<L>(out, weights, tilt, agents, steps);                                                                  \
    }
POLICY(8)
POLICY(16)
POLICY(32)
