"""Models of a folder of `benchmarks` by simc and by hand-written CUDA on one GPU: results must agree value by value,
then both are timed in turns. `worlds.py` and `large.py` have the cases. See ../README.md for what is compared and how
the numbers are to be read.
"""

import argparse
import ast
import json
import statistics
import subprocess
import sys
import tempfile
from array import array
from ctypes import c_uint32
from dataclasses import dataclass, field, replace
from pathlib import Path

from simc_system import ROOT

sys.path.insert(0, str(Path(__file__).resolve().parent / "cuda"))
from launcher import CudaError, Device  # noqa: E402

SEED = [c_uint32(7), c_uint32(0)]


@dataclass
class Peer:
    """A hand-written program: its launches in order, and what it leaves where."""

    name: str
    launches: list
    result: object
    kind: type
    count: int
    times: list = field(default_factory=list)
    problem: str | None = None

    def values(self, device):
        """The results of one run into memory that held NaNs."""
        device.poison(self.result, self.count)
        device.synchronise()
        for launch in self.launches:
            device.launch(*launch)
        device.synchronise()
        return device.read(self.kind, self.result, self.count)


@dataclass(frozen=True)
class Case:
    """A model at a size, how simc is asked to run it, and its peers."""

    model: str
    agents: int
    steps: int
    peers: object
    agree: object
    options: tuple = ()

    def quick(self, few):
        """The same with few agents and steps."""
        agents, steps = few[self.model]
        return replace(self, agents=min(agents, self.agents), steps=steps)

    def command(self, args, verb):
        command = [args.simc, verb, ROOT / f"benchmarks/{args.folder}/{self.model}.sim", "--agents", self.agents]
        command += ["--steps", self.steps, "--seed", SEED[0].value, "--backend", args.backend, *self.options]
        return [str(word) for word in command]


def scores(ours, theirs):
    """Every score within 1e-5 of the largest."""
    worst = farthest(ours, theirs) / max(map(abs, ours))
    return None if worst <= 1e-5 else f"a score is {worst:.2g} of the largest apart"


def farthest(ours, theirs):
    return max((abs(a - b) if a == a and b == b else float("inf")) for a, b in zip(ours, theirs))


