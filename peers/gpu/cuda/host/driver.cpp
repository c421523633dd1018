// The part of libcuda's interface that `launcher.py` uses, with the kernels compiled for the host in place of a GPU.
//
// With it the launcher and all kernels, those with several lanes too, can be checked on any Linux machine:
// `run.py --driver libhost.so`. Its times mean nothing.
#include "shim.h"
#include <chrono>
#include <cstdlib>
#include <map>
#include <string>
#include <utility>

#include "../generator.cuh"
#include "../peer.cuh"
#include "../random.cuh"
namespace inputs_cu {
#include "../inputs.cu"
}
namespace portfolio_cu {
#include "../portfolio.cu"
}
namespace acrobot_cu {
#include "../acrobot.cu"
}
namespace mountain_car_cu {
#include "../mountain_car.cu"
}
namespace pi_cu {
#include "../pi.cu"
}
namespace gbm_cu {
#include "../gbm.cu"
}
namespace lorenz_cu {
#include "../lorenz.cu"
}
namespace rastrigin_cu {
#include "../rastrigin.cu"
}
namespace nbody_cu {
#include "../nbody.cu"
}
namespace sir_cu {
#include "../sir.cu"
}
namespace layers_cu {
#include "../layers.cu"
}
namespace attention_cu {
#include "../attention.cu"
}
namespace policy_cu {
#include "../policy.cu"
}
namespace lstm_cu {
#include "../lstm.cu"
}
namespace shared_cu {
#include "../shared.cu"
}
namespace rod_cu {
#include "../rod.cu"
}

using Kernel = std::function<std::function<void()>(void **)>;
using Launch = std::function<void()>;

// Copies the arguments, as a launch does.
template <class... A, size_t... N> Launch with_arguments(void (*kernel)(A...), void **args, std::index_sequence<N...>) {
    return std::bind(kernel, *(A *)args[N]...);
}

template <class... A> Kernel kernel(void (*function)(A...)) {
    return [=](void **args) { return with_arguments(function, args, std::index_sequence_for<A...>()); };
}

static std::map<std::string, Kernel> kernels = {
#define ENTRY(SPACE, NAME) {#NAME, kernel(SPACE::NAME)},
    ENTRY(inputs_cu, fill_columns) ENTRY(inputs_cu, fill_rows) ENTRY(inputs_cu, fill_market)
    ENTRY(portfolio_cu, portfolio_rows) ENTRY(portfolio_cu, portfolio_1) ENTRY(portfolio_cu, portfolio_2)
    ENTRY(portfolio_cu, portfolio_4) ENTRY(portfolio_cu, portfolio_8)
    ENTRY(acrobot_cu, acrobot_1) ENTRY(acrobot_cu, acrobot_2) ENTRY(acrobot_cu, acrobot_4) ENTRY(acrobot_cu, acrobot_8)
    ENTRY(acrobot_cu, acrobot_chip_tanh_1) ENTRY(acrobot_cu, acrobot_chip_tanh_2) ENTRY(acrobot_cu, acrobot_chip_tanh_4)
    ENTRY(mountain_car_cu, mountain_car_1) ENTRY(mountain_car_cu, mountain_car_2) ENTRY(mountain_car_cu, mountain_car_4)
    ENTRY(mountain_car_cu, mountain_car_chip_tanh_1) ENTRY(mountain_car_cu, mountain_car_chip_tanh_2)
    ENTRY(pi_cu, pi_1) ENTRY(pi_cu, pi_8) ENTRY(pi_cu, pi_32) ENTRY(gbm_cu, gbm_1) ENTRY(lorenz_cu, lorenz_1)
    ENTRY(rastrigin_cu, rastrigin_warp) ENTRY(rastrigin_cu, rastrigin_block)
    ENTRY(nbody_cu, nbody_start) ENTRY(nbody_cu, nbody_step_1) ENTRY(nbody_cu, nbody_step_2)
    ENTRY(nbody_cu, nbody_step_4) ENTRY(nbody_cu, nbody_step_8) ENTRY(nbody_cu, nbody_step_16)
    ENTRY(nbody_cu, nbody_step_32) ENTRY(nbody_cu, nbody_fused_1) ENTRY(nbody_cu, nbody_fused_2)
    ENTRY(nbody_cu, nbody_fused_4)
    ENTRY(sir_cu, sir_1) ENTRY(sir_cu, sir_2) ENTRY(sir_cu, sir_4) ENTRY(sir_cu, sir_8) ENTRY(sir_cu, sir_barrier)
    ENTRY(sir_cu, sir_alone) ENTRY(layers_cu, layers_one) ENTRY(layers_cu, layers_last) ENTRY(layers_cu, layers_fused)
    ENTRY(attention_cu, attention) ENTRY(policy_cu, policy_8) ENTRY(policy_cu, policy_16) ENTRY(policy_cu, policy_32)
    ENTRY(lstm_cu, lstm) ENTRY(shared_cu, shared_1) ENTRY(shared_cu, shared_2)
    ENTRY(rod_cu, rod_8) ENTRY(rod_cu, rod_16) ENTRY(rod_cu, rod_32)
};

