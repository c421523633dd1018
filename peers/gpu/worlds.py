"""Runs the models of `benchmarks/worlds` by simc and by hand-written CUDA on one GPU: results must agree value
by value, then both are timed in turns. See ../README.md for what is compared and how the numbers are to be read.
"""

import argparse
import ast
import json
import statistics
import subprocess
import sys
import tempfile
from array import array
from ctypes import c_float, c_int, c_uint32
from dataclasses import dataclass, field
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


# Each of these gives the peers of a model at a size.


def nbody(device, agents, steps):
    """512 bodies a world: a kernel per step, 1 to 32 threads a body; or one kernel, 1 to 4 bodies a thread."""
    start, out, velocity = (device.memory(4 * agents) for _ in range(3))
    between = [device.memory(4 * agents) for _ in range(2)]
    arguments = [start, c_int(agents), *SEED]
    device.launch(device.function("nbody", "nbody_start"), -(-agents // 128), 128, arguments)
    device.synchronise()
    peers = []
    for lanes in (1, 2, 4, 8, 16, 32):
        function, launches = device.function("nbody", f"nbody_step_{lanes}"), []
        for t in range(steps):
            source = start if t == 0 else between[t % 2]
            target = out if t == steps - 1 else between[(t + 1) % 2]
            launches.append((function, agents * lanes // 128, 128, [source, target, velocity, c_int(t == 0)]))
        peers.append(Peer(f"a kernel per step, {lanes} threads a body", launches, out, c_float, 4 * agents))
    for bodies in (1, 2, 4):
        function = device.function("nbody", f"nbody_fused_{bodies}")
        launch = (function, agents // 512, 512 // bodies, [start, out, c_int(steps)])
        peers.append(Peer(f"one kernel, {bodies} bodies a thread", [launch], out, c_float, 4 * agents))
    return peers


def sir(device, agents, steps):
    """1,000 agents a world, a block each, with 1 to 8 agents a thread."""
    out, peers = device.memory(agents), []
    for name, each in (("sir_1", 1), ("sir_2", 2), ("sir_4", 4), ("sir_8", 8), ("sir_barrier", 1)):
        launch = (device.function("sir", name), agents // 1000, 1024 // each, [out, c_int(steps), *SEED])
        how = "counting barrier" if name == "sir_barrier" else "shuffles"
        peers.append(Peer(f"{each} agents a thread, {how}", [launch], out, c_int, agents))
    return peers


def sir_alone(device, agents, steps):
    """Agents that know of no world, one a thread."""
    out = device.memory(agents)
    function = device.function("sir", "sir_alone")
    launch = (function, -(-agents // 128), 128, [out, c_int(agents), c_int(steps), *SEED])
    return [Peer("a thread per agent", [launch], out, c_int, agents)]


def noise(k):
    """`NOISE[k]` of layers.sim."""
    return c_float((31 * k + 17) * k % 2003 / 2003).value


def layers_of(device, agents):
    """What both programs of layers.sim need: channels, scores, the weights of each layer, the head."""
    pixels, score = device.memory(16 * agents), device.memory(agents // 256)
    arguments = [pixels, c_int(agents), c_int(16), c_uint32(0x33330000), c_float(1.0)]
    device.launch(device.function("inputs", "fill_columns"), 1024, 128, arguments)
    device.synchronise()
    weights = [[1.2 * noise(256 * layer + k) - 0.6 for k in range(256)] for layer in range(8)]
    biases = [[0.2 * noise(2048 + 16 * layer + k) - 0.1 for k in range(16)] for layer in range(8)]
    head = (c_float * 16)(*(1.2 * noise(2176 + k) - 0.6 for k in range(16)))
    return pixels, score, [weights[layer] + biases[layer] for layer in range(8)], head


def layers_fused(device, agents, steps):
    """All layers in one kernel, which `steps` can't cut: the kernel is written for eight."""
    pixels, score, layers, head = layers_of(device, agents)
    everything = (c_float * (272 * 8))(*(value for layer in layers for value in layer))
    arguments = [pixels, score, c_int(agents), everything, head]
    launch = (device.function("layers", "layers_fused"), agents // 256, 256, arguments)
    return [Peer("one kernel", [launch], score, c_float, agents // 256)]


def layers_apart(device, agents, steps):
    """A kernel per layer."""
    pixels, score, layers, head = layers_of(device, agents)
    between = [device.memory(16 * agents) for _ in range(2)]
    launches = []
    for number, layer in enumerate(layers):
        source, weights = pixels if number == 0 else between[number % 2], (c_float * 272)(*layer)
        if number < 7:
            name, arguments = "layers_one", [source, between[(number + 1) % 2], c_int(agents), weights]
        else:
            name, arguments = "layers_last", [source, score, c_int(agents), weights, head]
        launches.append((device.function("layers", name), agents // 256, 256, arguments))
    return [Peer("a kernel per layer", launches, score, c_float, agents // 256)]


# What must agree. Each gives what is wrong, or None, from simc's values and a peer's.


def positions(ours, theirs):
    """All coordinates within 1e-4, and within 2e-6 in the root mean square.

    In the last of 200 steps bodies move up to 6e-5. A close encounter makes much of a rounding: of a million
    coordinates, single ones are 4e-5 apart.
    """
    theirs = array("f", (theirs[4 * (n // 3) + n % 3] for n in range(len(ours))))
    worst = farthest(ours, theirs)
    mean = (sum((a - b) ** 2 for a, b in zip(ours, theirs)) / len(ours)) ** 0.5
    if worst <= 1e-4 and mean <= 2e-6:
        return None
    return f"coordinates are {mean:.2g} apart, one {worst:.2g}"


def worlds(ours, theirs):
    """19 of 20 worlds agent by agent, and the share of recovered to 0.001.

    Words are the same bits, but a chance of infection may differ in its last place, which about one draw in
    10^7 notices; from there on that world goes its own way.
    """
    count = len(ours) // 1000
    equal = sum(ours[n : n + 1000] == theirs[n : n + 1000] for n in range(0, len(ours), 1000))
    enough = 20 * equal >= 19 * count and near(ours, theirs)
    return None if enough else f"only {equal} of {count} worlds are equal"


def people(ours, theirs):
    """999 of 1,000 agents, for the same reason, and the share of recovered to 0.001."""
    equal = sum(a == b for a, b in zip(ours, theirs))
    enough = 1000 * equal >= 999 * len(ours) and near(ours, theirs)
    return None if enough else f"only {equal} of {len(ours)} agents are equal"


def scores(ours, theirs):
    """Every score within 1e-5 of the largest."""
    worst = farthest(ours, theirs) / max(map(abs, ours))
    return None if worst <= 1e-5 else f"a score is {worst:.2g} of the largest apart"


def farthest(ours, theirs):
    return max((abs(a - b) if a == a and b == b else float("inf")) for a, b in zip(ours, theirs))


def near(ours, theirs):
    return abs(sum(ours) - sum(theirs)) <= 0.001 * len(ours)


@dataclass(frozen=True)
class Case:
    """A model at a size, how simc is asked to run it, and its peers."""

    model: str
    agents: int
    steps: int
    peers: object
    agree: object
    options: tuple = ()

    def quick(self):
        """The same with few agents and steps. Layers are eight whatever is asked."""
        few = {"nbody": (1024, 60), "sir": (20_000, 30), "sir_alone": (20_000, 30), "layers": (2048, 8)}
        agents, steps = few[self.model]
        return Case(self.model, min(agents, self.agents), steps, self.peers, self.agree, self.options)

    def command(self, args, verb):
        command = [args.simc, verb, ROOT / f"benchmarks/worlds/{self.model}.sim", "--agents", self.agents]
        command += ["--steps", self.steps, "--seed", SEED[0].value, "--backend", args.backend, *self.options]
        return [str(word) for word in command]


CASES = {
    "nbody-1": Case("nbody", 512, 200, nbody, positions),
    "nbody-1024": Case("nbody", 524_288, 200, nbody, positions),
    "sir": Case("sir", 1_000_000, 365, sir, worlds),
    "sir-alone": Case("sir_alone", 1_000_000, 365, sir_alone, people),
    "layers-fused": Case("layers", 4_194_304, 8, layers_fused, scores),
    "layers-apart": Case("layers", 4_194_304, 8, layers_apart, scores, ("--steps-per-dispatch", "1")),
}
# The time of the first over that of the second.
RATIOS = (("sir", "sir-alone"), ("layers-apart", "layers-fused"))


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


def table(lines):
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
    for above, below in RATIOS:
        if above in there and below in there:
            above, below = there[above], there[below]
            cuda = [best(line) for line in (above, below)]
            ratio = f"simc {above['simc']['median_ms'] / below['simc']['median_ms']:.2f}"
            if all(cuda):
                ratio += f", CUDA {cuda[0]['median_ms'] / cuda[1]['median_ms']:.2f}"
            text += ["", f"{above['case']} over {below['case']}: {ratio}"]
    return "\n".join(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    names = lambda text: text.split(",")
    parser.add_argument("--quick", action="store_true", help="small sizes: does it all work?")
    parser.add_argument("--cases", type=names, default=list(CASES), help=f"some of {','.join(CASES)}")
    parser.add_argument("--rounds", type=int, default=3, help="times that simc and CUDA take turns")
    parser.add_argument("--runs", type=int, default=10, help="timed runs of each in a round")
    parser.add_argument("--simc", type=Path, default=ROOT / "target/release/simc")
    parser.add_argument("--backend", default="gpu", help="of simc")
    parser.add_argument("--cubins", type=Path, default=ROOT / "target/peers/cubin")
    parser.add_argument("--driver", default="libcuda.so.1", help="the driver's library, or its stand-in")
    parser.add_argument("--out", type=Path, default=ROOT / "target/peers")
    args = parser.parse_args()
    for name in args.cases:
        if name not in CASES:
            parser.error(f"there is no case `{name}`; there are {', '.join(CASES)}")
    if args.rounds < 1 or args.runs < 1:
        parser.error("--rounds and --runs are at least 1")
    lines = []
    try:
        device = Device(args.cubins, args.driver)
        for name in args.cases:
            case = CASES[name].quick() if args.quick else CASES[name]
            lines.append(measure(name, case, args, device))
    except (CudaError, RuntimeError, OSError) as error:
        sys.exit(f"error: {error}")
    args.out.mkdir(parents=True, exist_ok=True)
    report = {"cuda_device": device.name, "quick": args.quick, "cases": lines}
    (args.out / "worlds.json").write_text(json.dumps(report, indent=1))
    text = table(lines)
    (args.out / "worlds.md").write_text(text + "\n")
    print(text)
    wrong = [line["case"] for line in lines for peer in line["cuda"] if peer["problem"]]
    sys.exit(f"error: CUDA does not agree with simc: {', '.join(sorted(set(wrong)))}" if wrong else 0)


if __name__ == "__main__":
    main()
