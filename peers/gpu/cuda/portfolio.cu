// portfolio.sim: a portfolio of 16 assets run by a recurrent network 8 -> 16 -> 6.
#include "peer.cuh"

constexpr int ASSETS = 16;

// What a step needs of the tables, in the order in which it is read: three signals and the apex asset, the assets'
// scores scaled to a sum of 1, their returns. None of it depends on the agent.
KERNEL portfolio_rows(const float *__restrict__ signals, const int *__restrict__ apex, float4 *out, int rows) {
    int h = thread_number();
    if (h >= rows) return;
    const float *row = signals + 36 * h;
    float *to = (float *)(out + 9 * h);
    for (int k = 0; k < 3; k++) to[k] = row[k];
    to[3] = __int_as_float(apex[h]);
    float total = 0.0f;
    for (int a = 0; a < ASSETS; a++) total += fmaxf(row[4 + a], 0.0f);
    float scale = total > 0.0f ? 1.0f / total : 1.0f;
    for (int a = 0; a < ASSETS; a++) {
        to[4 + a] = fmaxf(row[4 + a], 0.0f) * scale;
        to[20 + a] = row[20 + a];
    }
}

// A lane's share of 16 values.
template <int N> __device__ inline void load(float (&to)[N], const float *from) {
    if constexpr (N % 4 == 0) {
#pragma unroll
        for (int q = 0; q < N / 4; q++) {
            float4 v = ((const float4 *)from)[q];
            to[4 * q] = v.x, to[4 * q + 1] = v.y, to[4 * q + 2] = v.z, to[4 * q + 3] = v.w;
        }
    } else {
#pragma unroll
        for (int q = 0; q < N / 2; q++) {
            float2 v = ((const float2 *)from)[q];
            to[2 * q] = v.x, to[2 * q + 1] = v.y;
        }
    }
}

__device__ inline float gate(float a) { return 1.0f / (1.0f + expf(-a)); }

template <int L>
__device__ inline void portfolio(const float *__restrict__ weights, const float4 *__restrict__ rows, float *__restrict__ score,
                                 int agents, int steps) {
    constexpr int A = ASSETS / L;
    Place<L> place(agents);
    // Input 2 is the constant 0.
    Net<8, 16, 6, L, false, 2> net(weights, agents, place);
    int first = place.lane * A;
    float held[A] = {}, value = 1.0f, peak = 1.0f, drawdown = 0.0f, worst = 0.0f, memory0 = 0.0f, memory1 = 0.0f;
    bool ruined = false;
    for (int t = 0; t < steps; t++) {
        const float4 *row = rows + 9 * t;
        float4 head = row[0];
        float target[A], returns[A], out[6];
        load(target, (const float *)(row + 1) + first);
        load(returns, (const float *)(row + 5) + first);
        int apex = __float_as_int(head.w) - first;

        float gain = fminf(10.0f * fmaxf(value / peak - 1.0f, 0.0f), 1.0f);
        float x[8] = {head.x, fminf(5.0f * drawdown, 1.0f), 0.0f, gain, head.y, head.z, memory0, memory1};
        net.run(x, out);
        float leverage = 1.0f + 2.0f * gate(out[1]);
        float cap = (1.0f - 0.8f * gate(out[0])) * (0.2f + 0.8f * gate(out[3]));
        memory0 = gate(out[4]), memory1 = gate(out[5]);

        float total = 0.0f;
#pragma unroll
        for (int a = 0; a < A; a++) total += target[a] = fminf(target[a], cap);
        total = sum_of_lanes<L>(total);
        float scale = total > 0.0f ? 1.0f / total : 1.0f;
        float earned = 0.0f;
#pragma unroll
        for (int a = 0; a < A; a++) {
            float w = target[a] * scale, old = held[a];
            w = fabsf(w - old) < 0.05f ? old : w;
            float fee = (w < old ? 0.0002f : 0.0004f) + fmaxf(leverage * w - 5.0f, 0.0f) * 0.0005f;
            fee += a == apex && w > old ? 0.002f : 0.0f;
            earned += w * returns[a] - fabsf(w - old) * fee;
            held[a] = w;
        }
        earned = sum_of_lanes<L>(earned);

        value *= 1.0f + earned * leverage - 1e-5f;
        // What a ruined agent does after that does not change its score.
        ruined |= value <= 0.05f;
        peak = fmaxf(peak, value);
        drawdown = (peak - value) / peak;
        worst = fmaxf(worst, drawdown);
    }
    if (place.writes) score[place.agent] = ruined || worst > 0.85f ? -9999.0f : value;
}

#define VARIANT(L)                                                                                                   \
    KERNEL portfolio_##L(const float *weights, const float4 *rows, float *score, int agents, int steps) {             \
        portfolio<L>(weights, rows, score, agents, steps);                                                           \
    }
VARIANT(1)
VARIANT(2)
VARIANT(4)
VARIANT(8)
#undef VARIANT
