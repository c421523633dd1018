// worlds/sir.sim: an epidemic in worlds of 1,000, whose agents all need the share of infected in every step; and
// worlds/sir_alone.sim: the same agents without it.
#include "random.cuh"

constexpr int MEMBERS = 1000;
constexpr float BETA = 0.3f, GAMMA = 0.1f, FIRST = 0.01f;

// In a slot without an agent there is NOBODY.
enum Health { SUSCEPTIBLE, INFECTED, RECOVERED, NOBODY };

__device__ inline Health first_health(Key stream) {
    return random_unit(step_key(stream, INIT), 0) < FIRST ? INFECTED : SUSCEPTIBLE;
}

__device__ inline Chance infection(float share) { return Chance(1.0f - expf(-BETA * share)); }

__device__ inline Health next_health(Health health, Key stream, int t, Chance infected, Chance recovered) {
    if (health >= RECOVERED) return health;
    Chance chance = health == SUSCEPTIBLE ? infected : recovered;
    return random_bernoulli(step_key(stream, t), 0, chance) ? Health(health + 1) : health;
}

// The sum of a block of W warps: within each by shuffles, then each thread adds up the warps' sums. `parts`
// alternates between two arrays, so that one barrier is enough.
template <int W> __device__ inline int sum_of_block(int value, int *parts) {
    value = sum_of_lanes<32>(value);
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = value;
    __syncthreads();
    int total = 0;
#pragma unroll
    for (int w = 0; w < W; w++) total += parts[w];
    return total;
}

// A block per world, with A agents a thread. BARRIER counts by the block's counting barrier instead of shuffles.
template <int A, bool BARRIER> __device__ inline void sir(int *__restrict__ out, int steps, Key seed) {
    constexpr int THREADS = 1024 / A, WARPS = THREADS / 32;
    __shared__ __align__(16) int parts[2][WARPS];
    Health health[A];
    Key stream[A];
    int first = blockIdx.x * MEMBERS;
#pragma unroll
    for (int a = 0; a < A; a++) {
        int member = threadIdx.x + a * THREADS;
        stream[a] = agent_key(seed, first + member);
        health[a] = member < MEMBERS ? first_health(stream[a]) : NOBODY;
    }
    Chance recovered(GAMMA);
    for (int t = 0; t < steps; t++) {
        int count = 0;
#pragma unroll
        for (int a = 0; a < A; a++) count += health[a] == INFECTED;
        count = BARRIER ? __syncthreads_count(count) : sum_of_block<WARPS>(count, parts[t & 1]);
        Chance infected = infection((float)count / (float)MEMBERS);
#pragma unroll
        for (int a = 0; a < A; a++) health[a] = next_health(health[a], stream[a], t, infected, recovered);
    }
#pragma unroll
    for (int a = 0; a < A; a++) {
        int member = threadIdx.x + a * THREADS;
        if (member < MEMBERS) out[first + member] = health[a] == RECOVERED;
    }
}

#define WORLD(NAME, A, BARRIER)                                                                                        \
    extern "C" __global__ void __launch_bounds__(1024 / A) NAME(int *out, int steps, u32 seed, u32 seed_high) {        \
        sir<A, BARRIER>(out, steps, {seed, seed_high});                                                                \
    }
WORLD(sir_1, 1, false) WORLD(sir_2, 2, false) WORLD(sir_4, 4, false) WORLD(sir_8, 8, false)
WORLD(sir_barrier, 1, true)

KERNEL sir_alone(int *__restrict__ out, int agents, int steps, u32 seed, u32 seed_high) {
    int agent = min((int)thread_number(), agents - 1);
    Key stream = agent_key({seed, seed_high}, agent);
    Health health = first_health(stream);
    Chance recovered(GAMMA);
    float share = FIRST;
    for (int t = 0; t < steps; t++) {
        health = next_health(health, stream, t, infection(share), recovered);
        share *= 0.999f;
    }
    out[agent] = health == RECOVERED;
}
