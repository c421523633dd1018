// rastrigin.sim: one sum of 2,000 terms an agent, by a warp or by a block.
#include "peer.cuh"

constexpr int DIM = 2000;

__device__ inline float term(float x) { return x * x - 10.0f * cosf(6.28318531f * x); }

// The terms that one of T threads adds up; its loads do not wait for one another.
template <int T> __device__ inline float share(const float *__restrict__ values, int agent, int thread) {
    constexpr int QUADS = DIM / 4, ROUNDS = (QUADS + T - 1) / T;
    const float4 *row = (const float4 *)(values + (size_t)agent * DIM);
    float total = 0.0f;
#pragma unroll
    for (int q = 0; q < ROUNDS; q++) {
        int at = q * T + thread;
        if (at < QUADS) {
            float4 v = row[at];
            total += term(v.x) + term(v.y) + term(v.z) + term(v.w);
        }
    }
    return sum_of_lanes<32>(total);
}

__device__ inline float finish(float total) { return -(10.0f * DIM + total); }

KERNEL rastrigin_warp(const float *__restrict__ values, float *__restrict__ score, int agents) {
    Place<32> place(agents);
    float total = share<32>(values, place.agent, place.lane);
    if (place.writes) score[place.agent] = finish(total);
}

// One block of 128 threads an agent.
KERNEL rastrigin_block(const float *__restrict__ values, float *__restrict__ score, int agents) {
    __shared__ float parts[4];
    float part = share<128>(values, blockIdx.x, threadIdx.x);
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = part;
    __syncthreads();
    if (threadIdx.x == 0) score[blockIdx.x] = finish(parts[0] + parts[1] + parts[2] + parts[3]);
}
