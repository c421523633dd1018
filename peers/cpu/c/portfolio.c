// portfolio.sim in C: 16 assets run by a recurrent network 8 -> 16 -> 6.
//
// Inputs: w1, b1, w2, b2, then the tables signals (rows of 36) and apex.
#include "peer.h"

enum { SEEN = 8, HIDDEN = 16, OUT = 6, ASSETS = 16, COLUMNS = 36 };

static const float DEAD_BAND = 0.05f, SELL_FEE = 0.0002f, BUY_FEE = 0.0004f, CROWDING = 0.0005f, APEX_FEE = 0.002f;
static const float HOLDING = 0.00001f, LIQUIDATION = 0.05f, RUIN = 0.85f;

static inline float clamp20(float x) { return fminf(fmaxf(x, -20.0f), 20.0f); }

static inline float squash(float a) {
    float e = expf(clamp20(2.0f * a));
    return (e - 1.0f) / (e + 1.0f);
}

static inline float gate(float a) { return 1.0f / (1.0f + expf(clamp20(-a))); }

static inline float gain(float value, float peak) { return fminf(10.0f * fmaxf(value / peak - 1.0f, 0.0f), 1.0f); }

// Cost of changing a weight from `held` to `w`, per unit of value.
static inline float fee(float held, float w, float leverage, float apex_fee) {
    float rate = w < held ? SELL_FEE : BUY_FEE;
    float crowding = fmaxf(leverage * w - 5.0f, 0.0f) * CROWDING;
    float surcharge = w > held ? apex_fee : 0.0f;
    return fabsf(w - held) * (rate + crowding + surcharge);
}

static inline void write_outputs(void *const *out, int agent, float value, float worst, int ruined) {
    ((float *)out[0])[agent] = ruined || worst > RUIN ? -9999.0f : value;
    ((float *)out[1])[agent] = value;
    ((float *)out[2])[agent] = worst;
}

static inline void normalise(float *w) {
    float total = 0.0f;
    for (int a = 0; a < ASSETS; a++) total += w[a];
    float scale = total > 0.0f ? 1.0f / total : 1.0f;
    for (int a = 0; a < ASSETS; a++) w[a] *= scale;
}

void plain(int agents, int steps, uint64_t seed, const void *const *in, void *const *out) {
    (void)seed;
    const float *signals = in[4];
    const int32_t *apex = in[5];
#pragma omp parallel for schedule(dynamic, 16)
    for (int agent = 0; agent < agents; agent++) {
        const float *w1 = (const float *)in[0] + (size_t)agent * SEEN * HIDDEN;
        const float *b1 = (const float *)in[1] + (size_t)agent * HIDDEN;
        const float *w2 = (const float *)in[2] + (size_t)agent * HIDDEN * OUT;
        const float *b2 = (const float *)in[3] + (size_t)agent * OUT;
        float value = 1.0f, peak = 1.0f, drawdown = 0.0f, worst = 0.0f, memory0 = 0.0f, memory1 = 0.0f;
        float held[ASSETS] = {0};
        int ruined = 0;
        for (int step = 0; step < steps; step++) {
            const float *row = signals + (size_t)step * COLUMNS;
            float x[SEEN] = {row[0], fminf(5.0f * drawdown, 1.0f), 0.0f, gain(value, peak), row[1], row[2], memory0, memory1};
            float hidden[HIDDEN], s[OUT], w[ASSETS];
            for (int i = 0; i < HIDDEN; i++) {
                float sum = b1[i];
                for (int j = 0; j < SEEN; j++) sum += x[j] * w1[j * HIDDEN + i];
                hidden[i] = squash(sum);
            }
            for (int i = 0; i < OUT; i++) {
                float sum = b2[i];
                for (int j = 0; j < HIDDEN; j++) sum += hidden[j] * w2[j * OUT + i];
                s[i] = gate(sum);
            }
            float leverage = 1.0f + 2.0f * s[1], cap = (1.0f - 0.8f * s[0]) * (0.2f + 0.8f * s[3]);
            memory0 = s[4];
            memory1 = s[5];
            for (int a = 0; a < ASSETS; a++) w[a] = fmaxf(row[4 + a], 0.0f);
            normalise(w);
            for (int a = 0; a < ASSETS; a++) w[a] = fminf(w[a], cap);
            normalise(w);
            float earned = 0.0f, cost = 0.0f;
            for (int a = 0; a < ASSETS; a++) {
                float now = fabsf(w[a] - held[a]) < DEAD_BAND ? held[a] : w[a];
                earned += now * row[20 + a];
                cost += fee(held[a], now, leverage, a == apex[step] ? APEX_FEE : 0.0f);
                held[a] = now;
            }
            value *= 1.0f + earned * leverage - cost * leverage - HOLDING;
            if (value <= LIQUIDATION) {
                ruined = 1;
                break;
            }
            peak = fmaxf(peak, value);
            drawdown = (peak - value) / peak;
            worst = fmaxf(worst, drawdown);
        }
        write_outputs(out, agent, value, worst, ruined);
    }
}

// The agents of a tile: weights and state.
typedef struct {
    lanes_f w1[SEEN * HIDDEN], b1[HIDDEN], w2[HIDDEN * OUT], b2[OUT];
    lanes_f value, peak, drawdown, worst, memory[2], held[ASSETS];
    lanes_i ruined;
} Tile;

