// acrobot.sim in C: Acrobot under a network 6 -> 16 -> 3 with tanh.
#include "peer.h"

enum { SEEN = 6, HIDDEN = 16, ACTIONS = 3, STATE = 4 };

static const float DT = 0.2f, GRAVITY = 9.8f, MAX_OMEGA1 = 4.0f * PI, MAX_OMEGA2 = 9.0f * PI;

typedef struct {
    float theta1, theta2, omega1, omega2;
} Links;

static inline float cosine(float x, int lanes) { return lanes ? cos_in_lanes(x) : cosf(x); }

static inline Links slopes(Links s, float torque, int lanes) {
    float sin2 = sinf(s.theta2), cos2 = cosine(s.theta2, lanes);
    float d1 = 3.5f + cos2, d2 = 1.25f + 0.5f * cos2;
    float phi2 = 0.5f * GRAVITY * sinf(s.theta1 + s.theta2);
    float phi1 = 1.5f * GRAVITY * sinf(s.theta1) + phi2 - (0.5f * s.omega2 + s.omega1) * s.omega2 * sin2;
    float acc2 = (torque + d2 / d1 * phi1 - 0.5f * s.omega1 * s.omega1 * sin2 - phi2) / (1.25f - d2 * d2 / d1);
    return (Links){s.omega1, s.omega2, -(d2 * acc2 + phi1) / d1, acc2};
}

static inline Links along(Links s, float h, Links k) {
    return (Links){s.theta1 + h * k.theta1, s.theta2 + h * k.theta2, s.omega1 + h * k.omega1, s.omega2 + h * k.omega2};
}

static inline Links rk4(Links s, float torque, int lanes) {
    Links a = slopes(s, torque, lanes);
    Links b = slopes(along(s, 0.5f * DT, a), torque, lanes);
    Links c = slopes(along(s, 0.5f * DT, b), torque, lanes);
    Links d = slopes(along(s, DT, c), torque, lanes);
    float h = DT / 6.0f;
    return (Links){
        s.theta1 + h * (a.theta1 + 2.0f * b.theta1 + 2.0f * c.theta1 + d.theta1),
        s.theta2 + h * (a.theta2 + 2.0f * b.theta2 + 2.0f * c.theta2 + d.theta2),
        s.omega1 + h * (a.omega1 + 2.0f * b.omega1 + 2.0f * c.omega1 + d.omega1),
        s.omega2 + h * (a.omega2 + 2.0f * b.omega2 + 2.0f * c.omega2 + d.omega2),
    };
}

static inline float clamp(float x, float bound) { return fminf(fmaxf(x, -bound), bound); }

static inline int is_high(Links s, int lanes) {
    return -cosine(s.theta1, lanes) - cosine(s.theta1 + s.theta2, lanes) > 1.0f;
}

static inline void write_outputs(void *const *out, int agent, Links s, int action, float reward, int done) {
    ((float *)out[0])[agent] = s.theta1;
    ((float *)out[1])[agent] = s.theta2;
    ((float *)out[2])[agent] = s.omega1;
    ((float *)out[3])[agent] = s.omega2;
    ((int32_t *)out[4])[agent] = action;
    ((float *)out[5])[agent] = reward;
    ((int32_t *)out[6])[agent] = done;
}

static inline float wrap_by_loop(float angle) {
    while (angle > PI) angle -= 2.0f * PI;
    while (angle < -PI) angle += 2.0f * PI;
    return angle;
}

void plain(int agents, int steps, uint64_t seed, const void *const *in, void *const *out) {
    (void)seed;
#pragma omp parallel for schedule(dynamic, 16)
    for (int agent = 0; agent < agents; agent++) {
        const float *w1 = (const float *)in[0] + (size_t)agent * SEEN * HIDDEN;
        const float *b1 = (const float *)in[1] + (size_t)agent * HIDDEN;
        const float *w2 = (const float *)in[2] + (size_t)agent * HIDDEN * ACTIONS;
        const float *b2 = (const float *)in[3] + (size_t)agent * ACTIONS;
        const float *start = (const float *)in[4] + (size_t)agent * STATE;
        Links s = {start[0], start[1], start[2], start[3]};
        float reward = 0.0f;
        int action = 0, done = 0;
        for (int step = 0; step < steps; step++) {
            float seen[SEEN] = {cosf(s.theta1), sinf(s.theta1), cosf(s.theta2), sinf(s.theta2), s.omega1, s.omega2};
            float hidden[HIDDEN], scores[ACTIONS];
            for (int i = 0; i < HIDDEN; i++) {
                float sum = b1[i];
                for (int j = 0; j < SEEN; j++) sum += seen[j] * w1[j * HIDDEN + i];
                hidden[i] = tanhf(sum);
            }
            for (int i = 0; i < ACTIONS; i++) {
                scores[i] = b2[i];
                for (int j = 0; j < HIDDEN; j++) scores[i] += hidden[j] * w2[j * ACTIONS + i];
            }
            action = 0;
            for (int i = 1; i < ACTIONS; i++)
                if (scores[i] > scores[action]) action = i;
            s = rk4(s, (float)(action - 1), 0);
            s.theta1 = wrap_by_loop(s.theta1);
            s.theta2 = wrap_by_loop(s.theta2);
            s.omega1 = clamp(s.omega1, MAX_OMEGA1);
            s.omega2 = clamp(s.omega2, MAX_OMEGA2);
            if (is_high(s, 0)) {
                done = 1;
                break;
            }
            reward -= 1.0f;
        }
        write_outputs(out, agent, s, action, reward, done);
    }
}

