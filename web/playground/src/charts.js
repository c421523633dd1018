// Plots with uPlot, in the colours of the page.

import uPlot from "uplot";
import { element } from "./markdown.js";

const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const HEIGHT = 190;

const compact = (value) => {
    const size = Math.abs(value);
    if (size !== 0 && (size >= 1e6 || size < 1e-4)) return value.toExponential(1).replace("e+", "e");
    return String(Number(value.toPrecision(4)));
};

const said = (value) => (value === null ? "not a number" : compact(value));

function axes(x, y) {
    const each = {
        stroke: color("--quiet"),
        grid: { stroke: color("--line"), width: 1 },
        ticks: { stroke: color("--line"), width: 1 },
        font: "12px system-ui",
    };
    const title = (label) => (label ? { label, labelSize: 18, labelFont: "12px system-ui" } : {});
    const values = (_, ticks) => ticks.map((tick) => (tick === null ? "" : compact(tick)));
    return [
        { ...each, values, ...title(x), size: 34 },
        { ...each, values, ...title(y), size: 58 },
    ];
}

/** A figure with a title, a description for those who cannot see it, and a plot as wide as it. */
function figure(parent, title, description, options, data) {
    const box = element("div", { class: "plot", role: "img", "aria-label": `${title}: ${description}` });
    const made = element("figure", {}, element("figcaption", {}, title), box);
    parent.append(made);
    const width = Math.max(240, box.clientWidth);
    const plot = new uPlot(
        {
            width,
            height: HEIGHT,
            legend: { show: false },
            cursor: { y: false },
            padding: [8, 12, 0, 0],
            ...options,
        },
        data,
        box,
    );
    const observer = new ResizeObserver(() => {
        if (!box.isConnected) {
            observer.disconnect();
            plot.destroy();
        } else if (box.clientWidth > 0)
            plot.setSize({ width: Math.max(240, box.clientWidth), height: HEIGHT });
    });
    observer.observe(box);
    return made;
}

export function histogramPlot(parent, title, { centers, counts, width }) {
    const least = centers[0] - width / 2;
    const most = centers.at(-1) + width / 2;
    const bars = uPlot.paths.bars({ size: [1, Infinity], gap: centers.length > 30 ? 0 : 2 });
    const options = {
        scales: {
            x: { time: false, range: [least, most] },
            y: { range: (_, __, top) => [0, top * 1.05 || 1] },
        },
        axes: axes("", "count"),
        series: [
            {},
            {
                label: "count",
                stroke: color("--accent"),
                fill: color("--accent-soft"),
                width: 1,
                paths: bars,
                points: { show: false },
            },
        ],
    };
    const total = counts.reduce((sum, count) => sum + count, 0);
    const top = counts.indexOf(Math.max(...counts));
    const range = `from ${compact(least)} to ${compact(most)}, most near ${compact(centers[top])}`;
    const description = `histogram of ${total} values ${range}`;
    return figure(parent, title, description, options, [centers, counts]);
}

const LINES = ["--accent", "--second", "--third", "--fourth", "--fifth"];

/** Lines over steps. */
export function curvePlot(parent, title, steps, lines) {
    const options = {
        scales: { x: { time: false } },
        axes: axes("step", ""),
        series: [
            { label: "step" },
            ...lines.map((line, k) => ({
                label: line.label,
                stroke: color(LINES[k % LINES.length]),
                width: 1.5,
                points: { show: steps.length < 3 },
            })),
        ],
    };
    const last = lines[0].values.at(-1);
    const description = `curve over ${steps.length} samples, at the end ${said(last)}`;
    return figure(parent, title, description, options, [steps, ...lines.map((line) => line.values)]);
}

/** Quantiles of a record over steps as bands, with the paths of a few agents. */
export function bandPlot(parent, title, steps, { bands, paths }) {
    const none = { points: { show: false } };
    const edge = { ...none, stroke: "transparent", width: 0 };
    const options = {
        scales: { x: { time: false } },
        axes: axes("step", ""),
        series: [
            {},
            edge,
            edge,
            { ...none, stroke: color("--accent"), width: 2 },
            edge,
            edge,
            ...paths.map(() => ({ ...none, stroke: color("--quiet"), width: 0.7 })),
        ],
        bands: [
            { series: [5, 1], fill: color("--accent-faint") },
            { series: [4, 2], fill: color("--accent-soft") },
        ],
    };
    const middle = bands[2].at(-1);
    const what = `median and quantiles 5, 25, 75 and 95 % of agents, and ${paths.length} of them`;
    const description = `${what}; the median ends at ${said(middle)}`;
    return figure(parent, title, description, options, [steps, ...bands, ...paths]);
}
