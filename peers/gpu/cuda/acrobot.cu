// acrobot.sim: two links under a network 6 -> 16 -> 3.
//
// Sines and cosines of the angles are taken once per place: those after a step are the height's, the network's and
// the first stage's of the next. Sums of angles use the addition formulas, and the two quotients of a stage share
// one reciprocal.
#include "peer.cuh"

constexpr float PI = 3.14159265f;

struct Links {
    float theta1, theta2, omega1, omega2;
};

struct Waves {
    float s1, c1, s2, c2;
    __device__ Waves(Links x) {
        sincosf(x.theta1, &s1, &c1);
        sincosf(x.theta2, &s2, &c2);
    }
};

__device__ inline Links slopes(Waves w, float omega1, float omega2, float torque) {
    float d1 = 3.5f + w.c2, d2 = 1.25f + 0.5f * w.c2, den = 1.25f * d1 - d2 * d2;
    float phi2 = 4.9f * (w.s1 * w.c2 + w.c1 * w.s2);
    float phi1 = 14.7f * w.s1 + phi2 - (0.5f * omega2 + omega1) * omega2 * w.s2;
    float one = 1.0f / (d1 * den);
    float acc2 = (d1 * (torque - 0.5f * omega1 * omega1 * w.s2 - phi2) + d2 * phi1) * (one * d1);
    return {omega1, omega2, -(d2 * acc2 + phi1) * (one * den), acc2};
}

__device__ inline Links along(Links x, float h, Links k) {
    return {x.theta1 + h * k.theta1, x.theta2 + h * k.theta2, x.omega1 + h * k.omega1, x.omega2 + h * k.omega2};
}

__device__ inline Links stage(Links x, float torque) { return slopes(Waves(x), x.omega1, x.omega2, torque); }

__device__ inline float wrap(float angle) { return angle - 2.0f * PI * rintf(angle * (0.5f / PI)); }

__device__ inline float clamp(float x, float bound) { return fminf(fmaxf(x, -bound), bound); }

template <int L, bool CHIP_TANH>
__device__ inline void acrobot(const float *__restrict__ weights, const float *__restrict__ start, float *__restrict__ score,
                               int agents, int steps) {
    Place<L> place(agents);
    Net<6, 16, 3, L, CHIP_TANH> net(weights, agents, place);
    const float *at = start + place.agent;
    Links x = {at[0], at[agents], at[2 * (size_t)agents], at[3 * (size_t)agents]};
    Waves w(x);
    float taken = 0.0f, best = -2.0f;
    bool done = false;
    for (int t = 0; t < steps; t++) {
        float seen[6] = {w.c1, w.s1, w.c2, w.s2, x.omega1, x.omega2}, out[3];
        net.run(seen, out);
        float torque = first_of_largest(out);

        constexpr float H = 0.2f;
        Links a = slopes(w, x.omega1, x.omega2, torque);
        Links b = stage(along(x, 0.5f * H, a), torque);
        Links c = stage(along(x, 0.5f * H, b), torque);
        Links d = stage(along(x, H, c), torque);
        auto mean = [](float a, float b, float c, float d) { return (H / 6.0f) * (a + 2.0f * (b + c) + d); };
        x.theta1 = wrap(x.theta1 + mean(a.theta1, b.theta1, c.theta1, d.theta1));
        x.theta2 = wrap(x.theta2 + mean(a.theta2, b.theta2, c.theta2, d.theta2));
        x.omega1 = clamp(x.omega1 + mean(a.omega1, b.omega1, c.omega1, d.omega1), 4.0f * PI);
        x.omega2 = clamp(x.omega2 + mean(a.omega2, b.omega2, c.omega2, d.omega2), 9.0f * PI);

        w = Waves(x);
        float height = -w.c1 - (w.c1 * w.c2 - w.s1 * w.s2);
        if (!done) {
            taken += 1.0f;
            best = fmaxf(best, height);
        }
        done |= height > 1.0f;
    }
    if (place.writes) score[place.agent] = best - taken;
}

#define VARIANT(NAME, L, CHIP_TANH)                                                                                  \
    KERNEL NAME##_##L(const float *weights, const float *start, float *score, int agents, int steps) {                \
        acrobot<L, CHIP_TANH>(weights, start, score, agents, steps);                                                 \
    }
VARIANT(acrobot, 1, false)
VARIANT(acrobot, 2, false)
VARIANT(acrobot, 4, false)
VARIANT(acrobot, 8, false)
VARIANT(acrobot_chip_tanh, 1, true)
VARIANT(acrobot_chip_tanh, 2, true)
VARIANT(acrobot_chip_tanh, 4, true)
#undef VARIANT
