"""Runs the models of `benchmarks/worlds` by simc and by hand-written CUDA on one GPU, see `by_value.py`."""

from array import array
from ctypes import c_float, c_int, c_uint32

from by_value import SEED, Case, Peer, farthest, main, scores


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


def near(ours, theirs):
    return abs(sum(ours) - sum(theirs)) <= 0.001 * len(ours)


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
# For `--quick`. Layers are eight whatever is asked.
FEW = {"nbody": (1024, 60), "sir": (20_000, 30), "sir_alone": (20_000, 30), "layers": (2048, 8)}


if __name__ == "__main__":
    main("worlds", CASES, FEW, RATIOS)
