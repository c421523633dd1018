// The draws of Sim's own language: docs/random.md says what they are.
#pragma once
#include "peer.cuh"

// Pseudo-steps.
constexpr u32 INIT = 0xffffffffu, INPUT = 0xfffffffdu;

struct Key {
    u32 x, y;
};

__device__ inline u32 random_word(Key key, u32 n) {
    u32 x = (n * 0x9e3779b9u + key.x) ^ key.y;
    x ^= x >> 17;
    x = x * (2 * x + 0x21f0aaadu) + key.y;
    x ^= x >> 16;
    x = x * (2 * x + 0xd35a2d97u);
    return x ^ (x >> 17);
}

__device__ inline Key agent_key(Key seed, u32 agent) {
    auto moved = [=](u32 times) { return Key{seed.x + times * 0xc13fa9a9u, seed.y + times * 0x91e10da5u}; };
    u32 k0 = agent, k1 = random_word(seed, k0);
    k0 ^= random_word(moved(1), k1);
    k1 ^= random_word(moved(2), k0);
    k0 ^= random_word(moved(3), k1);
    return {k0, k1};
}

__device__ inline Key step_key(Key stream, u32 step) {
    u32 x = step * 0xc13fa9a9u + stream.x;
    return {(x ^ (x >> 16)) * 0x21f0aaadu + stream.y, step * 0x91e10da5u + stream.y};
}

__device__ inline float random_unit(Key key, u32 n) { return (float)(random_word(key, n) >> 8) * 0x1p-24f; }

// A normal number from words n and n + 1, in double precision: for inputs, which are made before anything is timed.
__device__ inline float random_normal(Key key, u32 n) {
    double u = (random_word(key, n) + 0.5) * 0x1p-32;
    double angle = 3.14159265358979323846 * (int)random_word(key, n + 1) * 0x1p-31;
    return (float)(sqrt(-2.0 * log(u)) * cos(angle));
}

// A chance below 1 as a number of 64 bits.
struct Chance {
    u32 high, low;
    __device__ explicit Chance(float p) {
        float scaled = p * 0x1p32f;
        high = (u32)scaled;
        low = (u32)((scaled - (float)high) * 0x1p32f);
    }
};

// True with that chance, by words n and n + 1; the second one is computed only where the first leaves it open.
__device__ inline bool random_bernoulli(Key key, u32 n, Chance chance) {
    u32 word = random_word(key, n);
    return word < chance.high || (word == chance.high && random_word(key, n + 1) < chance.low);
}
