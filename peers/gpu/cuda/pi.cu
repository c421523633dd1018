// pi.sim: darts. L lanes take every L-th dart of an agent each, by jumps over the darts of the others.
#include "generator.cuh"

template <int L> __device__ inline void darts(float *__restrict__ score, int agents, int steps) {
    Place<L> place(agents);
    constexpr Jump stride = jump(2 * L);
    u32 s = jump(2 * place.lane + 1)(first_state(place.agent));
    int hits = 0, count = (steps - place.lane + L - 1) / L;
#pragma unroll 8
    for (int t = 0; t < count; t++) {
        // Whole numbers below 2^24 are exact, so the circle is drawn in their units.
        float x = (float)bits_of(s), y = (float)bits_of(next(s));
        hits += x * x + y * y <= 0x1p48f;
        s = stride(s);
    }
    hits = sum_of_lanes<L>(hits);
    if (place.writes) score[place.agent] = 4.0f * (float)hits / (float)steps;
}

KERNEL pi_1(float *score, int agents, int steps) { darts<1>(score, agents, steps); }
KERNEL pi_8(float *score, int agents, int steps) { darts<8>(score, agents, steps); }
KERNEL pi_32(float *score, int agents, int steps) { darts<32>(score, agents, steps); }
