"""Draws the pictures of the book from runs of its models; README.md says how to start it."""

import csv
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt

SOURCE = pathlib.Path(__file__).parent.parent / "src"
GREY = "#808890"
COLOURS = ["#3b82c4", "#d9822b", "#3f9e5f", "#b05fb0"]

plt.rcParams.update(
    {
        "svg.fonttype": "none",
        "svg.hashsalt": "sim",
        "font.family": "sans-serif",
        "font.size": 11,
        "savefig.transparent": True,
        "axes.prop_cycle": plt.cycler(color=COLOURS),
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.grid": True,
        "grid.alpha": 0.25,
        "legend.frameon": False,
        "lines.linewidth": 1.8,
        **{key: GREY for key in ("text.color", "axes.labelcolor", "axes.edgecolor", "grid.color")},
        **{key: GREY for key in ("xtick.color", "ytick.color", "axes.titlecolor")},
    }
)


def model(name):
    """The model of that name on a page."""
    for page in SOURCE.rglob("*.md"):
        found = re.search(rf"```sim {name}\n(.*?)```", page.read_text(), re.S)
        if found:
            return found.group(1)
    raise SystemExit(f"no page has {name}")


def run(text, *options, file="out.csv"):
    """Runs a model; the columns of one of its files of results."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder)
        (path / "model.sim").write_text(text)
        command = ["simc", "run", "model.sim", "--backend", "cpu", "--output", "out.csv", *options]
        subprocess.run(command, cwd=path, check=True, capture_output=True)
        rows = list(csv.DictReader((path / file).open()))
    return {key: [value(row[key]) for row in rows] for key in rows[0]}


def value(text):
    try:
        return float(text)
    except ValueError:
        return text


def summary(text, *options):
    """The rows of a run's summary by name."""
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "model.sim").write_text(text)
        command = ["simc", "run", "model.sim", "--backend", "cpu", "--json", *options]
        said = subprocess.run(command, cwd=folder, check=True, capture_output=True).stdout
    return {row["name"]: row for row in json.loads(said)["outputs"]}


def figure(width=7.0, height=3.4, columns=1):
    return plt.subplots(1, columns, figsize=(width, height), layout="constrained")


def save(picture, name):
    path = SOURCE / "pictures" / f"{name}.svg"
    picture.savefig(path, metadata={"Date": None})
    plt.close(picture)
    lines = [line.rstrip() for line in path.read_text().splitlines()]
    path.write_text("\n".join(lines) + "\n")
    print(path, path.stat().st_size)


def savings():
    quantiles = "observe q = quantiles(wealth, 0.05, 0.25, 0.5, 0.75, 0.95) every 6\n"
    mean = "observe m = mean(wealth) every 6\n"
    got = run(model("savings.sim") + quantiles + mean, file="out.observe.csv")
    years = [step / 12 for step in got["step"]]
    thousand = lambda key: [x / 1000 for x in got[key]]
    picture, axes = figure()
    area = {"lw": 0, "color": COLOURS[0]}
    axes.fill_between(years, thousand("q[0]"), thousand("q[4]"), alpha=0.2, label="90 %", **area)
    axes.fill_between(years, thousand("q[1]"), thousand("q[3]"), alpha=0.4, label="half", **area)
    axes.plot(years, thousand("q[2]"), label="median")
    axes.plot(years, thousand("m"), label="mean", ls="--")
    axes.plot([0, 30], [0, 36], label="paid in", color=GREY, ls=":")
    axes.set(xlabel="years", ylabel="wealth, thousands", xlim=(0, 30), ylim=(0, None))
    axes.legend(loc="upper left")
    save(picture, "savings")


def time():
    counts = [3, 4, 6, 8, 12, 20, 35, 60, 100, 200]
    decay = [summary(model("decay.sim"), "--steps", str(n)) for n in counts]
    walk = [summary(model("walk.sim"), "--steps", str(n)) for n in counts]
    picture, (left, right) = figure(columns=2)
    left.semilogx(counts, [row["exact"]["mean"] for row in decay], "o-", label="1 - exp(-rate dt)")
    left.semilogx(counts, [row["naive"]["mean"] for row in decay], "s-", label="rate dt")
    left.axhline(0.12246, color=GREY, ls=":")
    left.set(xlabel="steps", ylabel="share that is left", ylim=(0, 0.15))
    left.legend()
    right.semilogx(counts, [row["right"]["standard_deviation"] for row in walk], "o-", label="sigma sqrt(dt)")
    right.semilogx(counts, [row["wrong"]["standard_deviation"] for row in walk], "s-", label="sigma dt")
    right.axhline(6, color=GREY, ls=":")
    right.set(xlabel="steps", ylabel="deviation", ylim=(0, None))
    right.legend()
    save(picture, "time")


def errors():
    counts = [10 * 4**k for k in range(8)]

    def off(n, seed):
        rows = summary(model("dice.sim"), "--agents", str(n), "--seed", str(seed))
        return abs(rows["total"]["mean"] - 35)

    picture, axes = figure()
    for n in counts:
        axes.plot([n] * 8, [off(n, seed) for seed in range(8)], "o", color=COLOURS[0], ms=4, alpha=0.7)
    axes.plot(counts, [(10 * 35 / 12 / n) ** 0.5 for n in counts], color=COLOURS[1], label="standard error")
    axes.set(xscale="log", yscale="log", xlabel="agents", ylabel="error of the mean, 8 seeds")
    axes.legend()
    save(picture, "errors")


