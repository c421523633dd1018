// The inputs, made where they are needed.
#include "peer.cuh"

// Value k of agent a at k * agents + a.
KERNEL fill_columns(float *out, int agents, int width, u32 key, float scale) {
    size_t count = (size_t)agents * width;
    for (size_t n = thread_number(); n < count; n += (size_t)gridDim.x * blockDim.x) {
        u32 k = n / agents, a = n % agents;
        out[n] = symmetric(key, a * width + k, scale);
    }
}

// Value k of agent a at a * width + k.
KERNEL fill_rows(float *out, int agents, int width, u32 key, float scale) {
    size_t count = (size_t)agents * width;
    for (size_t n = thread_number(); n < count; n += (size_t)gridDim.x * blockDim.x) out[n] = symmetric(key, n, scale);
}

// The portfolio's tables: 36 columns a row, and the number of an asset.
KERNEL fill_market(float *signals, int *apex, int rows) {
    u32 n = thread_number();
    if (n >= 36u * rows) return;
    int k = n % 36;
    float u = unit(0x33330000u, n), s = 2.0f * u - 1.0f;
    signals[n] = k < 3 ? s * 0.5f : k == 3 ? 0.0f : k < 20 ? 0.6f * u - 0.1f : s * 0.017f + 0.0003f;
    if (k == 0) apex[n / 36] = hash32(n / 36 + 0x44440000u) & 15;
}
