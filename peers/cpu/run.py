"""Runs simc and its peers side by side on the CPU: checks that they agree, then times them in turns.

See ../README.md for what is compared and how the numbers are to be read.
"""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np

import report
from systems import ROOT, Worker, available
from workloads import SEED, WORKLOADS, Disagreement


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    names = lambda text: text.split(",")
    parser.add_argument("--quick", action="store_true", help="small sizes: to see that everything works")
    parser.add_argument("--workloads", type=names, default=list(WORKLOADS))
    parser.add_argument("--systems", type=names, default=list(available()))
    parser.add_argument("--modes", type=names, default=["one", "all"], help="one core, all cores")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--slow", type=float, default=5.0, help="seconds; longer runs take part in every third round")
    parser.add_argument("--core", type=int, default=max(os.sched_getaffinity(0)), help="the one core")
    parser.add_argument("--clock", choices=["wall", "processor"], default="wall", help="for one core; processor time is for machines that others use too")
    parser.add_argument("--backend", default="cpu", help="of simc")
    parser.add_argument("--retune", action="store_true", help="try the candidates again instead of reading them")
    parser.add_argument("--no-build", action="store_true", help="use the simc worker that is there")
    parser.add_argument("--out", type=Path, default=ROOT / "target/peers")
    args = parser.parse_args()
    for given, known in ((args.workloads, WORKLOADS), (args.systems, available()), (args.modes, ("one", "all"))):
        for name in given:
            if name not in known:
                parser.error(f"there is no `{name}`: choose from {', '.join(known)}")
    return args


class Bench:
    """One call of the script."""

    def __init__(self, args):
        self.args = args
        self.libraries = args.out / "lib"
        self.libraries.mkdir(parents=True, exist_ok=True)
        self.tuned_path = args.out / "tuned.json"
        self.tuned = {}
        if self.tuned_path.exists() and not args.retune:
            self.tuned = json.loads(self.tuned_path.read_text())
        self.systems = [system for name, system in available().items() if name in args.systems]
        self.rows, self.checks, self.disagreements = [], [], 0

    def worker(self, system, choice, name, cores):
        workload = WORKLOADS[name]
        agents, steps = workload.size(self.args.quick)
        return Worker(
            system, choice, workload, self.inputs(name), agents, steps, SEED, cores, self.libraries, self.args.backend
        )

    def folder(self, name):
        return self.args.out / ("quick" if self.args.quick else "full") / name

    def inputs(self, name):
        return self.folder(name) / "inputs"

    def write_inputs(self, name):
        agents, steps = WORKLOADS[name].size(self.args.quick)
        folder = self.inputs(name)
        folder.mkdir(parents=True, exist_ok=True)
        for key, values in WORKLOADS[name].inputs(agents, steps).items():
            np.save(folder / f"{key}.npy", np.ascontiguousarray(values))

    def choice(self, system, name):
        """The fastest candidate, by processor time on one core over a tenth of the steps."""
        if len(system.candidates) == 1:
            return system.candidates[0]
        key = f"{name} {system.name} {WORKLOADS[name].size(self.args.quick)}"
        if key not in self.tuned:
            steps = max(WORKLOADS[name].size(self.args.quick)[1] // 10, 10)
            times = {}
            for candidate in system.candidates:
                worker = self.worker(system, candidate, name, {self.args.core})
                worker.run(steps)
                times[json.dumps(candidate)] = min(worker.run(steps)[1] for _ in range(3))
                worker.close()
            self.tuned[key] = {"times": times, "best": json.loads(min(times, key=times.get))}
            self.tuned_path.write_text(json.dumps(self.tuned, indent=1))
        return self.tuned[key]["best"]

    def outputs(self, worker, name, steps):
        """The outputs of a run of `steps` steps."""
        folder = self.folder(name) / worker.name / str(steps)
        worker.run(steps)
        worker.save(folder)
        return {path.stem: np.load(path) for path in folder.glob("*.npy")}

    def agreeing(self, workers, name):
        """The workers whose results agree with the first one's, which is simc if it takes part."""
        workload = WORKLOADS[name]
        agents, steps = workload.size(self.args.quick)
        runs = [steps] + ([workload.early_steps] if workload.early_steps else [])
        expected = {steps: self.outputs(workers[0], name, steps) for steps in runs}
        agreed = [workers[0]]
        for worker in workers[1:]:
            results = {steps: self.outputs(worker, name, steps) for steps in runs}
            try:
                text = workload.check(expected[steps], results[steps], agents, steps, not self.args.quick)
                if workload.early_steps:
                    early = workload.early_steps
                    text += "; " + workload.check_early(expected[early], results[early])
                agreed.append(worker)
                verdict = "agrees"
            except Disagreement as problem:
                text, verdict = str(problem), "DISAGREES, not timed"
                self.disagreements += 1
                worker.close()
            line = f"{name}: {worker.name} {verdict} with {workers[0].name}: {text}"
            print(line, flush=True)
            self.checks.append(line)
        return agreed

    def measure(self, name, mode):
        cores = {self.args.core} if mode == "one" else os.sched_getaffinity(0)
        systems = [system for system in self.systems if mode == "one" or not system.one_core]
        workers = []
        try:
            workers = [self.worker(system, self.choice(system, name), name, cores) for system in systems]
            workers = self.agreeing(workers, name)
            times = self.rounds(workers, WORKLOADS[name].size(self.args.quick)[1])
        finally:
            for worker in workers:
                worker.close()
        for worker in workers:
            row = {"workload": name, "mode": mode, "system": worker.name, "choice": worker.choice}
            row |= {"compile_seconds": worker.compile_seconds, "times": times[worker.name]}
            self.rows.append(row)
        print(report.table(self.rows[-len(workers):], self.args), flush=True)

    def rounds(self, workers, steps):
        """Per worker: round number, wall seconds and processor seconds of its runs."""
        times = {worker.name: [] for worker in workers}
        for number in range(self.args.rounds):
            for worker in workers:
                earlier = times[worker.name]
                slow = any(wall > self.args.slow for _, wall, _ in earlier)
                if slow and number % 3:
                    continue
                earlier.append((number, *worker.run(steps)))
        return times


def main():
    args = arguments()
    args.out = args.out.resolve()
    if "simc" in args.systems and not args.no_build:
        command = "cargo build --release -p sim-runtime --example bench_worker".split()
        subprocess.run(command, cwd=ROOT, check=True)
    bench = Bench(args)
    for name in args.workloads:
        bench.write_inputs(name)
        for mode in args.modes:
            bench.measure(name, mode)
    machine = report.machine()
    text = report.document(bench.rows, bench.checks, machine, args)
    (args.out / "report.md").write_text(text)
    saved = {"machine": machine, "quick": args.quick, "clock": args.clock, "rows": bench.rows, "checks": bench.checks}
    saved["tuned"] = bench.tuned
    (args.out / "report.json").write_text(json.dumps(saved, indent=1))
    print(f"wrote {args.out / 'report.md'} and report.json")
    sys.exit(1 if bench.disagreements else 0)


if __name__ == "__main__":
    main()
