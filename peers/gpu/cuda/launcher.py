"""The hand-written kernels through the CUDA driver: nothing is needed but Python, libcuda and the cubins.

Inputs are made on the device. A variant is a kernel with its number of threads per agent and per block; `Program`
has all of a workload's: `verify` gives a mean score, `timer` measures in milliseconds of GPU time.
"""

import ctypes
from array import array
from ctypes import byref, c_char_p, c_float, c_int, c_size_t, c_uint, c_uint32, c_ulonglong, c_void_p
from dataclasses import dataclass
from math import fsum
from pathlib import Path

CAPABILITY_MAJOR, CAPABILITY_MINOR = 75, 76
PARAM, INIT, RASTRIGIN = 0x11110000, 0x22220000, 0x55550000


class CudaError(Exception):
    """The driver refused a call."""


class Device:
    """One GPU and the modules loaded on it."""

    def __init__(self, cubins, driver="libcuda.so.1", number=0):
        try:
            self.library = ctypes.CDLL(driver)
        except OSError as error:
            raise CudaError(f"no CUDA driver: {error}") from error
        self.cubins, self.modules, self.owned = Path(cubins), {}, []
        self.call("cuInit", c_uint(0))
        device, context = c_int(), c_void_p()
        self.call("cuDeviceGet", byref(device), c_int(number))
        self.call("cuDevicePrimaryCtxRetain", byref(context), device)
        self.call("cuCtxSetCurrent", context)
        name = ctypes.create_string_buffer(128)
        self.call("cuDeviceGetName", name, c_int(128), device)
        self.name = name.value.decode()
        self.stream = c_void_p()
        self.call("cuStreamCreate", byref(self.stream), c_uint(1))

    def call(self, name, *arguments):
        status = getattr(self.library, name)(*arguments)
        if status:
            text = c_char_p()
            self.library.cuGetErrorString(c_int(status), byref(text))
            raise CudaError(f"{name}: {(text.value or b'unknown error').decode()} ({status})")

    def function(self, module, name):
        if module not in self.modules:
            path, handle = self.cubins / f"{module}.cubin", c_void_p()
            self.call("cuModuleLoad", byref(handle), c_char_p(str(path).encode()))
            self.modules[module] = handle
        function = c_void_p()
        self.call("cuModuleGetFunction", byref(function), self.modules[module], c_char_p(name.encode()))
        return function

    def memory(self, words):
        address = c_ulonglong()
        self.call("cuMemAlloc_v2", byref(address), c_size_t(4 * words))
        self.owned.append(address)
        return address

    def free_all(self):
        """Frees all memory that was allocated."""
        for memory in self.owned:
            self.call("cuMemFree_v2", memory)
        self.owned.clear()

    def launch(self, function, blocks, threads, arguments):
        pointers = (c_void_p * len(arguments))(*[ctypes.cast(byref(argument), c_void_p) for argument in arguments])
        sizes = [c_uint(n) for n in (blocks, 1, 1, threads, 1, 1, 0)]
        self.call("cuLaunchKernel", function, *sizes, self.stream, pointers, None)

    def synchronise(self):
        self.call("cuCtxSynchronize")

    def event(self):
        event = c_void_p()
        self.call("cuEventCreate", byref(event), c_uint(0))
        return event

    def graph(self, launches, times):
        """An executable graph of so many runs, one after the other, each of these launches."""
        graph, executable = c_void_p(), c_void_p()
        self.call("cuStreamBeginCapture_v2", self.stream, c_int(1))
        for _ in range(times):
            for launch in launches:
                self.launch(*launch)
        self.call("cuStreamEndCapture", self.stream, byref(graph))
        self.call("cuGraphInstantiateWithFlags", byref(executable), graph, c_ulonglong(0))
        self.call("cuGraphDestroy", graph)
        return executable

    def timer(self, launches, times):
        """A function that gives the milliseconds of one run, as the mean of so many in one graph."""
        executable = self.graph(launches, times)
        start, end, elapsed = self.event(), self.event(), c_float()

        def time():
            self.call("cuEventRecord", start, self.stream)
            self.call("cuGraphLaunch", executable, self.stream)
            self.call("cuEventRecord", end, self.stream)
            self.call("cuEventSynchronize", end)
            self.call("cuEventElapsedTime", byref(elapsed), start, end)
            return elapsed.value / times

        time()
        return time

    def read(self, kind, memory, count):
        """So many values of a `ctypes` kind of four bytes, as an array."""
        values = (kind * count)()
        self.call("cuMemcpyDtoH_v2", values, memory, c_size_t(4 * count))
        return array("f" if kind is c_float else "i", bytes(values))

    def upload(self, values):
        """Memory that holds these values of 32 bits."""
        memory = self.memory(len(values))
        source = (c_uint32 * len(values)).from_buffer_copy(values)
        self.call("cuMemcpyHtoD_v2", memory, source, c_size_t(4 * len(values)))
        return memory

    def poison(self, memory, words):
        """Fills memory with NaNs, so that what a kernel does not write shows."""
        self.call("cuMemsetD32_v2", memory, c_uint(0xFFFFFFFF), c_size_t(words))