def run(command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    if done.returncode != 0:
        raise RuntimeError((done.stderr or done.stdout).strip()[:500])
    return done.stdout


def npy(path):
    """The values of an NPY file of `f32`s or truth values, in order."""
    data = Path(path).read_bytes()
    start = 10 + int.from_bytes(data[8:10], "little")
    kind = {"<f4": "f", "|b1": "b"}[ast.literal_eval(data[10:start].decode())["descr"]]
    return array(kind, data[start:])


def results(case, args):
    """What simc computes."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "results.npy"
        run([*case.command(args, "run"), "--output", str(path)])
        values = npy(path)
    return array("i", values) if values.typecode == "b" else values


def simc_time(case, args):
    """The median of the runs of one process, in milliseconds of GPU time, and the report of that process."""
    report = json.loads(run([*case.command(args, "bench"), "--runs", str(args.runs), "--json"]))
    (row,) = report["results"]
    return (row["gpu_ms"] or row["total_ms"])["median"], row


def measure(name, case, args, device):
    """All of one case, as a line of the report."""
    line = {"case": name, "model": case.model, "agents": case.agents, "steps": case.steps}
    ours, peers = results(case, args), case.peers(device, case.agents, case.steps)
    for peer in peers:
        peer.problem = case.agree(ours, peer.values(device))
        print(f"{name}: {peer.name}: {peer.problem or 'agrees'}", file=sys.stderr, flush=True)
    timers = {peer.name: device.timer(peer.launches, 1) for peer in peers if not peer.problem}
    medians = []
    for _ in range(args.rounds):
        median, row = simc_time(case, args)
        medians.append(median)
        for peer in peers:
            if not peer.problem:
                peer.times += [timers[peer.name]() for _ in range(args.runs)]
    line |= {"options": case.options, "device": row["device"], "kernel": row["kernel"], "dispatches": row["dispatches"]}
    line |= {"verified": row["verified"], "clock": row["rate_by"]}
    line["simc"] = {"median_ms": statistics.median(medians), "least_ms": min(medians), "medians_ms": medians}
    line["cuda"] = [
        {"name": peer.name, "problem": peer.problem}
        | ({"median_ms": statistics.median(peer.times), "least_ms": min(peer.times)} if peer.times else {})
        for peer in peers
    ]
    device.free_all()
    return line


def best(line):
    """The fastest of the right peers, by its median."""
    timed = [peer for peer in line["cuda"] if "median_ms" in peer]
    return min(timed, key=lambda peer: peer["median_ms"], default=None)


def table(lines, ratios):
    text = ["| case | system | GPU ms, median | least | simc over it |", "|---|---|--:|--:|--:|"]
    for line in lines:
        ours = line["simc"]["median_ms"]
        dispatches = f"{line['dispatches']} dispatch" + ("es" if line["dispatches"] != 1 else "")
        text.append(f"| {line['case']} | simc, {dispatches} | {ours:.4g} | {line['simc']['least_ms']:.4g} | |")
        for peer in line["cuda"]:
            system = f"CUDA, {peer['name']}" + (" (fastest)" if peer is best(line) else "")
            if peer["problem"]:
                text.append(f"| {line['case']} | {system} | wrong: {peer['problem']} | | |")
                continue
            cells = [f"{peer['median_ms']:.4g}", f"{peer['least_ms']:.4g}", f"{ours / peer['median_ms']:.2f}"]
            text.append("| " + " | ".join([line["case"], system, *cells]) + " |")
    there = {line["case"]: line for line in lines}
    for above, below in ratios:
        if above in there and below in there:
            above, below = there[above], there[below]
            cuda = [best(line) for line in (above, below)]
            ratio = f"simc {above['simc']['median_ms'] / below['simc']['median_ms']:.2f}"
            if all(cuda):
                ratio += f", CUDA {cuda[0]['median_ms'] / cuda[1]['median_ms']:.2f}"
            text += ["", f"{above['case']} over {below['case']}: {ratio}"]
    return "\n".join(text)


def main(folder, cases, few, ratios=()):
    """The command line of a script with these cases, sizes of models for `--quick`, and ratios to print."""
    parser = argparse.ArgumentParser(description=f"The models of benchmarks/{folder} beside hand-written CUDA.")
    names = lambda text: text.split(",")
    parser.add_argument("--quick", action="store_true", help="small sizes: does it all work?")
    parser.add_argument("--cases", type=names, default=list(cases), help=f"some of {','.join(cases)}")
    parser.add_argument("--rounds", type=int, default=3, help="times that simc and CUDA take turns")
    parser.add_argument("--runs", type=int, default=10, help="timed runs of each in a round")
    parser.add_argument("--simc", type=Path, default=ROOT / "target/release/simc")
    parser.add_argument("--backend", default="gpu", help="of simc")
    parser.add_argument("--cubins", type=Path, default=ROOT / "target/peers/cubin")
    parser.add_argument("--driver", default="libcuda.so.1", help="the driver's library, or its stand-in")
    parser.add_argument("--out", type=Path, default=ROOT / "target/peers")
    parser.set_defaults(folder=folder)
    args = parser.parse_args()
    for name in args.cases:
        if name not in cases:
            parser.error(f"there is no case `{name}`; there are {', '.join(cases)}")
    if args.rounds < 1 or args.runs < 1:
        parser.error("--rounds and --runs are at least 1")
    lines = []
    try:
        device = Device(args.cubins, args.driver)
        for name in args.cases:
            case = cases[name].quick(few) if args.quick else cases[name]
            lines.append(measure(name, case, args, device))
    except (CudaError, RuntimeError, OSError) as error:
        sys.exit(f"error: {error}")
    args.out.mkdir(parents=True, exist_ok=True)
    report = {"cuda_device": device.name, "quick": args.quick, "cases": lines}
    (args.out / f"{folder}.json").write_text(json.dumps(report, indent=1))
    text = table(lines, ratios)
    (args.out / f"{folder}.md").write_text(text + "\n")
    print(text)
    wrong = [line["case"] for line in lines for peer in line["cuda"] if peer["problem"]]
    sys.exit(f"error: CUDA does not agree with simc: {', '.join(sorted(set(wrong)))}" if wrong else 0)
