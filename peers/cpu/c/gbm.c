// gbm.sim in C: geometric Brownian motion, one agent a path.
#include "peer.h"

static const float RATE = 0.05f, SIGMA = 0.2f, STRIKE = 105.0f, SPOT = 100.0f, MATURITY = 1.0f;

static inline void write_outputs(void *const *out, int agent, float price) {
    float discount = expf(-RATE * MATURITY);
    ((float *)out[0])[agent] = discount * fmaxf(price - STRIKE, 0.0f);
    ((float *)out[1])[agent] = discount * fmaxf(STRIKE - price, 0.0f);
    ((float *)out[2])[agent] = price;
}

void plain(int agents, int steps, uint64_t seed, const void *const *in, void *const *out) {
    (void)in;
    float dt = MATURITY / (float)steps;
    float drift = (RATE - 0.5f * SIGMA * SIGMA) * dt, scale = SIGMA * sqrtf(dt);
#pragma omp parallel for schedule(dynamic, 64)
    for (int agent = 0; agent < agents; agent++) {
        uint32_t k0, k1;
        agent_key(seed, (uint32_t)agent, &k0, &k1);
        float price = SPOT;
        for (int step = 0; step < steps; step++)
            price *= expf(drift + scale * step_normal(k0, k1, (uint32_t)step));
        write_outputs(out, agent, price);
    }
}

void tiled(int agents, int steps, uint64_t seed, const void *const *in, void *const *out) {
    (void)in;
    float dt = MATURITY / (float)steps;
    float drift = (RATE - 0.5f * SIGMA * SIGMA) * dt, scale = SIGMA * sqrtf(dt);
#pragma omp parallel for schedule(dynamic, 4)
    for (int first = 0; first < agents; first += LANES) {
        lanes_u k0, k1;
        lanes_f price;
        SIMD for (int l = 0; l < LANES; l++) {
            agent_key(seed, (uint32_t)(first + l), &k0[l], &k1[l]);
            price[l] = SPOT;
        }
        for (int step = 0; step < steps; step++) {
            SIMD for (int l = 0; l < LANES; l++)
                price[l] *= expf(drift + scale * step_normal(k0[l], k1[l], (uint32_t)step));
        }
        for (int l = 0; l < lanes_used(agents, first); l++) write_outputs(out, first + l, price[l]);
    }
}