# Kernel and threads per agent; 0 is a block of 128 per agent.
KERNELS = {
    "portfolio": {f"portfolio_{n}": n for n in (1, 2, 4, 8)},
    "acrobot": {f"acrobot_{n}": n for n in (1, 2, 4, 8)} | {f"acrobot_chip_tanh_{n}": n for n in (1, 2, 4)},
    "mountain_car": {f"mountain_car_{n}": n for n in (1, 2, 4)} | {f"mountain_car_chip_tanh_{n}": n for n in (1, 2)},
    "pi": {f"pi_{n}": n for n in (1, 8, 32)},
    "gbm": {"gbm_1": 1},
    "lorenz": {"lorenz_1": 1},
    "rastrigin": {"rastrigin_warp": 32, "rastrigin_block": 0},
}
BLOCKS = (32, 64, 128)


@dataclass(frozen=True)
class Variant:
    """A kernel, its threads per agent, and its threads per block."""

    kernel: str
    lanes: int
    threads: int

    def blocks(self, agents):
        return agents if self.lanes == 0 else -(-agents * self.lanes // self.threads)


class Program:
    """A workload on a device: its inputs there, and its launches."""

    def __init__(self, device, model, agents, steps):
        self.device, self.model, self.agents, self.steps = device, model, agents, steps
        self.score = device.memory(agents)
        self.inputs, self.before = [], []
        getattr(self, f"make_{model}", lambda: None)()
        device.synchronise()

    def variants(self):
        kernels = KERNELS[self.model].items()
        return [Variant(name, n, threads) for name, n in kernels for threads in (BLOCKS if n else (128,))]

    def fill(self, kernel, width, key, scale):
        memory = self.device.memory(self.agents * width)
        arguments = [memory, c_int(self.agents), c_int(width), c_uint32(key), c_float(scale)]
        self.device.launch(self.device.function("inputs", kernel), 1024 if self.agents > 4096 else 8, 128, arguments)
        return memory

    def make_portfolio(self):
        rows, device = self.steps, self.device
        signals, apex, packed = device.memory(36 * rows), device.memory(rows), device.memory(36 * rows)
        device.launch(device.function("inputs", "fill_market"), -(-36 * rows // 128), 128, [signals, apex, c_int(rows)])
        # The pre-pass over the tables belongs to the run and is timed with it.
        function = device.function("portfolio", "portfolio_rows")
        self.before = [(function, -(-rows // 32), 32, [signals, apex, packed, c_int(rows)])]
        self.inputs = [self.fill("fill_columns", 246, PARAM, 1.5), packed]

    def make_acrobot(self):
        self.inputs = [self.fill("fill_columns", 163, PARAM, 1.0), self.fill("fill_columns", 4, INIT, 0.1)]

    def make_mountain_car(self):
        self.inputs = [self.fill("fill_columns", 51, PARAM, 2.0), self.fill("fill_columns", 1, INIT, 0.1)]

    def make_rastrigin(self):
        self.inputs = [self.fill("fill_rows", 2000, RASTRIGIN, 5.12)]

    def launches(self, variant):
        function = self.device.function(self.model, variant.kernel)
        steps = [] if self.model == "rastrigin" else [c_int(self.steps)]
        arguments = [*self.inputs, self.score, c_int(self.agents), *steps]
        return [*self.before, (function, variant.blocks(self.agents), variant.threads, arguments)]

    def verify(self, variant):
        """The mean score of one run into memory that held NaNs."""
        device = self.device
        device.poison(self.score, self.agents)
        device.synchronise()
        for launch in self.launches(variant):
            device.launch(*launch)
        device.synchronise()
        return self.mean()

    def timer(self, variant, times):
        """A function that gives the milliseconds of one run, as the mean of so many in one graph."""
        return self.device.timer(self.launches(variant), times)

    def mean(self):
        return fsum(self.device.read(c_float, self.score, self.agents)) / self.agents
