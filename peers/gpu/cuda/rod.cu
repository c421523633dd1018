// large/rod.sim: 8, 16 or 32 lanes per agent, each with neighbouring cells in registers; ends of parts are shuffled.
#include "peer.cuh"

constexpr int CELLS = 512;

template <int L>
__device__ inline void rod(float *__restrict__ out, const float *__restrict__ numbers, int agents, int steps) {
    constexpr int EACH = CELLS / L;
    Place<L> place(agents);
    float conductivity = 0.25f + 0.2f * numbers[place.agent], u[EACH];
#pragma unroll
    for (int i = 0; i < EACH; i++) u[i] = 0.0f;
    for (int t = 0; t < steps; t++) {
        float left = __shfl_up_sync(0xffffffffu, u[EACH - 1], 1, L);
        float right = __shfl_down_sync(0xffffffffu, u[0], 1, L);
        if (place.lane == 0) left = 1.0f;
        if (place.lane == L - 1) right = 0.0f;
#pragma unroll
        for (int i = 0; i < EACH; i++) {
            float cell = u[i], next = i == EACH - 1 ? right : u[i + 1];
            u[i] = cell + conductivity * (left - 2.0f * cell + next);
            left = cell;
        }
    }
    float heat = 0.0f;
#pragma unroll
    for (int i = 0; i < EACH; i++) heat += u[i];
    heat = sum_of_lanes<L>(heat);
    if (place.writes) out[place.agent] = heat;
}

KERNEL rod_8(float *out, const float *numbers, int agents, int steps) { rod<8>(out, numbers, agents, steps); }
KERNEL rod_16(float *out, const float *numbers, int agents, int steps) { rod<16>(out, numbers, agents, steps); }
KERNEL rod_32(float *out, const float *numbers, int agents, int steps) { rod<32>(out, numbers, agents, steps); }
