// PCG-RXS-M-XS-32: a state of 32 bits that a linear congruence moves on, and a word made of each state.
#pragma once
#include "peer.cuh"

// s -> a s + c: one or more draws.
struct Jump {
    u32 a, c;
    __host__ __device__ constexpr u32 operator()(u32 s) const { return a * s + c; }
    __host__ __device__ constexpr Jump then(Jump next) const { return {next.a * a, next.a * c + next.c}; }
};

__host__ __device__ constexpr Jump one_draw() { return {747796405u, 2891336453u}; }

__host__ __device__ constexpr Jump jump(u32 draws) {
    Jump total = {1u, 0u}, power = one_draw();
    for (; draws > 0; draws >>= 1) {
        if (draws & 1) total = total.then(power);
        power = power.then(power);
    }
    return total;
}

__device__ inline u32 first_state(u32 agent) { return hash32(agent + 0x77770000u); }

__device__ inline u32 next(u32 s) { return one_draw()(s); }

// 24 random bits.
__device__ inline u32 bits_of(u32 s) {
    u32 w = ((s >> ((s >> 28) + 4)) ^ s) * 277803737u;
    return ((w >> 22) ^ w) >> 8;
}
