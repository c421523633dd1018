"""A peer as a process that runs its model on command, so that start and compilation stay out of the times.

    worker.py SYSTEM MODEL FOLDER --agents N --steps N --seed N [--set KEY=VALUE]...

reads FOLDER/<name>.npy for every input and table, compiles the model for `steps` and writes `ready S` with the
seconds that this took. Then it obeys the lines `run STEPS` (answer: `seconds S`) and `save FOLDER` (the
outputs of the last run as NPY files; answer: `saved`).
"""

import argparse
import importlib
import sys
import time
from pathlib import Path

import numpy as np


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("system", choices=["c", "jax", "numpy"])
    parser.add_argument("model")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--agents", type=int, required=True)
    parser.add_argument("--steps", type=int, required=True)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--set", action="append", default=[])
    args = parser.parse_args()

    inputs = {path.stem: np.load(path) for path in sorted(args.folder.glob("*.npy"))}
    choices = dict(item.split("=", 1) for item in args.set)
    choices = {key: int(value) if value.isdigit() else value for key, value in choices.items()}
    peer = importlib.import_module(f"{args.system}_peer")

    started = time.perf_counter()
    run = peer.prepare(args.model, inputs, args.agents, args.seed, **choices)
    if args.system == "jax":
        run.compile(args.steps)
    print(f"ready {time.perf_counter() - started}", flush=True)
    outputs = None
    for line in sys.stdin:
        command, argument = line.split()
        if command == "run":
            started = time.perf_counter()
            outputs = run(int(argument))
            print(f"seconds {time.perf_counter() - started}", flush=True)
        elif command == "save":
            Path(argument).mkdir(parents=True, exist_ok=True)
            for name, values in outputs.items():
                np.save(Path(argument) / f"{name}.npy", np.asarray(values))
            print("saved", flush=True)
        else:
            sys.exit(f"unknown command {command}")


if __name__ == "__main__":
    main()