def leverage():
    cloud = run(model("sweep.sim"), "--agents", "350")
    many = run(model("sweep.sim"), "--agents", "400_000", "--seed", "1")
    bins = [[] for _ in range(25)]
    for place, growth in zip(many["leverage"], many["growth"]):
        bins[int(place / 0.4)].append(growth)
    middle = [0.4 * k + 0.2 for k in range(25)]
    picture, axes = figure()
    axes.plot(cloud["leverage"], cloud["growth"], "o", ms=2.5, alpha=0.45, mew=0, label="agents")
    axes.plot(middle, [sum(bin) / len(bin) for bin in bins], "s", ms=5, label="mean of 16,000 agents")
    axes.plot(middle, [250 * (0.0004 * x - 0.5 * 0.0001 * x * x) for x in middle], label="Kelly")
    axes.set(xlabel="leverage", ylabel="log of wealth after a year", xlim=(0, 10), ylim=(-2.5, 2.5))
    axes.legend(loc="upper left")
    save(picture, "leverage")


def lander():
    got = run(model("lander.sim"), "--agents", "100_000")
    size = 40
    sums = [[[0.0, 0] for _ in range(size)] for _ in range(size)]
    for gain, touch, score in zip(got["gain"], got["touch"], got["score"]):
        cell = sums[int(touch / 3.0 * size)][int(gain / 0.5 * size)]
        cell[0] += score
        cell[1] += 1
    mean = [[total / max(count, 1) for total, count in row] for row in sums]
    picture, axes = figure(height=3.8)
    image = axes.imshow(mean, origin="lower", aspect="auto", extent=(0, 0.5, 0, 3), cmap="viridis")
    axes.grid(False)
    axes.set(xlabel="gain", ylabel="touch")
    picture.colorbar(image, label="mean score")
    save(picture, "lander")


def methods():
    counts = [8 * 2**k for k in range(9)]
    rows = [summary(model("spring.sim"), "--steps", str(n)) for n in counts]
    picture, axes = figure()
    for name, mark in zip(("euler", "midpoint", "heun", "rk4"), "os^D"):
        dashes = "--" if name == "heun" else "-"
        # An error of nothing at all has no place on this axis.
        points = [(n, row[name]["mean"]) for n, row in zip(counts, rows) if row[name]["mean"] > 0]
        axes.loglog(*zip(*points), mark + dashes, label=name, ms=5)
    axes.axhline(6e-8, color=GREY, ls=":")
    axes.text(counts[0], 8e-8, "half a last place of 1.0")
    axes.set(xlabel="steps in a period", ylabel="error after one period")
    axes.legend(loc="upper right")
    save(picture, "methods")


def van_der_pol():
    text = """
agents 8
steps 1_000
state x = 3.5 * cos(0.785398 * f32(agent)) * (0.1 + 0.9 * f32(agent % 2))
state v = 3.5 * sin(0.785398 * f32(agent)) * (0.1 + 0.9 * f32(agent % 2))
step {
    integrate rk4(0.015) {
        x' = v
        v' = (1.0 - x * x) * v - x
    }
}
record x every 8
record v every 8
output x
"""
    got = run(text, file="out.record.csv")
    picture, axes = figure(height=4.2)
    for agent in range(8):
        points = [(x, v) for a, x, v in zip(got["agent"], got["x"], got["v"]) if a == agent]
        axes.plot(*zip(*points), lw=1.1, color=COLOURS[agent % 2])
        axes.plot(*points[0], "o", ms=5, color=COLOURS[agent % 2])
    axes.set(xlabel="x", ylabel="v")
    save(picture, "van_der_pol")


def towns():
    picture, (left, right) = figure(columns=2)
    ways = ((left, "1", "no lockdown", COLOURS[0]), (right, "0.05", "closed above 5 %", COLOURS[1]))
    for axes, limit, title, colour in ways:
        text = model("town.sim") + "world observe share = mean(health == Infected) every 4\n"
        got = run(text, "--agents", "10_000", "--param", f"limit={limit}", file="out.world.observe.csv")
        for world in range(10):
            rows = zip(got["step"], got["world"], got["share"])
            points = [(step, 100 * share) for step, number, share in rows if number == world]
            axes.plot(*zip(*points), lw=1, color=colour, alpha=0.8)
        axes.set(title=title, xlabel="days", ylim=(0, 22))
    left.set(ylabel="infected, %")
    save(picture, "towns")


def chaos():
    text = model("chaos.sim").replace("every 4", "every 1")
    text += "observe spread = quantiles(log2(max(gap, 1e-9)), 0.1, 0.9) every 1\n"
    got = run(text, file="out.observe.csv")
    picture, axes = figure()
    from_one = lambda key: got[key][1:]
    area = [from_one(key) for key in ("step", "spread[0]", "spread[1]")]
    axes.fill_between(*area, alpha=0.3, lw=0, label="80 % of agents")
    axes.plot(from_one("step"), from_one("typical"), label="mean")
    axes.plot([1, 20], [-21, -2], color=GREY, ls=":", label="doubling")
    axes.set(xlabel="step", ylabel="log2 of the gap")
    axes.legend(loc="lower right")
    save(picture, "chaos")


ALL = [savings, time, errors, leverage, lander, methods, van_der_pol, towns, chaos]

if __name__ == "__main__":
    for draw in ALL:
        if len(sys.argv) == 1 or draw.__name__ in sys.argv[1:]:
            draw()
