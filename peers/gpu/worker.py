"""One system with one workload as a process that runs on command and answers in lines of JSON.

    worker.py SYSTEM WORKLOAD [--device gpu|cpu]

The first line is `{"missing": reason}`, or what was built: the choice among the system's candidates (all of them
verified against the published mean and timed), its mean score, compile and first-run seconds. Then each line `run`
on standard input is answered with `{"ms": …, "runs": n}`: the milliseconds of one run as the mean of n that were
issued together, enough of them for two milliseconds, so that what issuing costs the host is hidden as far as the
system can hide it.
"""

import argparse
import importlib
import json
import sys
import time
from math import fsum

from workloads import QUICK, WORKLOADS

# Name: module, its package, variant.
SYSTEMS = {
    "cuda": ("cuda_peer", None, None),
    "jax-vmap": ("jax_peer", "jax", "vmap"),
    "jax-arrays": ("jax_peer", "jax", "arrays"),
    "torch-eager": ("torch_peer", "torch", "eager"),
    "torch-batched": ("torch_peer", "torch", "batched"),
    "torch-baddbmm": ("torch_peer", "torch", "baddbmm"),
    "torch-compile": ("torch_peer", "torch", "compile"),
}


def say(**line):
    print(json.dumps(line), flush=True)


def build(peer, workload, choice):
    """A peer, its facts, and the seconds of its second run; None and the mean if it is wrong."""
    made = peer.Peer(workload, **choice)
    started = time.perf_counter()
    scores = made.scores()
    first = time.perf_counter() - started
    mean = fsum(map(float, scores)) / len(scores)
    shown = {key: value for key, value in choice.items() if isinstance(value, (int, str))}
    if not shown:
        shown = {"kernel": choice["variant"].kernel, "threads": choice["variant"].threads}
    facts = {"choice": shown, "mean_score": mean, "compile_seconds": made.compile_seconds, "first_run_seconds": first}
    return made, facts, workload.agrees(mean)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("system", choices=SYSTEMS)
    parser.add_argument("workload")
    parser.add_argument("--device", choices=["gpu", "cpu"], default="gpu")
    args = parser.parse_args()
    workload = (WORKLOADS | QUICK)[args.workload]
    module, package, variant = SYSTEMS[args.system]
    try:
        peer = importlib.import_module(module)
    except ImportError as error:
        if package is None or error.name != package:
            raise
        return say(missing=f"not installed: no Python package {package}")
    reason = peer.missing(args.device, workload)
    if reason:
        return say(missing=reason)

    best, seconds, tried = None, float("inf"), []
    for choice in peer.candidates(workload, variant):
        made, facts, agrees = None, {"choice": str(choice)}, False
        try:
            made, facts, agrees = build(peer, workload, choice)
            took = min(made.wall(1) for _ in range(2)) if agrees else None
        except Exception as error:  # a candidate that cannot be built is told of, and the others go on
            facts, agrees = facts | {"failed": f"{type(error).__name__}: {error}"[:300]}, False
        tried.append(facts | {"verified": agrees} | ({"ms": 1e3 * took} if agrees else {}))
        if agrees and took < seconds:
            best, seconds, chosen = made, took, facts
    if best is None:
        return say(wrong="no candidate gives the published mean", tried=tried)
    together = max(1, min(200, round(2e-3 / max(seconds, 1e-7))))
    best.wall(together)
    say(ready=True, tried=tried, **chosen)
    for _ in sys.stdin:
        say(ms=1e3 * best.wall(together) / together, runs=together)
    return None


if __name__ == "__main__":
    main()
