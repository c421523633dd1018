"""`simc bench` as one of the systems. All that is known here of its report is in `read`."""

import json
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TABLES = {
    "portfolio": {
        "signals": "lang-examples/data/portfolio_signals.npy",
        "apex": "lang-examples/data/portfolio_apex.npy",
    }
}


def read(report, in_a_row=False):
    """Milliseconds of the runs, mean score, compile and first-run seconds of a report of `simc bench --json`.

    The milliseconds are those of a run alone, or its share of many in a row where that is asked for and there is one.
    """
    (row,) = report["results"]
    score = next(output for output in row["outputs"] if output["name"] == "score")
    time = row["gpu_ms"] or row["total_ms"]
    if in_a_row and row["in_a_row"]:
        time = row["in_a_row"]["gpu_ms"]
    return {
        "times": [time["median"]],
        "mean_score": score["mean"],
        "compile_seconds": row["compile_ms"] / 1e3,
        "first_run_seconds": row["first"]["total_ms"] / 1e3,
        "choice": {"device": row["device"], "kernel": row["kernel"], "overhead_us": row["overhead_us"]},
        "tuned": row["tuned"],
    }


class Simc:
    """Each round is a process of its own with a few runs, of which the median counts."""

    def __init__(self, name, workload, binary, device, runs=5):
        self.name = name
        command = [binary, "bench", ROOT / f"benchmarks/{workload.model}.sim", "--agents", workload.agents]
        command += ["--steps", workload.steps, "--runs", runs, "--backend", device, "--json"]
        for table, path in TABLES.get(workload.model, {}).items():
            command += ["--data", f"{table}={ROOT / path}"]
        self.command = [str(word) for word in command]
        self.workload, self.facts, self.problem = workload, {}, None
        if not Path(binary).exists():
            self.problem = f"not installed: no {binary}"
            return
        try:
            if name == "simc-tuned":
                facts = self.once(["--tune"])
                self.command += facts["tuned"]["arguments"].split()
            facts = self.once()
        except (RuntimeError, KeyError, ValueError, StopIteration) as error:
            self.problem = f"failed: {type(error).__name__}: {error}"
            return
        facts.pop("times")
        facts.pop("tuned")
        self.facts = facts
        if not workload.agrees(facts["mean_score"]):
            self.problem = f"wrong: mean score {facts['mean_score']}, published {workload.mean}"

    def once(self, more=()):
        done = subprocess.run([*self.command, *more], capture_output=True, text=True, timeout=600)
        if done.returncode != 0:
            raise RuntimeError((done.stderr or done.stdout).strip()[:300])
        return read(json.loads(done.stdout), self.name == "simc-in-a-row")

    def run(self):
        times = sorted(self.once()["times"])
        return times[len(times) // 2]

    def close(self):
        pass
