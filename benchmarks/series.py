#!/usr/bin/env python3
"""What sampling costs: models of this folder alone, with a mean observed in every step, and with a record.

    python benchmarks/series.py --simc target/release/simc [--agents 1_048_576] [--rounds 3] [--backend gpu]

Appends the lines below to each model, times all variants in turns with `simc bench --json`, and prints medians
and ratios to the model alone. `bench` verifies each variant against the reference interpreter first.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
# By model: the state that is sampled.
MODELS = {"gbm": "price", "gbm_random": "price", "lorenz": "x"}


def variants(state):
    return {
        "alone": "",
        "observed": f"observe mean_of_{state} = mean({state})\n",
        "recorded": f"record recorded_{state} = {state} every 21\n",
    }


def measured(simc, path, args):
    """The median time of a run in milliseconds: on the device, and with its transfers."""
    command = [simc, "bench", str(path), "--json", "--agents", args.agents, "--backend", args.backend]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: {done.stderr}{done.stdout}")
    [row] = json.loads(done.stdout)["results"]
    return [row[key]["median"] if row[key] else None for key in ("gpu_ms", "total_ms")]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--simc", default="target/release/simc")
    parser.add_argument("--agents", default="1048576")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--backend", default="gpu")
    args = parser.parse_args()
    print(f"{'model':12} {'variant':10} {'GPU ms':>9} {'ratio':>6} {'whole ms':>9} {'ratio':>6}")
    with tempfile.TemporaryDirectory() as folder:
        for model, state in MODELS.items():
            source = (HERE / f"{model}.sim").read_text()
            times = {}
            for _ in range(args.rounds):
                for name, line in variants(state).items():
                    path = pathlib.Path(folder) / f"{model}_{name}.sim"
                    path.write_text(source + "\n" + line)
                    times.setdefault(name, []).append(measured(args.simc, path, args))
            medians = {
                name: [statistics.median(column) if None not in column else None for column in zip(*rows)]
                for name, rows in times.items()
            }
            for name, row in medians.items():
                cells = []
                for value, alone in zip(row, medians["alone"]):
                    cells += ["-", "-"] if value is None else [f"{value:.3f}", f"{value / alone:.2f}"]
                print(f"{model:12} {name:10} {cells[0]:>9} {cells[1]:>6} {cells[2]:>9} {cells[3]:>6}", flush=True)


main()
