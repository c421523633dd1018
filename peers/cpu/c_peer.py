"""The C peers: shared libraries called through ctypes."""

import ctypes
import os
import subprocess
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).parent / "c"
FLAGS = "-std=gnu11 -O3 -march=native -ffast-math -fopenmp -shared -fPIC".split()

# Inputs and tables in the order of the model, and the outputs with their types.
EPISODE = ["w1", "b1", "w2", "b2", "start"]
ENDING = ["action:i4", "reward:f4", "done:i4"]
INTERFACE = {
    "gbm": ([], ["call:f4", "put:f4", "price:f4"]),
    "lorenz": (["rho"], ["x:f4", "y:f4", "z:f4"]),
    "acrobot": (EPISODE, ["theta1:f4", "theta2:f4", "omega1:f4", "omega2:f4", *ENDING]),
    "cartpole": (EPISODE, ["x:f4", "v:f4", "theta:f4", "omega:f4", *ENDING]),
    "portfolio": (["w1", "b1", "w2", "b2", "signals", "apex"], ["score:f4", "value:f4", "worst_drawdown:f4"]),
}


def build(model, compiler, lanes, folder):
    """Compiles a model unless it is there already; the path of the library."""
    library = Path(folder) / f"{model}-{Path(compiler).name}-{lanes}.so"
    newest = max(path.stat().st_mtime for path in (FOLDER / f"{model}.c", FOLDER / "peer.h", Path(__file__)))
    if library.exists() and library.stat().st_mtime > newest:
        return library
    command = [compiler, *FLAGS, f"-DLANES={lanes}"]
    if "avx512f" in Path("/proc/cpuinfo").read_text():
        command.append("-mprefer-vector-width=512")
    if "clang" in compiler:
        command.append("-fveclib=libmvec")
    part = f"{library}.{os.getpid()}"
    subprocess.run([*command, "-o", part, FOLDER / f"{model}.c", "-lmvec", "-lm"], check=True)
    os.replace(part, library)
    return library


def prepare(model, inputs, agents, seed, variant, compiler="gcc", lanes=16, folder="."):
    """A function of the number of steps that runs the model; `variant` is `plain` or `tiled`."""
    function = ctypes.CDLL(str(build(model, compiler, lanes, folder)))[variant]
    function.restype = None
    given, made = INTERFACE[model]
    arrays = [np.ascontiguousarray(inputs[name]) for name in given]
    outputs = {}
    for name in made:
        name, kind = name.split(":")
        outputs[name] = np.zeros(agents, kind)
    pointers = lambda arrays: (ctypes.c_void_p * max(len(arrays), 1))(*[array.ctypes.data for array in arrays])
    into, out = pointers(arrays), pointers(list(outputs.values()))

    def run(steps):
        _ = arrays  # kept alive: the library holds only their addresses
        function(ctypes.c_int(agents), ctypes.c_int(steps), ctypes.c_uint64(seed), into, out)
        return outputs

    return run