// The same angle without a loop, so that lanes stay together.
static inline float wrap(float angle) { return angle - 2.0f * PI * rintf(angle * (0.5f / PI)); }

void tiled(int agents, int steps, uint64_t seed, const void *const *in, void *const *out) {
    (void)seed;
#pragma omp parallel for schedule(dynamic, 1)
    for (int first = 0; first < agents; first += LANES) {
        lanes_f w1[SEEN * HIDDEN], b1[HIDDEN], w2[HIDDEN * ACTIONS], b2[ACTIONS], s[STATE], seen[SEEN], hidden[HIDDEN], reward;
        lanes_i action, done;
        load_tile(w1, in[0], SEEN * HIDDEN, agents, first);
        load_tile(b1, in[1], HIDDEN, agents, first);
        load_tile(w2, in[2], HIDDEN * ACTIONS, agents, first);
        load_tile(b2, in[3], ACTIONS, agents, first);
        load_tile(s, in[4], STATE, agents, first);
        for (int l = 0; l < LANES; l++) reward[l] = 0.0f, action[l] = done[l] = 0;
        for (int step = 0, running = 1; step < steps && running; step++) {
            SIMD for (int l = 0; l < LANES; l++) {
                seen[0][l] = cos_in_lanes(s[0][l]);
                seen[1][l] = sinf(s[0][l]);
                seen[2][l] = cos_in_lanes(s[1][l]);
                seen[3][l] = sinf(s[1][l]);
                seen[4][l] = s[2][l];
                seen[5][l] = s[3][l];
            }
            for (int i = 0; i < HIDDEN; i++) {
                SIMD for (int l = 0; l < LANES; l++) {
                    float sum = b1[i][l];
                    UNROLL for (int j = 0; j < SEEN; j++) sum += seen[j][l] * w1[j * HIDDEN + i][l];
                    hidden[i][l] = tanhf(sum);
                }
            }
            running = 0;
#pragma omp simd reduction(| : running)
            for (int l = 0; l < LANES; l++) {
                float left = b2[0][l], none = b2[1][l], right = b2[2][l];
                UNROLL for (int j = 0; j < HIDDEN; j++) {
                    left += hidden[j][l] * w2[j * ACTIONS][l];
                    none += hidden[j][l] * w2[j * ACTIONS + 1][l];
                    right += hidden[j][l] * w2[j * ACTIONS + 2][l];
                }
                int choice = none > left ? 1 : 0;
                choice = right > fmaxf(left, none) ? 2 : choice;
                Links now = rk4((Links){s[0][l], s[1][l], s[2][l], s[3][l]}, (float)(choice - 1), 1);
                now.theta1 = wrap(now.theta1);
                now.theta2 = wrap(now.theta2);
                now.omega1 = clamp(now.omega1, MAX_OMEGA1);
                now.omega2 = clamp(now.omega2, MAX_OMEGA2);
                int over = done[l], high = is_high(now, 1);
                s[0][l] = over ? s[0][l] : now.theta1;
                s[1][l] = over ? s[1][l] : now.theta2;
                s[2][l] = over ? s[2][l] : now.omega1;
                s[3][l] = over ? s[3][l] : now.omega2;
                action[l] = over ? action[l] : choice;
                done[l] = over | high;
                reward[l] -= done[l] ? 0.0f : 1.0f;
                running |= !done[l];
            }
        }
        for (int l = 0; l < lanes_used(agents, first); l++)
            write_outputs(out, first + l, (Links){s[0][l], s[1][l], s[2][l], s[3][l]}, action[l], reward[l], done[l]);
    }
}
