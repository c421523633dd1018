// mountain_car.sim: a car in a valley under a network 2 -> 8 -> 3.
#include "peer.cuh"

template <int L, bool CHIP_TANH>
__device__ inline void mountain_car(const float *__restrict__ weights, const float *__restrict__ start, float *__restrict__ score,
                                    int agents, int steps) {
    Place<L> place(agents);
    Net<2, 8, 3, L, CHIP_TANH> net(weights, agents, place);
    float x = -0.5f + start[place.agent], v = 0.0f, taken = 0.0f, best = -2.0f;
    bool done = false;
#pragma unroll 2
    for (int t = 0; t < steps; t++) {
        float seen[2] = {x, 20.0f * v}, out[3];
        net.run(seen, out);
        v += 0.001f * first_of_largest(out) - 0.0025f * cosf(3.0f * x);
        v = fminf(fmaxf(v, -0.07f), 0.07f);
        x = fminf(fmaxf(x + v, -1.2f), 0.6f);
        v = x <= -1.2f ? fmaxf(v, 0.0f) : v;
        if (!done) {
            taken += 1.0f;
            best = fmaxf(best, x);
        }
        done |= x >= 0.5f;
    }
    if (place.writes) score[place.agent] = best - taken;
}

#define VARIANT(NAME, L, CHIP_TANH)                                                                                  \
    KERNEL NAME##_##L(const float *weights, const float *start, float *score, int agents, int steps) {                \
        mountain_car<L, CHIP_TANH>(weights, start, score, agents, steps);                                            \
    }
VARIANT(mountain_car, 1, false)
VARIANT(mountain_car, 2, false)
VARIANT(mountain_car, 4, false)
VARIANT(mountain_car_chip_tanh, 1, true)
VARIANT(mountain_car_chip_tanh, 2, true)
#undef VARIANT
