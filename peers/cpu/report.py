"""The measurements as Markdown, and what machine and versions they belong to."""

import importlib.metadata
import os
import platform
import shutil
import statistics
import subprocess
from pathlib import Path

from systems import ROOT
from workloads import WORKLOADS


def first_line(*command):
    if not shutil.which(command[0]):
        return None
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True).stdout.split("\n")[0]


def machine():
    """Processor, cores, instruction sets and versions."""
    info = dict(
        (part.strip() for part in line.split(":", 1))
        for line in Path("/proc/cpuinfo").read_text().splitlines()
        if ":" in line
    )
    flags = set(info.get("flags", "").split())
    found = {
        "processor": info.get("model name", platform.processor()),
        "cores": len(os.sched_getaffinity(0)),
        "instruction sets": [name for name in ("avx2", "fma", "avx512f", "avx512dq", "avx512bw") if name in flags],
        "load": [round(load, 1) for load in os.getloadavg()],
        "libc": " ".join(platform.libc_ver()),
        "python": platform.python_version(),
        "commit": first_line("git", "rev-parse", "--short", "HEAD"),
        "rustc": first_line("rustc", "--version"),
        "gcc": first_line("gcc", "--version"),
        "clang": first_line("clang", "--version"),
    }
    return found | {name: importlib.metadata.version(name) for name in ("jax", "jaxlib", "numpy")}


def rates(row, args):
    """Millions of agent-steps a second by round."""
    agents, steps = WORKLOADS[row["workload"]].size(args.quick)
    clock = 2 if row["mode"] == "one" and args.clock == "processor" else 1
    return {entry[0]: agents * steps / entry[clock] * 1e-6 for entry in row["times"]}


def ratio(ours, theirs):
    """Median over median, and the range of the ratios within a round."""
    if ours is None:
        return "", ""
    each = [ours[number] / rate for number, rate in theirs.items() if number in ours]
    middle = statistics.median(ours.values()) / statistics.median(theirs.values())
    return f"{middle:.2f}", f"{min(each):.2f} – {max(each):.2f}"


def table(rows, args):
    """One line a workload and system."""
    lines = [
        "| workload | system | choice | M agent-steps/s | min – max | simc is times as fast | by round | compile s | rounds |",
        "|---|---|---|--:|--:|--:|--:|--:|--:|",
    ]
    simc = {(row["workload"], row["mode"]): rates(row, args) for row in rows if row["system"] == "simc"}
    for row in rows:
        rate = rates(row, args)
        middle, span = ("", "") if row["system"] == "simc" else ratio(simc.get((row["workload"], row["mode"])), rate)
        shown = [f"{key} {value}" for key, value in row["choice"].items() if key in ("unroll", "lanes")]
        low, high, median = min(rate.values()), max(rate.values()), statistics.median(rate.values())
        # C libraries are compiled while the candidates are tried, NumPy needs none.
        compiled = f"{row['compile_seconds']:.3f}" if row["system"].startswith(("simc", "jax")) else ""
        cells = [WORKLOADS[row["workload"]].title, row["system"], ", ".join(shown), f"{median:.3g}"]
        cells += [f"{low:.3g} – {high:.3g}", middle, span, compiled, str(len(rate))]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def document(rows, checks, machine, args):
    """The whole report."""
    parts = ["# simc and its peers on the CPU\n"]
    parts += [f"* {key}: {', '.join(map(str, value)) if isinstance(value, list) else value}" for key, value in machine.items()]
    sizes = {name: WORKLOADS[name].size(args.quick) for name in args.workloads}
    parts.append("* agents x steps: " + ", ".join(f"{name} {a} x {s}" for name, (a, s) in sizes.items()))
    for mode, title in (("one", f"One core, {args.clock} time"), ("all", "All cores, wall time")):
        chosen = [row for row in rows if row["mode"] == mode]
        if chosen:
            parts += [f"\n## {title}\n", table(chosen, args)]
    parts += ["\n## Agreement\n", *(f"* {line}" for line in checks), ""]
    return "\n".join(parts)
