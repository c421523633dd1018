// What the kernels share: the hash that makes inputs, sums over lanes, a network whose weights live in registers.
//
// Several lanes may share an agent. Lane l of L then holds every unit from l H/L on, and sums are completed by
// shuffles; a butterfly of sums gives all lanes the same bits, so the lanes of an agent never part. No thread
// leaves early: those beyond the last agent repeat it and write nothing.
#pragma once
#include <stdint.h>
#ifndef __CUDACC__
#include "host/shim.h"
#endif

#define KERNEL extern "C" __global__ void __launch_bounds__(128)

typedef uint32_t u32;

__device__ inline u32 hash32(u32 x) {
    x = (x ^ (x >> 16)) * 0x7feb352du;
    x = (x ^ (x >> 15)) * 0x846ca68bu;
    return x ^ (x >> 16);
}

// In [0, 1).
__device__ inline float unit(u32 key, u32 i) { return (float)(hash32(i + key) >> 8) * 0x1p-24f; }

// In [-scale, scale).
__device__ inline float symmetric(u32 key, u32 i, float scale) { return (2.0f * unit(key, i) - 1.0f) * scale; }

__device__ inline u32 thread_number() { return blockIdx.x * blockDim.x + threadIdx.x; }

// Which agent a thread works on, and which part of it.
template <int L> struct Place {
    int agent, lane;
    bool writes;
    __device__ Place(int agents) {
        u32 thread = thread_number();
        lane = thread % L;
        agent = min((int)(thread / L), agents - 1);
        writes = lane == 0 && thread / L < (u32)agents;
    }
};

template <int L, class T> __device__ inline T sum_of_lanes(T value) {
#pragma unroll
    for (int m = 1; m < L; m <<= 1) value += __shfl_xor_sync(0xffffffffu, value, m);
    return value;
}

// 1 - 2 / (e^2x + 1): right at both ends without a guard. The chip's own tanh has 11 good bits.
template <bool CHIP> __device__ inline float tanh_of(float x) {
#ifdef __CUDA_ARCH__
    if (CHIP) {
        float y;
        asm("tanh.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
        return y;
    }
#endif
    return 1.0f - 2.0f / (expf(2.0f * x) + 1.0f);
}

// A network I -> H -> O. `columns` holds value k of agent a at k * agents + a.
template <int I, int H, int O, int L, bool CHIP_TANH, int EMPTY = -1> struct Net {
    static constexpr int U = H / L;
    float w1[I][U], b1[U], w2[U][O], b2[O];

    __device__ Net(const float *__restrict__ columns, int agents, Place<L> place) {
        auto value = [&](int k) { return columns[(size_t)k * agents + place.agent]; };
        int first = place.lane * U;
#pragma unroll
        for (int i = 0; i < U; i++) {
            b1[i] = value(I * H + first + i);
#pragma unroll
            for (int j = 0; j < I; j++) w1[j][i] = value(j * H + first + i);
#pragma unroll
            for (int o = 0; o < O; o++) w2[i][o] = value(I * H + H + (first + i) * O + o);
        }
        // One lane adds the bias of the outputs.
#pragma unroll
        for (int o = 0; o < O; o++) b2[o] = place.lane == 0 ? value(I * H + H + H * O + o) : 0.0f;
    }

    // The input EMPTY is always zero.
    __device__ void run(const float (&x)[I], float (&out)[O]) const {
#pragma unroll
        for (int o = 0; o < O; o++) out[o] = b2[o];
#pragma unroll
        for (int i = 0; i < U; i++) {
            float h = b1[i];
#pragma unroll
            for (int j = 0; j < I; j++)
                if (j != EMPTY) h += x[j] * w1[j][i];
            h = tanh_of<CHIP_TANH>(h);
#pragma unroll
            for (int o = 0; o < O; o++) out[o] += h * w2[i][o];
        }
#pragma unroll
        for (int o = 0; o < O; o++) out[o] = sum_of_lanes<L>(out[o]);
    }
};

// -1, 0 or 1: the first of the largest of three.
__device__ inline float first_of_largest(const float (&s)[3]) {
    return s[2] > fmaxf(s[0], s[1]) ? 1.0f : s[1] > s[0] ? 0.0f : -1.0f;
}
