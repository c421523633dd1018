"""Runs simc and its peers side by side on one GPU: all must agree with the published mean scores, then they take
turns. See ../README.md for what is compared and how the numbers are to be read.
"""

import argparse
import json
import os
import select
import statistics
import subprocess
import sys
from math import comb
from pathlib import Path

from simc_system import ROOT, Simc
from worker import SYSTEMS
from workloads import QUICK, WORKLOADS

HERE = Path(__file__).resolve().parent
# By the compiler's rules; many runs one after the other on the device, as CUDA's graph does; as `simc bench --tune`
# finds it.
OURS = ["simc", "simc-in-a-row", "simc-tuned"]


class Worker:
    """A process of worker.py."""

    def __init__(self, name, workload, device, limit):
        self.name, self.facts, self.problem, self.limit = name, {}, None, limit
        quiet = {"XLA_PYTHON_CLIENT_PREALLOCATE": "false", "TF_CPP_MIN_LOG_LEVEL": "2", "PYTHONUNBUFFERED": "1"}
        quiet |= {"JAX_PLATFORMS": "cpu", "CUDA_VISIBLE_DEVICES": ""} if device == "cpu" else {}
        self.process = subprocess.Popen(
            [sys.executable, HERE / "worker.py", name, workload, "--device", device],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ | quiet,
        )  # fmt: skip
        first = self.answer()
        self.problem = first.get("missing") or first.get("failed")
        if "wrong" in first:
            self.problem = f"wrong: {first['wrong']}"
        self.facts = {key: value for key, value in first.items() if key not in ("ready", "missing", "failed")}
        if self.problem:
            self.close()

    def answer(self):
        """The next line, or what became of the process."""
        ready, _, _ = select.select([self.process.stdout], [], [], self.limit)
        line = self.process.stdout.readline() if ready else ""
        if line:
            return json.loads(line)
        self.process.kill()
        said = self.process.stderr.read().strip().splitlines()[-1:] if ready else [f"no answer in {self.limit} s"]
        return {"failed": f"failed: {said[0][:300] if said else 'ended without a word'}"}

    def run(self):
        self.process.stdin.write("run\n")
        self.process.stdin.flush()
        answer = self.answer()
        if "failed" in answer:
            self.problem = answer["failed"]
            return None
        self.facts["runs_per_sample"] = answer["runs"]
        return answer["ms"]

    def close(self):
        self.process.stdin.close()
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
        self.process.stdout.close()
        self.process.stderr.close()


def interval(times, level=0.95):
    """Order statistics that hold the median with at least this chance, and the chance; all of them if too few."""
    times, n = sorted(times), len(times)
    chance = lambda k: 1 - 2 * sum(comb(n, i) for i in range(k)) / 2**n
    best = max((k for k in range(1, n // 2 + 1) if chance(k) >= level), default=1)
    return times[best - 1], times[n - best], chance(best)


def compare(name, workload, args):
    """All systems on one workload, in turns."""
    systems = []
    for system in args.systems:
        if system in OURS:
            systems.append(Simc(system, workload, args.simc, args.device))
        else:
            systems.append(Worker(system, name, args.device, args.limit))
        last = systems[-1]
        print(f"{name}: {system}: {last.problem or 'mean score %.7g' % last.facts['mean_score']}", file=sys.stderr, flush=True)
    times = {system.name: [] for system in systems}
    for _ in range(args.rounds):
        for system in systems:
            if not system.problem:
                ms = system.run()
                times[system.name] += [] if ms is None else [ms]
    lines = []
    for system in systems:
        line = {"system": system.name, "problem": system.problem, **system.facts}
        if times[system.name] and not system.problem:
            low, high, chance = interval(times[system.name])
            line |= {"median_ms": statistics.median(times[system.name]), "interval_ms": [low, high]}
            line |= {"interval_chance": chance, "times_ms": times[system.name]}
        lines.append(line)
        if not system.problem:
            system.close()
    return {"workload": name, "agents": workload.agents, "steps": workload.steps, "published_mean": workload.mean, "systems": lines}


def table(rows):
    lines = ["| workload | system | GPU ms | interval | over simc | compile s | first run s | choice |", "|---|---|--:|--:|--:|--:|--:|---|"]
    for row in rows:
        ours = next((each.get("median_ms") for each in row["systems"] if each["system"] == "simc"), None)
        for each in row["systems"]:
            if "median_ms" not in each:
                lines.append(f"| {row['workload']} | {each['system']} | {each['problem']} | | | | | |")
                continue
            low, high = each["interval_ms"]
            ratio = f"{each['median_ms'] / ours:.2f}" if ours else ""
            choice = ", ".join(f"{key} {value}" for key, value in each["choice"].items())
            cells = [row["workload"], each["system"], f"{each['median_ms']:.4g}", f"{low:.4g} – {high:.4g}", ratio]
            cells += [f"{each['compile_seconds']:.3f}", f"{each['first_run_seconds']:.3f}", choice]
            lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    names = lambda text: text.split(",")
    parser.add_argument("--quick", action="store_true", help="small sizes: does it all work?")
    parser.add_argument("--workloads", type=names)
    parser.add_argument("--systems", type=names, default=[*OURS, *SYSTEMS])
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--device", choices=["gpu", "cpu"], default="gpu", help="cpu: only to see that it works")
    parser.add_argument("--simc", type=Path, default=ROOT / "target/release/simc")
    parser.add_argument("--limit", type=float, default=300, help="seconds that a system may take to get ready or to run")
    parser.add_argument("--out", type=Path, default=ROOT / "target/peers")
    args = parser.parse_args()
    known = QUICK if args.quick else WORKLOADS
    args.workloads = args.workloads or list(known)
    for given, there in ((args.workloads, known), (args.systems, [*OURS, *SYSTEMS])):
        for name in given:
            if name not in there:
                parser.error(f"there is no `{name}`; there are {', '.join(there)}")
    rows = [compare(name, known[name], args) for name in args.workloads]
    args.out.mkdir(parents=True, exist_ok=True)
    (args.out / "gpu.json").write_text(json.dumps({"device": args.device, "quick": args.quick, "rows": rows}, indent=1))
    text = table(rows)
    (args.out / "gpu.md").write_text(text + "\n")
    print(text)
    broken = [each for row in rows for each in row["systems"] if (each["problem"] or "").startswith(("wrong", "failed"))]
    sys.exit(1 if broken else 0)


if __name__ == "__main__":
    main()