static bool capturing = false;
static std::vector<Launch> captured;
static double seconds() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

#define CALL extern "C" int
CALL cuInit(unsigned) { return 0; }
CALL cuDriverGetVersion(int *version) { return *version = 0, 0; }
CALL cuDeviceGet(int *device, int) { return *device = 0, 0; }
CALL cuDeviceGetName(char *name, int size, int) { return strncpy(name, "this host (a check, no GPU)", size), 0; }
CALL cuDeviceGetAttribute(int *value, int, int) { return *value = 1, 0; }
CALL cuDevicePrimaryCtxRetain(void **context, int) { return *context = &kernels, 0; }
CALL cuCtxSetCurrent(void *) { return 0; }
CALL cuCtxSynchronize() { return 0; }
CALL cuStreamCreate(void **stream, unsigned) { return *stream = &kernels, 0; }
CALL cuModuleLoad(void **module, const char *) { return *module = &kernels, 0; }
CALL cuModuleGetFunction(void **function, void *, const char *name) {
    auto found = kernels.find(name);
    if (found == kernels.end()) return 500;
    return *function = &found->second, 0;
}
CALL cuMemAlloc_v2(uint64_t *memory, size_t bytes) { return *memory = (uint64_t)aligned_alloc(64, (bytes + 63) / 64 * 64), 0; }
CALL cuMemFree_v2(uint64_t memory) { return free((void *)memory), 0; }
CALL cuMemsetD32_v2(uint64_t memory, uint32_t value, size_t count) {
    for (size_t n = 0; n < count; n++) ((uint32_t *)memory)[n] = value;
    return 0;
}
CALL cuMemcpyDtoH_v2(void *to, uint64_t from, size_t bytes) { return memcpy(to, (void *)from, bytes), 0; }
CALL cuMemcpyHtoD_v2(uint64_t to, void *from, size_t bytes) { return memcpy((void *)to, from, bytes), 0; }
CALL cuLaunchKernel(void *function, unsigned gx, unsigned, unsigned, unsigned bx, unsigned, unsigned, unsigned, void *, void **args, void **) {
    Launch body = (*(Kernel *)function)(args);
    Launch all = [=] { host::launch({gx, 1, 1}, {bx, 1, 1}, body); };
    if (capturing) captured.push_back(all);
    else all();
    return 0;
}
CALL cuStreamBeginCapture_v2(void *, int) { return capturing = true, captured.clear(), 0; }
CALL cuStreamEndCapture(void *, void **graph) { return capturing = false, *graph = new std::vector<Launch>(captured), 0; }
CALL cuGraphInstantiateWithFlags(void **executable, void *graph, unsigned long long) { return *executable = graph, 0; }
CALL cuGraphDestroy(void *) { return 0; }
CALL cuGraphExecDestroy(void *executable) { return delete (std::vector<Launch> *)executable, 0; }
CALL cuGraphLaunch(void *executable, void *) {
    for (Launch &launch : *(std::vector<Launch> *)executable) launch();
    return 0;
}
CALL cuEventCreate(void **event, unsigned) { return *event = new double(0.0), 0; }
CALL cuEventRecord(void *event, void *) { return *(double *)event = seconds(), 0; }
CALL cuEventSynchronize(void *) { return 0; }
CALL cuEventElapsedTime_v2(float *ms, void *from, void *to) { return *ms = 1e3 * (*(double *)to - *(double *)from), 0; }
CALL cuEventElapsedTime(float *ms, void *from, void *to) { return cuEventElapsedTime_v2(ms, from, to); }
CALL cuGetErrorString(int, const char **text) { return *text = "an error of the host's driver", 0; }
