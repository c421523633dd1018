// lorenz.sim in C: the Lorenz system by Runge-Kutta, each agent with its own rho.
#include "peer.h"

static const float DT = 0.001f, SIGMA = 10.0f, BETA = 2.6666667f;

static inline void slopes(float x, float y, float z, float rho, float *dx, float *dy, float *dz) {
    *dx = SIGMA * (y - x);
    *dy = x * (rho - z) - y;
    *dz = x * y - BETA * z;
}

static inline void advance(float *px, float *py, float *pz, float rho) {
    float x = *px, y = *py, z = *pz;
    float ax, ay, az, bx, by, bz, cx, cy, cz, ex, ey, ez;
    slopes(x, y, z, rho, &ax, &ay, &az);
    slopes(x + 0.5f * DT * ax, y + 0.5f * DT * ay, z + 0.5f * DT * az, rho, &bx, &by, &bz);
    slopes(x + 0.5f * DT * bx, y + 0.5f * DT * by, z + 0.5f * DT * bz, rho, &cx, &cy, &cz);
    slopes(x + DT * cx, y + DT * cy, z + DT * cz, rho, &ex, &ey, &ez);
    *px = x + DT / 6.0f * (ax + 2.0f * bx + 2.0f * cx + ex);
    *py = y + DT / 6.0f * (ay + 2.0f * by + 2.0f * cy + ey);
    *pz = z + DT / 6.0f * (az + 2.0f * bz + 2.0f * cz + ez);
}

static inline void write_outputs(void *const *out, int agent, float x, float y, float z) {
    ((float *)out[0])[agent] = x;
    ((float *)out[1])[agent] = y;
    ((float *)out[2])[agent] = z;
}

void plain(int agents, int steps, uint64_t seed, const void *const *in, void *const *out) {
    (void)seed;
    const float *rho = in[0];
#pragma omp parallel for schedule(dynamic, 64)
    for (int agent = 0; agent < agents; agent++) {
        float x = 1.0f, y = 1.0f, z = 1.0f;
        for (int step = 0; step < steps; step++) advance(&x, &y, &z, rho[agent]);
        write_outputs(out, agent, x, y, z);
    }
}

void tiled(int agents, int steps, uint64_t seed, const void *const *in, void *const *out) {
    (void)seed;
#pragma omp parallel for schedule(dynamic, 4)
    for (int first = 0; first < agents; first += LANES) {
        lanes_f rho, x, y, z;
        load_tile(&rho, in[0], 1, agents, first);
        for (int l = 0; l < LANES; l++) x[l] = y[l] = z[l] = 1.0f;
        for (int step = 0; step < steps; step++) {
            SIMD for (int l = 0; l < LANES; l++) advance(&x[l], &y[l], &z[l], rho[l]);
        }
        for (int l = 0; l < lanes_used(agents, first); l++) write_outputs(out, first + l, x[l], y[l], z[l]);
    }
}
