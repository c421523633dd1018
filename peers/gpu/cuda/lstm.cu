// large/lstm.sim: a warp per agent, a cell per lane, whose 136 weights are in registers.
#include "peer.cuh"

constexpr int CELLS = 32, GATES = 4, EACH = GATES * CELLS * (CELLS + 2);

__device__ inline float sigmoid_of(float x) { return 1.0f / (1.0f + expf(-x)); }

KERNEL lstm(float *__restrict__ out, const float *__restrict__ weights, int agents, int steps) {
    Place<32> place(agents);
    const float *own = weights + (size_t)place.agent * EACH;
    float w[GATES][CELLS], u[GATES], b[GATES];
#pragma unroll
    for (int g = 0; g < GATES; g++) {
#pragma unroll
        for (int k = 0; k < CELLS; k++) w[g][k] = own[(g * CELLS + place.lane) * CELLS + k];
        u[g] = own[GATES * CELLS * CELLS + g * CELLS + place.lane];
        b[g] = own[GATES * CELLS * (CELLS + 1) + g * CELLS + place.lane];
    }
    float h = 0.0f, c = 0.0f;
    for (int t = 0; t < steps; t++) {
        float signal = sinf(0.1f * (float)t), gate[GATES];
#pragma unroll
        for (int g = 0; g < GATES; g++) gate[g] = b[g] + u[g] * signal;
#pragma unroll
        for (int k = 0; k < CELLS; k++) {
            float before = __shfl_sync(0xffffffffu, h, k);
#pragma unroll
            for (int g = 0; g < GATES; g++) gate[g] += w[g][k] * before;
        }
        c = sigmoid_of(gate[1]) * c + sigmoid_of(gate[0]) * tanh_of<false>(gate[3]);
        h = sigmoid_of(gate[2]) * tanh_of<false>(c);
    }
    float score = sum_of_lanes<32>(h);
    if (place.writes) out[place.agent] = score;
}
