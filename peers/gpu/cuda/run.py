"""Times the hand-written CUDA kernels alone: `run.py --cubins FOLDER` on a machine with an NVIDIA driver.

Every variant of a workload (lanes per agent, threads per block) is verified against the published mean score before
it is timed; one that does not agree has no times and makes the script fail. Prints JSON.
"""

import argparse
import json
import statistics
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from launcher import CudaError, Device, Program  # noqa: E402
from workloads import QUICK, WORKLOADS  # noqa: E402


def measure(program, workload, variant, runs):
    """One line of the report."""
    mean = program.verify(variant)
    line = {"kernel": variant.kernel, "threads": variant.threads, "mean_score": mean, "verified": workload.agrees(mean)}
    if line["verified"] and runs:
        once = program.timer(variant, 1)
        # Short runs are timed many at a time: an event is good for about a microsecond.
        together = max(1, min(200, round(2.0 / max(once(), once(), 1e-4))))
        run = program.timer(variant, together)
        times = sorted(run() for _ in range(runs))
        line |= {"median_ms": statistics.median(times), "least_ms": times[0], "most_ms": times[-1]}
        line |= {"runs": runs, "runs_per_sample": together}
    return line


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--cubins", type=Path, default=HERE.parents[2] / "target/peers/cubin")
    parser.add_argument("--driver", default="libcuda.so.1", help="the driver's library")
    parser.add_argument("--workloads", type=lambda text: text.split(","))
    parser.add_argument("--quick", action="store_true", help="small sizes: does it all work?")
    parser.add_argument("--runs", type=int, default=20, help="0 verifies and times nothing")
    args = parser.parse_args()
    known = QUICK if args.quick else WORKLOADS
    chosen = args.workloads or list(known)
    for name in set(chosen) - set(known):
        parser.error(f"there is no workload `{name}`; there are {', '.join(known)}")
    try:
        device = Device(args.cubins, args.driver)
        report = {"device": device.name, "workloads": {}}
        for name in chosen:
            workload = known[name]
            program = Program(device, workload.model, workload.agents, workload.steps)
            lines = [measure(program, workload, variant, args.runs) for variant in program.variants()]
            device.free_all()
            timed = [line for line in lines if "median_ms" in line]
            best = min(timed, key=lambda line: line["median_ms"]) if timed else None
            report["workloads"][name] = {"published_mean": workload.mean, "best": best, "variants": lines}
            shown = f"{best['median_ms']:.4f} ms, {best['kernel']}, {best['threads']} threads" if best else f"{sum(line['verified'] for line in lines)} of {len(lines)} variants verified"
            print(f"{name}: {shown}", file=sys.stderr, flush=True)
    except CudaError as error:
        sys.exit(f"error: {error}")
    print(json.dumps(report, indent=1))
    wrong = [line for each in report["workloads"].values() for line in each["variants"] if not line["verified"]]
    for line in wrong:
        print(f"not verified: {line['kernel']}, {line['threads']} threads: mean {line['mean_score']}", file=sys.stderr)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
