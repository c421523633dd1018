"""The systems that are compared, and a handle on one of their worker processes."""

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
WORKER = ROOT / "target/release/examples/bench_worker"


@dataclass(frozen=True)
class System:
    """What is run, and the choices of which the fastest is kept."""

    name: str
    kind: str
    candidates: tuple = ({},)
    # Of no use with more than one core.
    one_core: bool = False


def available():
    """All systems that this machine has."""
    unrolls = (1, 4, 8)
    systems = [
        System("simc", "simc"),
        System("jax-vmap", "jax", tuple({"variant": "vmap", "unroll": n} for n in unrolls)),
        System("jax-arrays", "jax", tuple({"variant": "arrays", "unroll": n} for n in unrolls)),
        System("numpy", "numpy", one_core=True),
    ]
    for compiler in ("gcc", "clang"):
        if shutil.which(compiler):
            tiled = tuple({"variant": "tiled", "compiler": compiler, "lanes": n} for n in (8, 16, 32))
            systems.append(System(f"{compiler}-plain", "c", ({"variant": "plain", "compiler": compiler},)))
            systems.append(System(f"{compiler}-tiled", "c", tiled))
    return {system.name: system for system in systems}


class Worker:
    """A process that has compiled one workload and runs it on command."""

    def __init__(self, system, choice, workload, inputs, agents, steps, seed, cores, libraries, backend):
        if system.kind == "simc":
            model = ROOT / f"lang-examples/{workload.model}.sim"
            command = [WORKER, model, inputs, "--backend", backend]
        else:
            settings = dict(choice) | ({"folder": libraries} if system.kind == "c" else {})
            command = [sys.executable, HERE / "worker.py", system.kind, workload.model, inputs, "--steps", steps]
            for key, value in settings.items():
                command += ["--set", f"{key}={value}"]
        command += ["--agents", agents, "--seed", seed]
        self.process = subprocess.Popen(
            [str(word) for word in command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | environment(len(cores)),
            preexec_fn=lambda: os.sched_setaffinity(0, cores),
        )
        self.name, self.choice = system.name, choice
        self.compile_seconds = self.answer("ready")

    def answer(self, word):
        line = self.process.stdout.readline().split()
        if not line or line[0] != word:
            self.process.kill()
            raise RuntimeError(f"the worker of {' '.join(self.process.args)} broke off")
        return float(line[1]) if len(line) > 1 else None

    def tell(self, line, word):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        return self.answer(word)

    def run(self, steps):
        """Wall and processor seconds of one run."""
        before = self.processor_seconds()
        wall = self.tell(f"run {steps}", "seconds")
        return wall, self.processor_seconds() - before

    def save(self, folder):
        self.tell(f"save {folder}", "saved")

    def processor_seconds(self):
        """Of all threads, to the nanosecond."""
        tasks = Path(f"/proc/{self.process.pid}/task").glob("*/schedstat")
        return sum(int(task.read_text().split()[0]) for task in tasks) * 1e-9

    def close(self):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


def environment(cores):
    """Every system gets `cores` threads."""
    xla = f"--xla_cpu_multi_thread_eigen={'true' if cores > 1 else 'false'} intra_op_parallelism_threads={cores}"
    threads = ("OMP_NUM_THREADS", "RAYON_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    quiet = {"OMP_WAIT_POLICY": "passive", "JAX_PLATFORMS": "cpu"}
    return {name: str(cores) for name in threads} | {"XLA_FLAGS": xla} | quiet
