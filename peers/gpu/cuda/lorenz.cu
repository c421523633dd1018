// lorenz.sim: a trajectory by Runge-Kutta.
#include "peer.cuh"

struct Point {
    float x, y, z;
};

__device__ inline Point slopes(Point p, float rho) {
    return {10.0f * (p.y - p.x), p.x * (rho - p.z) - p.y, p.x * p.y - 2.6666667f * p.z};
}

__device__ inline Point along(Point p, float h, Point k) { return {p.x + h * k.x, p.y + h * k.y, p.z + h * k.z}; }

KERNEL lorenz_1(float *__restrict__ score, int agents, int steps) {
    Place<1> place(agents);
    constexpr float H = 0.001f;
    float rho = 21.0f * (float)place.agent / (float)agents;
    Point p = {1.0f, 0.0f, 0.0f};
#pragma unroll 4
    for (int t = 0; t < steps; t++) {
        Point a = slopes(p, rho), b = slopes(along(p, 0.5f * H, a), rho);
        Point c = slopes(along(p, 0.5f * H, b), rho), d = slopes(along(p, H, c), rho);
        Point sum = {b.x + c.x, b.y + c.y, b.z + c.z};
        sum = {a.x + 2.0f * sum.x + d.x, a.y + 2.0f * sum.y + d.y, a.z + 2.0f * sum.z + d.z};
        p = along(p, H / 6.0f, sum);
    }
    if (place.writes) score[place.agent] = p.x + p.y + p.z;
}
