// What the C peers share: the signature of a run, the lanes of a tile and the random generator.
//
// A run gets its inputs and outputs as arrays of pointers in the order in which the Sim model declares them;
// the values of one agent are contiguous, as in the model.
#pragma once

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

// Agents of a tile; the driver compiles several and keeps the fastest.
#ifndef LANES
#define LANES 16
#endif

#define SIMD _Pragma("omp simd")
// Small loops of constant length inside a loop over lanes have to vanish for the outer one to become vectors.
#define UNROLL _Pragma("GCC unroll 16")
#define ALIGNED __attribute__((aligned(4 * LANES)))

#define PI 3.141592653589793f

typedef float lanes_f[LANES] ALIGNED;
typedef int32_t lanes_i[LANES] ALIGNED;
typedef uint32_t lanes_u[LANES] ALIGNED;

// The cosine inside a loop over lanes: gcc joins a sine and a cosine of the same angle to one call of sincosf, of
// which there is no vector version, and then the whole loop stays scalar.
static inline float cos_in_lanes(float x) { return sinf(x + 0.5f * PI); }

// Lanes that hold agents in the tile that starts at agent `first`; the others run along on copies of the last.
static inline int lanes_used(int agents, int first) {
    return agents - first < LANES ? agents - first : LANES;
}

// Rows of `width` values per agent into `width` rows of lanes.
static inline void load_tile(lanes_f *tile, const float *rows, int width, int agents, int first) {
    int used = lanes_used(agents, first);
    for (int lane = 0; lane < LANES; lane++) {
        const float *row = rows + (size_t)(first + (lane < used ? lane : used - 1)) * width;
        for (int k = 0; k < width; k++) tile[k][lane] = row[k];
    }
}

static inline uint32_t random_word(uint32_t k0, uint32_t k1, uint32_t n) {
    uint32_t x = (n * 0x9e3779b9u + k0) ^ k1;
    x ^= x >> 17;
    x = x * (2u * x + 0x21f0aaadu) + k1;
    x ^= x >> 16;
    x = x * (2u * x + 0xd35a2d97u);
    return x ^ (x >> 17);
}

static inline void agent_key(uint64_t seed, uint32_t agent, uint32_t *k0, uint32_t *k1) {
    uint32_t s0 = (uint32_t)seed, s1 = (uint32_t)(seed >> 32);
    uint32_t a = agent, b = random_word(s0, s1, a);
    a ^= random_word(s0 + 0xc13fa9a9u, s1 + 0x91e10da5u, b);
    b ^= random_word(s0 + 2u * 0xc13fa9a9u, s1 + 2u * 0x91e10da5u, a);
    a ^= random_word(s0 + 3u * 0xc13fa9a9u, s1 + 3u * 0x91e10da5u, b);
    *k0 = a;
    *k1 = b;
}

// The normal number of words 0 and 1 of one step.
static inline float step_normal(uint32_t k0, uint32_t k1, uint32_t step) {
    uint32_t x = step * 0xc13fa9a9u + k0;
    uint32_t s0 = (x ^ (x >> 16)) * 0x21f0aaadu + k1;
    uint32_t s1 = step * 0x91e10da5u + k1;
    uint32_t a = random_word(s0, s1, 0), b = random_word(s0, s1, 1);
    float u = (float)a * 2.3283064365386963e-10f + 1.1641532182693481e-10f;
    float angle = (float)(int32_t)b * 1.4629180792671596e-9f;
    return sqrtf(fmaxf(-2.0f * logf(u), 0.0f)) * cosf(angle);
}