// What the market says in one step, the same for all agents.
typedef struct {
    float scores[ASSETS], returns[ASSETS], apex_fee[ASSETS], seen[3];
} Market;

static void read_market(Market *market, const float *row, int32_t apex) {
    for (int a = 0; a < ASSETS; a++) {
        market->scores[a] = fmaxf(row[4 + a], 0.0f);
        market->returns[a] = row[20 + a];
        market->apex_fee[a] = a == apex ? APEX_FEE : 0.0f;
    }
    normalise(market->scores);
    for (int k = 0; k < 3; k++) market->seen[k] = row[k];
}

static inline void decide(Tile *t, const Market *m, lanes_f *s) {
    lanes_f hidden[HIDDEN], fall, rise;
    SIMD for (int l = 0; l < LANES; l++) {
        fall[l] = fminf(5.0f * t->drawdown[l], 1.0f);
        rise[l] = gain(t->value[l], t->peak[l]);
    }
    for (int i = 0; i < HIDDEN; i++) {
        SIMD for (int l = 0; l < LANES; l++) {
            float sum = t->b1[i][l] + m->seen[0] * t->w1[i][l] + fall[l] * t->w1[HIDDEN + i][l];
            sum += rise[l] * t->w1[3 * HIDDEN + i][l] + m->seen[1] * t->w1[4 * HIDDEN + i][l];
            sum += m->seen[2] * t->w1[5 * HIDDEN + i][l] + t->memory[0][l] * t->w1[6 * HIDDEN + i][l];
            hidden[i][l] = squash(sum + t->memory[1][l] * t->w1[7 * HIDDEN + i][l]);
        }
    }
    for (int i = 0; i < OUT; i++) {
        SIMD for (int l = 0; l < LANES; l++) {
            float sum = t->b2[i][l];
            UNROLL for (int j = 0; j < HIDDEN; j++) sum += hidden[j][l] * t->w2[j * OUT + i][l];
            s[i][l] = gate(sum);
        }
    }
}

// One step of a tile; says whether any agent goes on.
static inline int advance(Tile *t, const Market *m) {
    lanes_f s[OUT], scale, leverage, cap, earned, cost;
    decide(t, m, s);
    SIMD for (int l = 0; l < LANES; l++) {
        leverage[l] = 1.0f + 2.0f * s[1][l];
        cap[l] = (1.0f - 0.8f * s[0][l]) * (0.2f + 0.8f * s[3][l]);
        float total = 0.0f;
        UNROLL for (int a = 0; a < ASSETS; a++) total += fminf(m->scores[a], cap[l]);
        scale[l] = total > 0.0f ? 1.0f / total : 1.0f;
        earned[l] = cost[l] = 0.0f;
    }
    for (int a = 0; a < ASSETS; a++) {
        SIMD for (int l = 0; l < LANES; l++) {
            float held = t->held[a][l], target = fminf(m->scores[a], cap[l]) * scale[l];
            float now = fabsf(target - held) < DEAD_BAND ? held : target;
            earned[l] += now * m->returns[a];
            cost[l] += fee(held, now, leverage[l], m->apex_fee[a]);
            t->held[a][l] = now;
        }
    }
    int running = 0;
#pragma omp simd reduction(| : running)
    for (int l = 0; l < LANES; l++) {
        int over = t->ruined[l];
        float value = t->value[l] * (1.0f + earned[l] * leverage[l] - cost[l] * leverage[l] - HOLDING);
        value = over ? t->value[l] : value;
        over |= value <= LIQUIDATION;
        float peak = fmaxf(t->peak[l], value), drawdown = (peak - value) / peak;
        t->value[l] = value;
        t->peak[l] = peak;
        t->drawdown[l] = over ? t->drawdown[l] : drawdown;
        t->worst[l] = over ? t->worst[l] : fmaxf(t->worst[l], drawdown);
        t->memory[0][l] = s[4][l];
        t->memory[1][l] = s[5][l];
        t->ruined[l] = over;
        running |= !over;
    }
    return running;
}

void tiled(int agents, int steps, uint64_t seed, const void *const *in, void *const *out) {
    (void)seed;
    Market *market = malloc((size_t)steps * sizeof *market);
    for (int step = 0; step < steps; step++)
        read_market(&market[step], (const float *)in[4] + (size_t)step * COLUMNS, ((const int32_t *)in[5])[step]);
#pragma omp parallel for schedule(dynamic, 1)
    for (int first = 0; first < agents; first += LANES) {
        Tile tile = {0};
        load_tile(tile.w1, in[0], SEEN * HIDDEN, agents, first);
        load_tile(tile.b1, in[1], HIDDEN, agents, first);
        load_tile(tile.w2, in[2], HIDDEN * OUT, agents, first);
        load_tile(tile.b2, in[3], OUT, agents, first);
        for (int l = 0; l < LANES; l++) tile.value[l] = tile.peak[l] = 1.0f;
        for (int step = 0, running = 1; step < steps && running; step++) running = advance(&tile, &market[step]);
        for (int l = 0; l < lanes_used(agents, first); l++)
            write_outputs(out, first + l, tile.value[l], tile.worst[l], tile.ruined[l]);
    }
    free(market);
}
