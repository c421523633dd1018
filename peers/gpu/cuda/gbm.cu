// gbm.sim: a path of a geometric Brownian motion and its Asian call. The price is kept as its binary logarithm.
#include "generator.cuh"

KERNEL gbm_1(float *__restrict__ score, int agents, int steps) {
    Place<1> place(agents);
    constexpr float LOG2E = 1.44269504f, DRIFT = 0.00007936508f * LOG2E;
    // sqrt(-2 ln u) is sqrt(2 ln 2) sqrt(-log2 u).
    constexpr float SPREAD = 0.012598816f * LOG2E * 1.17741002f;
    u32 s = first_state(place.agent);
    float growth = 0.0f, total = 0.0f;
#pragma unroll 4
    for (int t = 0; t < steps; t++) {
        s = next(s);
        float u1 = (float)(bits_of(s) + 1) * 0x1p-24f;
        s = next(s);
        float angle = (float)bits_of(s) * (6.28318531f * 0x1p-24f);
        growth += DRIFT + SPREAD * sqrtf(-log2f(u1)) * cosf(angle);
        total += exp2f(growth);
    }
    if (place.writes) score[place.agent] = fmaxf(100.0f * total / (float)steps - 100.0f, 0.0f);
}
