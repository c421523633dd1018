"""Runs the models of `benchmarks/large` by simc and by hand-written CUDA on one GPU, see `by_value.py`."""

from array import array
from ctypes import c_float, c_int, c_uint32
from math import cos, sin

from by_value import Case, Peer, farthest, main, scores

WEIGHTS, STARTS = c_uint32(0x11110000), c_uint32(0x22220000)


def rows(device, agents, width, key, scale):
    """Numbers in [-scale, scale) for each agent, as the defaults of inputs compute them."""
    memory = device.memory(agents * width)
    arguments = [memory, c_int(agents), c_int(width), key, c_float(scale)]
    device.launch(device.function("inputs", "fill_rows"), 1024, 128, arguments)
    device.synchronise()
    return memory


def kernels(device, agents, steps, module, names, threads, memory):
    """The variants of a module, named with the lanes of an agent, or agents of a lane where that is `1 / lanes`."""
    out = device.memory(agents)
    peers = []
    for name, how, lanes in names:
        blocks = -(-int(agents * lanes) // threads)
        launch = (device.function(module, name), blocks, threads, [out, *memory, c_int(agents), c_int(steps)])
        peers.append(Peer(how, [launch], out, c_float, agents))
    return peers


def attention(device, agents, steps):
    memory = [rows(device, agents, 3 * 32 * 32, WEIGHTS, 0.3), rows(device, agents, 32, STARTS, 1.0)]
    return kernels(device, agents, steps, "attention", [("attention", "a warp per agent", 32)], 64, memory)


def policy(device, agents, steps):
    memory = [rows(device, agents, 1249, WEIGHTS, 0.6), rows(device, agents, 1, STARTS, 0.05)]
    names = [(f"policy_{lanes}", f"{lanes} lanes per agent", lanes) for lanes in (8, 16, 32)]
    return kernels(device, agents, steps, "policy", names, 128, memory)


def lstm(device, agents, steps):
    memory = [rows(device, agents, 4352, WEIGHTS, 0.3)]
    return kernels(device, agents, steps, "lstm", [("lstm", "a warp per agent", 32)], 128, memory)


def shared(device, agents, steps):
    weights = [sin(3 * j + 7 * k * k + 1) for j in range(64) for k in range(8)]
    weights += [0.25 * sin(5 * j * j + 11 * k + j * k) for j in range(64) for k in range(64)]
    weights += [0.3 * cos(13 * j + 17 * k + j * k * k) for j in range(4) for k in range(64)]
    memory = [device.upload(array("f", weights)), rows(device, agents, 8, STARTS, 1.0)]
    names = [("shared_1", "a thread per agent", 1), ("shared_2", "a thread per two agents", 0.5)]
    return kernels(device, agents, steps, "shared", names, 128, memory)


def rod(device, agents, steps):
    memory = [rows(device, agents, 1, WEIGHTS, 1.0)]
    names = [(f"rod_{lanes}", f"{lanes} lanes per agent", lanes) for lanes in (8, 16, 32)]
    return kernels(device, agents, steps, "rod", names, 128, memory)


def steps_up(ours, theirs):
    """999 of 1,000 agents. A pole near the edge of what counts as standing may be counted a step more or less."""
    equal = sum(a == b for a, b in zip(ours, theirs))
    enough = 1000 * equal >= 999 * len(ours) and farthest(ours, theirs) <= 2
    return None if enough else f"only {equal} of {len(ours)} agents are equal"


def near(ours, theirs):
    """999 of 1,000 scores within 1e-4. An agent near the border between two attractors may end at either."""
    off = sum(not abs(a - b) <= 1e-4 for a, b in zip(ours, theirs))
    enough = 1000 * off <= len(ours)
    return None if enough else f"{off} of {len(ours)} scores differ, by up to {farthest(ours, theirs):.2g}"


CASES = {
    "attention": Case("attention", 4_096, 48, attention, near),
    "attention-64": Case("attention", 64, 48, attention, near),
    "policy": Case("policy", 4_096, 200, policy, steps_up),
    "policy-65536": Case("policy", 65_536, 200, policy, steps_up),
    "lstm": Case("lstm", 4_096, 200, lstm, near),
    "shared": Case("shared", 65_536, 100, shared, near),
    "shared-1m": Case("shared", 1_048_576, 100, shared, near),
    "rod": Case("rod", 4_096, 500, rod, scores),
}
# For `--quick`.
FEW = {"attention": (64, 48), "policy": (128, 50), "lstm": (64, 50), "shared": (256, 20), "rod": (64, 100)}


if __name__ == "__main__":
    main("large", CASES, FEW)
