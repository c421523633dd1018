// large/shared.sim: a thread per agent. All of a block read the same weights, from shared memory, four at a time; the
// first layer stays in registers, a unit of the second goes into the outputs as soon as it is known.
#include "peer.cuh"

constexpr int SEEN = 8, HIDDEN = 64, OUT = 4, W2 = HIDDEN * SEEN, W3 = W2 + HIDDEN * HIDDEN, ALL = W3 + OUT * HIDDEN;

// A thread has A agents, for each of which it uses a weight that it has read.
template <int A>
__device__ inline void shared_net(float *__restrict__ out, const float *__restrict__ weights,
                                  const float *__restrict__ start, int agents, int steps) {
    __shared__ __align__(16) float w[ALL];
    for (int n = threadIdx.x; n < ALL; n += blockDim.x) w[n] = weights[n];
    __syncthreads();
    float x[A][SEEN];
    int agent[A];
#pragma unroll
    for (int a = 0; a < A; a++) {
        agent[a] = min((int)(thread_number() * A + a), agents - 1);
#pragma unroll
        for (int k = 0; k < SEEN; k++) x[a][k] = start[agent[a] * SEEN + k];
    }
    for (int t = 0; t < steps; t++) {
        float first[A][HIDDEN], push[A][OUT];
#pragma unroll
        for (int j = 0; j < HIDDEN; j++) {
#pragma unroll
            for (int a = 0; a < A; a++) {
                float sum = 0.0f;
#pragma unroll
                for (int k = 0; k < SEEN; k++) sum += w[j * SEEN + k] * x[a][k];
                first[a][j] = tanh_of<false>(sum);
            }
        }
#pragma unroll
        for (int a = 0; a < A; a++)
#pragma unroll
            for (int o = 0; o < OUT; o++) push[a][o] = 0.0f;
        for (int j = 0; j < HIDDEN; j++) {
            float sum[A];
#pragma unroll
            for (int a = 0; a < A; a++) sum[a] = 0.0f;
#pragma unroll
            for (int k = 0; k < HIDDEN; k += 4) {
                float4 four = *(const float4 *)&w[W2 + j * HIDDEN + k];
#pragma unroll
                for (int a = 0; a < A; a++) {
                    sum[a] += four.x * first[a][k];
                    sum[a] += four.y * first[a][k + 1];
                    sum[a] += four.z * first[a][k + 2];
                    sum[a] += four.w * first[a][k + 3];
                }
            }
#pragma unroll
            for (int a = 0; a < A; a++) {
                float second = tanh_of<false>(sum[a]);
#pragma unroll
                for (int o = 0; o < OUT; o++) push[a][o] += w[W3 + o * HIDDEN + j] * second;
            }
        }
#pragma unroll
        for (int a = 0; a < A; a++) {
            float before[SEEN];
#pragma unroll
            for (int k = 0; k < SEEN; k++) before[k] = x[a][k];
#pragma unroll
            for (int k = 0; k < SEEN; k++)
                x[a][k] = 0.7f * before[k] + 0.2f * before[(k + 1) % SEEN] + 0.3f * tanh_of<false>(push[a][k % OUT]);
        }
    }
#pragma unroll
    for (int a = 0; a < A; a++) {
        float score = 0.0f;
#pragma unroll
        for (int k = 0; k < SEEN; k++) score += x[a][k];
        out[agent[a]] = score;
    }
}

KERNEL shared_1(float *out, const float *weights, const float *start, int agents, int steps) {
    shared_net<1>(out, weights, start, agents, steps);
}

KERNEL shared_2(float *out, const float *weights, const float *start, int agents, int steps) {
    shared_net<2>(out, weights, start, agents, steps);
}
