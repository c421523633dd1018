// large/attention.sim: a warp per agent. A lane owns a column of each matrix, which it holds in registers, and that
// column of the keys and values, in shared memory; for the products with the query it owns a step instead.
#include "peer.cuh"

constexpr int D = 32, LENGTH = 48, WARPS = 2;
// One word between rows, so that lanes that read one column of different rows reach different banks.
constexpr int ROW = D + 1;

__device__ inline float of_lane(float value, int lane) { return __shfl_sync(0xffffffffu, value, lane); }

__device__ inline float max_of_lanes(float value) {
#pragma unroll
    for (int m = 1; m < 32; m <<= 1) value = fmaxf(value, __shfl_xor_sync(0xffffffffu, value, m));
    return value;
}

extern "C" __global__ void __launch_bounds__(32 * WARPS)
    attention(float *__restrict__ out, const float *__restrict__ weights, const float *__restrict__ first, int agents,
              int steps) {
    __shared__ float keys[WARPS][LENGTH * ROW], values[WARPS][LENGTH * ROW];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    int agent = blockIdx.x * WARPS + warp;
    if (agent >= agents) agent = agents - 1;
    float q[D], k[D], v[D];
    const float *own = weights + (size_t)agent * 3 * D * D + lane * D;
#pragma unroll
    for (int i = 0; i < D; i++) q[i] = own[i], k[i] = own[D * D + i], v[i] = own[2 * D * D + i];
    float x = first[agent * D + lane];
    for (int n = lane; n < LENGTH * ROW; n += 32) keys[warp][n] = 0.0f, values[warp][n] = 0.0f;
    for (int t = 0; t < steps; t++) {
        float query = 0.0f, key = 0.0f, value = 0.0f;
#pragma unroll
        for (int i = 0; i < D; i++) {
            float xi = of_lane(x, i);
            query += q[i] * xi, key += k[i] * xi, value += v[i] * xi;
        }
        keys[warp][t * ROW + lane] = key, values[warp][t * ROW + lane] = value;
        __syncwarp();
        float low = 0.0f, high = 0.0f;
        bool has_low = lane <= t, has_high = lane + 32 <= t;
        int row = has_high ? lane + 32 : 0;
#pragma unroll 8
        for (int j = 0; j < D; j++) {
            float qj = of_lane(query, j);
            low += qj * keys[warp][lane * ROW + j];
            if (t >= 32) high += qj * keys[warp][row * ROW + j];
        }
        constexpr float SCALE = 0.17677669529663687f;
        low = has_low ? SCALE * low : -1e30f, high = has_high ? SCALE * high : -1e30f;
        float largest = max_of_lanes(fmaxf(low, high));
        low = has_low ? expf(low - largest) : 0.0f, high = has_high ? expf(high - largest) : 0.0f;
        float total = sum_of_lanes<32>(low + high), all = 0.0f;
        int early = min(t + 1, 32);
#pragma unroll 4
        for (int s = 0; s < early; s++) all += of_lane(low, s) * values[warp][s * ROW + lane];
#pragma unroll 4
        for (int s = 32; s <= t; s++) all += of_lane(high, s - 32) * values[warp][s * ROW + lane];
        x = tanh_of<false>(2.0f * all / total);
        __syncwarp();
    }
    float score = sum_of_lanes<32>(x);
    if (lane == 0) out[agent] = score;
}
