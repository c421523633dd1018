// What the kernels use of CUDA, for a host compiler: the threads of a block are coroutines that run in turns and
// meet at every shuffle and barrier. Slow and plain; it is there to check results where there is no GPU.
#pragma once
#include <cmath>
#include <csetjmp>
#include <cstdint>
#include <cstring>
#include <functional>
#include <ucontext.h>
#include <vector>

#define __global__
#define __device__
#define __host__
#define __shared__ static
#define __launch_bounds__(n)
#define __align__(n)

struct uint3 {
    uint32_t x, y, z;
};
struct float2 {
    float x, y;
};
struct float4 {
    float x, y, z, w;
};

inline uint3 threadIdx, blockIdx, blockDim, gridDim;

inline int min(int a, int b) { return a < b ? a : b; }

inline float rsqrtf(float x) { return 1.0f / sqrtf(x); }

inline int __float_as_int(float x) {
    int n;
    memcpy(&n, &x, sizeof n);
    return n;
}

inline float __int_as_float(int n) {
    float x;
    memcpy(&x, &n, sizeof x);
    return x;
}

namespace host {

// One block at a time: its threads stop at `meet` until all of them are there. Contexts start a thread; between
// threads jumps do, as they call no kernel.
struct Block {
    static constexpr size_t STACK = 1 << 16;
    struct Thread {
        ucontext_t start;
        jmp_buf at;
        bool started;
    };
    jmp_buf scheduler;
    std::vector<Thread> threads;
    std::vector<char> stacks;
    std::vector<uint64_t> slots;
    std::function<void()> body;
    unsigned current = 0, alive = 0;

    static Block &the() {
        static Block block;
        return block;
    }

    static void enter() {
        the().body();
        the().alive--;
        _longjmp(the().scheduler, 1);
    }

    void meet() {
        if (_setjmp(threads[current].at) == 0) _longjmp(scheduler, 1);
    }

    void resume(unsigned number) {
        current = number;
        threadIdx = {number, 0, 0};
        Thread &thread = threads[number];
        if (_setjmp(scheduler) != 0) return;
        if (thread.started) _longjmp(thread.at, 1);
        thread.started = true;
        getcontext(&thread.start);
        thread.start.uc_stack.ss_sp = &stacks[number * STACK];
        thread.start.uc_stack.ss_size = STACK;
        makecontext(&thread.start, enter, 0);
        setcontext(&thread.start);
    }

    void run(unsigned count) {
        threads.resize(count);
        stacks.resize(count * STACK);
        slots.resize(count);
        alive = count;
        for (Thread &thread : threads) thread.started = false;
        // All threads of our kernels meet equally often, so each round all or none of them end.
        while (alive > 0)
            for (unsigned number = 0; number < count; number++) resume(number);
    }
};

inline void launch(uint3 grid, uint3 block, std::function<void()> body) {
    Block::the().body = std::move(body);
    gridDim = grid, blockDim = block;
    for (unsigned n = 0; n < grid.x; n++) {
        blockIdx = {n, 0, 0};
        Block::the().run(block.x);
    }
}

} // namespace host

inline void __syncthreads() { host::Block::the().meet(); }

template <class T> T __shfl_xor_sync(uint32_t, T value, int mask) {
    host::Block &block = host::Block::the();
    memcpy(&block.slots[block.current], &value, sizeof value);
    block.meet();
    memcpy(&value, &block.slots[block.current ^ mask], sizeof value);
    block.meet();
    return value;
}

inline void __syncwarp() { __syncthreads(); }

// What a thread of the same `width` threads has.
template <class T> T host_shuffle(T value, int of) {
    host::Block &block = host::Block::the();
    memcpy(&block.slots[block.current], &value, sizeof value);
    block.meet();
    memcpy(&value, &block.slots[of], sizeof value);
    block.meet();
    return value;
}

template <class T> T __shfl_sync(uint32_t, T value, int lane, int width = 32) {
    return host_shuffle(value, host::Block::the().current / width * width + lane);
}

template <class T> T __shfl_up_sync(uint32_t, T value, int by, int width = 32) {
    int current = host::Block::the().current;
    return host_shuffle(value, current % width < by ? current : current - by);
}

template <class T> T __shfl_down_sync(uint32_t, T value, int by, int width = 32) {
    int current = host::Block::the().current;
    return host_shuffle(value, current % width + by >= width ? current : current + by);
}

inline int __syncthreads_count(int predicate) {
    host::Block &block = host::Block::the();
    block.slots[block.current] = predicate != 0;
    block.meet();
    int count = 0;
    for (uint64_t slot : block.slots) count += (int)slot;
    block.meet();
    return count;
}
