// What a run gave: a summary table, a histogram per column, curves of what was observed and recorded.

import { bandPlot, curvePlot, histogramPlot } from "./charts.js";
import { element } from "./markdown.js";
import { bands, histogram } from "./statistics.js";

/** Most plots of a kind. */
const MOST = 24;
/** Most values that the bands of a record look at. */
const MOST_VALUES = 400_000;

/** A number as `simc run` prints it: six digits. */
function shown(value) {
    if (value === undefined || value === null) return "";
    if (Number.isNaN(value)) return "NaN";
    if (!Number.isFinite(value)) return value > 0 ? "inf" : "-inf";
    const size = Math.abs(value);
    if (size !== 0 && (size >= 1e9 || size < 1e-4)) return value.toExponential(4);
    return String(Number(value.toPrecision(6)));
}

const grouped = (value) => Number(value).toLocaleString("en");
const PARTS = ["x", "y", "z", "w"];

/** The names of the values of a field, in the order of storage. */
function spellings(field) {
    let names = [field.name];
    for (const length of field.shape) {
        names = names.flatMap((name) => Array.from({ length }, (_, k) => `${name}[${k}]`));
    }
    if (field.components > 1)
        names = names.flatMap((name) => PARTS.slice(0, field.components).map((part) => `${name}.${part}`));
    return names;
}

const column = (values, width, k) => (width === 1 ? values : values.filter((_, at) => at % width === k));

export function show(parent, run, manifest) {
    parent.replaceChildren();
    const outputs = [
        ...manifest.outputs.map((field) => ({ field, values: run.outputs[field.name], of: "" })),
        ...(manifest.world?.outputs ?? []).map((field) => ({
            field,
            values: run.worldOutputs[field.name],
            of: "world",
        })),
    ].filter(({ values }) => values !== undefined);
    if (run.statistics) parent.append(table(outputs, run.statistics));
    const plots = element("div", { class: "plots" });
    parent.append(plots);
    const left = [curves(plots, run), records(plots, run), histograms(plots, outputs)];
    const missing = left.reduce((sum, count) => sum + count, 0);
    if (missing > 0) parent.append(element("p", { class: "quiet" }, `${missing} more plots are left out.`));
}

const HEAD = ["output", "count", "mean", "std err", "std dev", "min", "25 %", "median", "75 %", "max"];

function table(outputs, statistics) {
    const rows = [];
    for (const { field, of } of outputs) {
        const names = spellings(field);
        const found = statistics[field.name] ?? [];
        const title = (k) => (found.length === names.length ? names[k] : field.name);
        for (const [k, one] of found.slice(0, 64).entries()) {
            const nan = one.nan > 0 ? ` (${grouped(one.nan)} NaN)` : "";
            const cells = [
                `${of ? `${of} ` : ""}${title(k)}`,
                grouped(one.count) + nan,
                one.mean,
                one.standardError,
                one.deviation,
                one.min,
                one.q1,
                one.median,
                one.q3,
                one.max,
            ];
            rows.push(
                element(
                    "tr",
                    {},
                    ...cells.map((cell, at) =>
                        element(
                            at === 0 ? "th" : "td",
                            at === 0 ? { scope: "row" } : {},
                            typeof cell === "string" ? cell : shown(cell),
                        ),
                    ),
                ),
            );
        }
    }
    const head = element(
        "thead",
        {},
        element("tr", {}, ...HEAD.map((name) => element("th", { scope: "col" }, name))),
    );
    return element(
        "div",
        { class: "scroll", tabindex: "0", role: "region", "aria-label": "Summary of the outputs" },
        element("table", { id: "summary" }, head, element("tbody", {}, ...rows)),
    );
}

function histograms(plots, outputs) {
    let count = 0;
    for (const { field, values, of } of outputs) {
        const names = spellings(field);
        for (const [k, name] of names.entries()) {
            if ((count += 1) > MOST) continue;
            const found = histogram(column(values, names.length, k), field.scalar !== "f32");
            const title = of ? `${of} ${name}` : name;
            if (found) histogramPlot(plots, title, found);
            else plots.append(element("p", {}, `${title}: no finite value`));
        }
    }
    return Math.max(0, count - MOST);
}

const finite = (values) => Array.from(values, (value) => (Number.isFinite(value) ? value : null));

/** Series of the population, and of worlds: a line for each of a few. */
function curves(plots, run) {
    let count = 0;
    for (const [name, series] of Object.entries(run.observed)) {
        if ((count += 1) > MOST) continue;
        const samples = series.steps.length;
        const width = samples === 0 ? 0 : series.values.length / samples;
        if (width === 0) continue;
        const shownLines = Math.min(width, 5);
        const lines = Array.from({ length: shownLines }, (_, k) => ({
            label: String(k),
            values: finite(Array.from({ length: samples }, (_, at) => series.values[at * width + k])),
        }));
        const of =
            series.of === "worlds"
                ? `, ${width > shownLines ? `the first ${shownLines} of ${grouped(width)}` : width} worlds`
                : "";
        const title = width === 1 ? name : `${name}${of || `, ${shownLines} of ${width} values`}`;
        curvePlot(plots, title, Array.from(series.steps), lines);
    }
    return Math.max(0, count - MOST);
}

/** Records of agents: quantiles over agents, and a few of them. */
function records(plots, run) {
    let count = 0;
    for (const [name, series] of Object.entries(run.records)) {
        const samples = series.steps.length;
        if (samples === 0) continue;
        const [, rows, ...inner] = series.shape;
        const width = inner.reduce((product, length) => product * length, 1);
        const agents = Math.min(rows, Math.max(10, Math.floor(MOST_VALUES / samples / width)));
        for (let k = 0; k < width; k += 1) {
            if ((count += 1) > MOST) continue;
            const at = (agent, sample) => (sample * rows + agent) * width + k;
            const found = bands(series.values, agents, samples, at);
            const which = agents < rows ? `, the first ${grouped(agents)} agents` : "";
            const part = width > 1 ? (width <= 4 ? `.${PARTS[k]}` : `[${k}]`) : "";
            bandPlot(plots, `${name}${part}${which}`, Array.from(series.steps), {
                bands: found.bands,
                paths: found.paths.map(finite),
            });
        }
    }
    return Math.max(0, count - MOST);
}

/** What ran, where, how fast. */
export function describe({ report }) {
    const three = (value) => shown(Number(value.toPrecision(3)));
    const { runSeconds: seconds, agentSteps, seed, reason } = report;
    const size = `${grouped(report.agents)} agents × ${grouped(report.steps)} steps`;
    const where = report.backend === "gpu" ? `the GPU (${report.device})` : "the CPU in WebAssembly";
    const million = agentSteps / seconds / 1e6;
    const rate = seconds > 0 ? `, ${three(million)} million agent-steps a second` : "";
    return `${size} on ${where} in ${three(seconds)} s${rate}; seed ${seed}${reason ? ` (${reason})` : ""}.`;
}
