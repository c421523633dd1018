"""The hand-written CUDA kernels as a peer of the others; see `cuda/`."""

import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "cuda"))
CUBINS = HERE.parents[1] / "target/peers/cubin"

from launcher import CudaError, Device, Program  # noqa: E402

DEVICE = None


def missing(device, workload):
    global DEVICE
    if not list(CUBINS.glob("*.cubin")):
        return f"not installed: no kernels in {CUBINS}; peers/gpu/build.sh makes them"
    try:
        # Without a GPU the host's stand-in for the driver computes, slowly.
        DEVICE = Device(CUBINS, *([] if device == "gpu" else [str(CUBINS / "libhost.so")]))
    except CudaError as error:
        return f"not installed: {error}"
    return None


def candidates(workload, variant):
    program = Program(DEVICE, workload.model, workload.agents, workload.steps)
    return [{"variant": each, "program": program} for each in program.variants()]


class Peer:
    """One variant of a kernel."""

    def __init__(self, workload, variant, program):
        self.program, self.variant = program, variant
        started = time.perf_counter()
        program.verify(variant)
        self.compile_seconds = time.perf_counter() - started
        self.executables = {}

    def scores(self):
        return [self.program.verify(self.variant)]

    def wall(self, times):
        """Seconds of so many runs, recorded as one graph, by the device's clock."""
        if times not in self.executables:
            self.executables[times] = self.program.timer(self.variant, times)
        return self.executables[times]() * times * 1e-3
