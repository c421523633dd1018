// cartpole.sim in C: CartPole under a network 4 -> 8 -> 2 with tanh.
#include "peer.h"

enum { SEEN = 4, HIDDEN = 8, ACTIONS = 2 };

static const float GRAVITY = 9.8f, POLE_MASS = 0.1f, TOTAL_MASS = 1.1f, LENGTH = 0.5f, FORCE = 10.0f;
static const float DT = 0.02f, X_LIMIT = 2.4f, THETA_LIMIT = 0.20943951f;

static inline void advance(float *x, float *v, float *theta, float *omega, float s, float c, float force) {
    float push = (force + POLE_MASS * LENGTH * *omega * *omega * s) / TOTAL_MASS;
    float spin = (GRAVITY * s - c * push) / (LENGTH * (4.0f / 3.0f - POLE_MASS * c * c / TOTAL_MASS));
    float pull = push - POLE_MASS * LENGTH * spin * c / TOTAL_MASS;
    *x += DT * *v;
    *v += DT * pull;
    *theta += DT * *omega;
    *omega += DT * spin;
}

static inline void write_outputs(void *const *out, int agent, const float *state, int action, float reward, int done) {
    for (int k = 0; k < 4; k++) ((float *)out[k])[agent] = state[k];
    ((int32_t *)out[4])[agent] = action;
    ((float *)out[5])[agent] = reward;
    ((int32_t *)out[6])[agent] = done;
}

void plain(int agents, int steps, uint64_t seed, const void *const *in, void *const *out) {
    (void)seed;
#pragma omp parallel for schedule(dynamic, 16)
    for (int agent = 0; agent < agents; agent++) {
        const float *w1 = (const float *)in[0] + (size_t)agent * SEEN * HIDDEN;
        const float *b1 = (const float *)in[1] + (size_t)agent * HIDDEN;
        const float *w2 = (const float *)in[2] + (size_t)agent * HIDDEN * ACTIONS;
        const float *b2 = (const float *)in[3] + (size_t)agent * ACTIONS;
        float s[SEEN], reward = 0.0f;
        int action = 0, done = 0;
        memcpy(s, (const float *)in[4] + (size_t)agent * SEEN, sizeof s);
        for (int step = 0; step < steps && !done; step++) {
            float hidden[HIDDEN], scores[ACTIONS];
            for (int i = 0; i < HIDDEN; i++) {
                float sum = b1[i];
                for (int j = 0; j < SEEN; j++) sum += s[j] * w1[j * HIDDEN + i];
                hidden[i] = tanhf(sum);
            }
            for (int i = 0; i < ACTIONS; i++) {
                scores[i] = b2[i];
                for (int j = 0; j < HIDDEN; j++) scores[i] += hidden[j] * w2[j * ACTIONS + i];
            }
            action = scores[1] > scores[0];
            advance(&s[0], &s[1], &s[2], &s[3], sinf(s[2]), cosf(s[2]), action ? FORCE : -FORCE);
            reward += 1.0f;
            done = fabsf(s[0]) > X_LIMIT || fabsf(s[2]) > THETA_LIMIT;
        }
        write_outputs(out, agent, s, action, reward, done);
    }
}

void tiled(int agents, int steps, uint64_t seed, const void *const *in, void *const *out) {
    (void)seed;
#pragma omp parallel for schedule(dynamic, 1)
    for (int first = 0; first < agents; first += LANES) {
        lanes_f w1[SEEN * HIDDEN], b1[HIDDEN], w2[HIDDEN * ACTIONS], b2[ACTIONS], s[SEEN], hidden[HIDDEN], reward;
        lanes_i action, done;
        load_tile(w1, in[0], SEEN * HIDDEN, agents, first);
        load_tile(b1, in[1], HIDDEN, agents, first);
        load_tile(w2, in[2], HIDDEN * ACTIONS, agents, first);
        load_tile(b2, in[3], ACTIONS, agents, first);
        load_tile(s, in[4], SEEN, agents, first);
        for (int l = 0; l < LANES; l++) reward[l] = 0.0f, action[l] = done[l] = 0;
        for (int step = 0, running = 1; step < steps && running; step++) {
            for (int i = 0; i < HIDDEN; i++) {
                SIMD for (int l = 0; l < LANES; l++) {
                    float sum = b1[i][l];
                    UNROLL for (int j = 0; j < SEEN; j++) sum += s[j][l] * w1[j * HIDDEN + i][l];
                    hidden[i][l] = tanhf(sum);
                }
            }
            running = 0;
#pragma omp simd reduction(| : running)
            for (int l = 0; l < LANES; l++) {
                float left = b2[0][l], right = b2[1][l];
                UNROLL for (int j = 0; j < HIDDEN; j++) {
                    left += hidden[j][l] * w2[j * ACTIONS][l];
                    right += hidden[j][l] * w2[j * ACTIONS + 1][l];
                }
                int choice = right > left, over = done[l];
                float x = s[0][l], v = s[1][l], theta = s[2][l], omega = s[3][l];
                advance(&x, &v, &theta, &omega, sinf(theta), cos_in_lanes(theta), choice ? FORCE : -FORCE);
                s[0][l] = over ? s[0][l] : x;
                s[1][l] = over ? s[1][l] : v;
                s[2][l] = over ? s[2][l] : theta;
                s[3][l] = over ? s[3][l] : omega;
                action[l] = over ? action[l] : choice;
                reward[l] += over ? 0.0f : 1.0f;
                int fell = (fabsf(x) > X_LIMIT) | (fabsf(theta) > THETA_LIMIT);
                done[l] = over | fell;
                running |= !done[l];
            }
        }
        for (int l = 0; l < lanes_used(agents, first); l++) {
            float state[SEEN] = {s[0][l], s[1][l], s[2][l], s[3][l]};
            write_outputs(out, first + l, state, action[l], reward[l], done[l]);
        }
    }
}
