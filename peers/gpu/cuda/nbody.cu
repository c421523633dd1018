// worlds/nbody.sim: 512 bodies a world that attract one another.
//
// A kernel per step, all in one graph, where a world is spread over many blocks; or one kernel for the whole run,
// with a block per world.
#include "random.cuh"

constexpr int BODIES = 512;
constexpr float DT = 0.001f, SOFT = 0.01f;

KERNEL nbody_start(float4 *start, int bodies, u32 seed, u32 seed_high) {
    int body = thread_number();
    if (body >= bodies) return;
    Key key = step_key(agent_key({seed, seed_high}, body), INPUT);
    start[body] = {random_normal(key, 0), random_normal(key, 2), random_normal(key, 4), 0.0f};
}

struct Vector {
    float x, y, z;
};

__device__ inline void attract(Vector &pull, float4 me, float4 other) {
    float x = other.x - me.x, y = other.y - me.y, z = other.z - me.z;
    float inverse = rsqrtf(x * x + y * y + z * z + SOFT);
    float cube = inverse * inverse * inverse;
    pull = {pull.x + x * cube, pull.y + y * cube, pull.z + z * cube};
}

__device__ inline void advance(float4 &position, float4 &velocity, Vector pull) {
    constexpr float KICK = DT / (float)BODIES;
    velocity = {velocity.x + pull.x * KICK, velocity.y + pull.y * KICK, velocity.z + pull.z * KICK, 0.0f};
    position = {position.x + velocity.x * DT, position.y + velocity.y * DT, position.z + velocity.z * DT, 0.0f};
}

// One step. L threads share a body, each with every L-th of the others; a block's bodies are of one world.
template <int L>
__device__ inline void step(const float4 *__restrict__ from, float4 *__restrict__ to, float4 *__restrict__ velocity,
                            int first_step) {
    __shared__ float4 tile[BODIES];
    int body = thread_number() / L, lane = threadIdx.x % L;
    const float4 *world = from + body / BODIES * BODIES;
    for (int k = threadIdx.x; k < BODIES; k += blockDim.x) tile[k] = world[k];
    __syncthreads();
    float4 me = tile[body % BODIES];
    Vector pull = {0.0f, 0.0f, 0.0f};
#pragma unroll 16
    for (int k = lane; k < BODIES; k += L) attract(pull, me, tile[k]);
    pull = {sum_of_lanes<L>(pull.x), sum_of_lanes<L>(pull.y), sum_of_lanes<L>(pull.z)};
    if (lane == 0) {
        float4 speed = first_step ? float4{0.0f, 0.0f, 0.0f, 0.0f} : velocity[body];
        advance(me, speed, pull);
        velocity[body] = speed;
        to[body] = me;
    }
}

#define STEP(L)                                                                                                        \
    KERNEL nbody_step_##L(const float4 *from, float4 *to, float4 *velocity, int first_step) {                          \
        step<L>(from, to, velocity, first_step);                                                                       \
    }
STEP(1) STEP(2) STEP(4) STEP(8) STEP(16) STEP(32)

// All steps of a world, B bodies a thread. Positions alternate between two buffers, so that a step has one barrier.
template <int B> __device__ inline void fused(const float4 *__restrict__ start, float4 *__restrict__ out, int steps) {
    constexpr int THREADS = BODIES / B;
    __shared__ float4 positions[2][BODIES];
    float4 me[B], velocity[B];
    size_t first = (size_t)blockIdx.x * BODIES + threadIdx.x;
#pragma unroll
    for (int b = 0; b < B; b++) me[b] = start[first + b * THREADS], velocity[b] = {0.0f, 0.0f, 0.0f, 0.0f};
    for (int t = 0; t < steps; t++) {
        float4 *now = positions[t & 1];
#pragma unroll
        for (int b = 0; b < B; b++) now[threadIdx.x + b * THREADS] = me[b];
        __syncthreads();
        Vector pull[B] = {};
#pragma unroll 8
        for (int k = 0; k < BODIES; k++) {
            float4 other = now[k];
#pragma unroll
            for (int b = 0; b < B; b++) attract(pull[b], me[b], other);
        }
#pragma unroll
        for (int b = 0; b < B; b++) advance(me[b], velocity[b], pull[b]);
    }
#pragma unroll
    for (int b = 0; b < B; b++) out[first + b * THREADS] = me[b];
}

#define FUSED(B)                                                                                                       \
    extern "C" __global__ void __launch_bounds__(BODIES / B)                                                           \
        nbody_fused_##B(const float4 *start, float4 *out, int steps) {                                                 \
        fused<B>(start, out, steps);                                                                                   \
    }
FUSED(1) FUSED(2) FUSED(4)
