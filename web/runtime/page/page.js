// The page of a model: a control for each value, a run, and its results.
import { curves, histogram, shown } from "./chart.js";

const $ = (id) => document.getElementById(id);
const { load, manifest } = await import(new URL($("script").dataset.model, document.baseURI));
const world = manifest.world ?? { inputs: [], outputs: [] };

/** Most values of an output or array that have a chart or control of their own. */
const FEW = 8;
/** Most curves of agents or worlds in a chart. */
const MOST_CURVES = 40;

// Controls.

function control(parent, name, doc, made) {
  const id = `value-${name}`;
  const row = document.createElement("div");
  row.className = "control";
  const label = document.createElement("label");
  label.htmlFor = id;
  label.textContent = name;
  const first = Array.isArray(made) ? made[0] : made;
  first.id = id;
  if (doc) {
    row.title = doc;
    const about = document.createElement("small");
    about.id = `${id}-about`;
    about.textContent = doc;
    first.setAttribute("aria-describedby", about.id);
    row.append(label, ...[made].flat(), about);
  } else row.append(label, ...[made].flat());
  parent.append(row);
}

function input(type, attributes) {
  const made = document.createElement("input");
  made.type = type;
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== undefined && value !== null) made.setAttribute(key, value);
  }
  return made;
}

const floats = new Float32Array(1);
const words = new Uint32Array(floats.buffer);

/** The number that a word of storage stands for, with the digits of an `f32`. */
function valueOf(scalar, word) {
  if (scalar === "i32") return word | 0;
  if (scalar !== "f32") return word;
  words[0] = word;
  return Number(floats[0].toPrecision(7));
}

function dimensions(field) {
  return [...field.shape, ...(field.components > 1 ? [field.components] : [])];
}

/** By name: gives the value of a control, `undefined` for the default. */
const readers = new Map();

function number(field, start, range) {
  const whole = field.scalar !== "f32";
  const box = input("number", { step: whole ? 1 : "any", value: start, min: range?.[0], max: range?.[1] });
  box.inputMode = "decimal";
  if (start === undefined) box.required = true;
  if (!range) return [[box], box];
  const step = whole ? 1 : (range[1] - range[0]) / 1000;
  const slider = input("range", { min: range[0], max: range[1], step, value: start });
  slider.setAttribute("aria-label", `${field.name}, from ${range[0]} to ${range[1]}`);
  slider.addEventListener("input", () => {
    box.value = whole ? slider.value : Number(Number(slider.value).toPrecision(6));
  });
  box.addEventListener("input", () => {
    slider.value = box.value;
  });
  return [[box, slider], box];
}

function addParam(parent, param) {
  const start = param.default?.map((word) => valueOf(param.scalar, word));
  const dims = dimensions(param);
  if (dims.length > 0) {
    const text = document.createElement("textarea");
    text.rows = Math.min(4, dims[0]);
    text.value = start ? start.join(", ") : "";
    text.required = !start;
    control(parent, param.name, `${param.doc}\n${dims.join(" × ")} numbers`.trim(), text);
    readers.set(param.name, () => numbers(text.value, param.name));
  } else if (param.variants.length > 0) {
    const list = document.createElement("select");
    for (const variant of param.variants) list.append(new Option(variant));
    if (start) list.selectedIndex = start[0];
    control(parent, param.name, param.doc, list);
    readers.set(param.name, () => list.value);
  } else if (param.scalar === "bool") {
    const box = input("checkbox", {});
    box.checked = Boolean(start?.[0]);
    control(parent, param.name, param.doc, box);
    readers.set(param.name, () => box.checked);
  } else {
    const [parts, box] = number(param, start?.[0], param.range);
    control(parent, param.name, param.doc, parts);
    readers.set(param.name, () => (box.value === "" ? undefined : Number(box.value)));
  }
}

function numbers(text, name) {
  const parts = text.split(/[\s,;]+/).filter((part) => part !== "");
  const found = parts.map((part) => (part === "true" ? 1 : part === "false" ? 0 : Number(part)));
  const wrong = found.findIndex((value) => Number.isNaN(value) && !/^nan$/i.test(parts[0]));
  if (wrong >= 0) throw new Error(`${name}: “${parts[wrong]}” is no number`);
  return Float64Array.from(found);
}

/** A table of a text: lines of numbers, of which the first may be a heading. */
function table(text, name) {
  const [first = "", ...rest] = text.trim().split(/\r?\n/);
  const heading = /[a-z_]/i.test(first.replace(/nan|inf|true|false|e[+-]?\d/gi, ""));
  return numbers((heading ? rest : [first, ...rest]).join("\n"), name);
}

/** Addresses of files for tables and inputs, by name, that the page has where none is chosen. */
const own = JSON.parse($("script").dataset.files ?? "{}");

async function fetched(address) {
  const response = await fetch(address);
  if (!response.ok) throw new Error(`${address}: ${response.status}`);
  return response;
}

function addTable(parent, field, required) {
  const { name } = field;
  const dims = dimensions(field).map((length) => length || "any number");
  const instead = own[name] ? `, in place of ${own[name].split("/").at(-1)}` : "";
  const size = dims.length ? `, ${dims.join(" × ")}` : "";
  const about = `${field.doc}\nA text file of numbers (CSV)${size}${instead}`;
  const file = input("file", { accept: ".csv,.txt,.tsv" });
  file.required = required && !instead;
  control(parent, name, about.trim(), file);
  readers.set(name, async () => {
    const given = file.files[0] ?? (own[name] && (await fetched(own[name])));
    return given && table(await given.text(), name);
  });
}

/** As many agents as a processor computes in some seconds, in whole worlds; more can be asked for. */
function startingAgents() {
  const members = manifest.world?.members ?? 1;
  const steps = Math.max(1, manifest.has_step ? (manifest.steps ?? 1000) : 1);
  const most = Math.min(200_000, 2e7 / steps / (1 + (manifest.inner_iterations ?? 100)));
  const agents = Math.min(manifest.agents ?? 10_000, most);
  return Math.max(1, Math.floor(agents / members)) * members;
}

function addRunFields() {
  const parent = $("run-fields");
  const count = (name, start, least) => {
    const box = input("number", { min: least, step: 1, value: start });
    box.required = start === undefined || start === null;
    control(parent, name, "", box);
    readers.set(name, () => (box.value === "" ? undefined : Number(box.value)));
  };
  count("agents", startingAgents(), 1);
  if (manifest.has_step) count("steps", manifest.steps, 0);
  if (manifest.world) count("world", manifest.world.members, 1);
  const seed = input("text", { value: "0", pattern: "[0-9]+", inputmode: "numeric" });
  control(parent, "seed", "", seed);
  readers.set("seed", () => BigInt(seed.value));
  const list = document.createElement("select");
  for (const [value, text] of [["auto", "GPU or CPU"], ["gpu", "GPU"], ["cpu", "CPU"]]) {
    list.append(new Option(text, value));
  }
  control(parent, "backend", "", list);
  readers.set("backend", () => list.value);
}

function addControls() {
  // Lines of a comment are as long as the editor's window; paragraphs are what they mean, and formulas.
  const paragraphs = manifest.doc.split("\n").slice(1).join("\n").replace(/^\n+/, "").split(/\n\s*\n/);
  const [first, ...rest] = paragraphs.map((text) => {
    const apart = text.startsWith("    ");
    const made = document.createElement(apart ? "pre" : "p");
    made.textContent = apart ? text.replace(/^ {4}/gm, "") : text.replace(/\s*\n\s*/g, " ");
    return made;
  });
  $("about").append(first);
  $("more").append(...rest);
  $("more").hidden = rest.length === 0;
  addRunFields();
  for (const param of manifest.params) addParam($("values"), param);
  $("values").hidden = manifest.params.length === 0;
  for (const field of manifest.data) addTable($("tables"), field, true);
  for (const field of [...manifest.inputs, ...(world.inputs ?? [])]) {
    addTable($("tables"), field, field.source === "required");
  }
  $("tables").hidden = !$("tables").querySelector("input");
}

// Results.

function cell(row, text, kind = "td") {
  const made = document.createElement(kind);
  made.textContent = text;
  if (kind === "th") made.scope = "col";
  row.append(made);
}

function summary(run) {
  const table = document.createElement("table");
  const columns = ["count", "mean", "standardError", "deviation", "min", "q1", "median", "q3", "max"];
  const names = ["output", "count", "mean", "std err", "std dev", "min", "25 %", "median", "75 %", "max"];
  table.createCaption().textContent = "Outputs";
  const head = table.createTHead().insertRow();
  for (const name of names) cell(head, name, "th");
  const body = table.createTBody();
  for (const [name, all] of Object.entries(run.statistics ?? {})) {
    all.forEach((of, number) => {
      const row = body.insertRow();
      cell(row, all.length > 1 ? `${name} [${number}]` : name);
      for (const column of columns) cell(row, shown(of[column], 6));
    });
  }
  $("summary").replaceChildren(...(body.rows.length > 0 ? [table] : []));
}

/** Every `width`-th value from one on. */
function part(values, first, width) {
  if (width === 1) return values;
  const found = new values.constructor(Math.floor(values.length / width));
  for (let at = 0; at < found.length; at++) found[at] = values[at * width + first];
  return found;
}

function charts(run) {
  const found = [];
  for (const [name, values] of Object.entries({ ...run.outputs, ...run.worldOutputs })) {
    const width = run.shapes[name].slice(1).reduce((a, b) => a * b, 1);
    for (let at = 0; at < Math.min(width, FEW); at++) {
      found.push(histogram(width > 1 ? `${name} [${at}]` : name, part(values, at, width)));
    }
  }
  for (const [name, series] of Object.entries({ ...run.observed, ...run.records })) {
    const samples = series.steps.length;
    const width = series.values.length / samples;
    const lines = Array.from({ length: Math.min(width, MOST_CURVES) }, (_, at) =>
      part(series.values, at, width),
    );
    const more = width > MOST_CURVES ? ` (${MOST_CURVES} of ${width.toLocaleString("en-US")})` : "";
    found.unshift(curves(name + more, series.steps, lines, lines.map((_, at) => `${name} [${at}]`)));
  }
  $("charts").replaceChildren(...found.filter(Boolean));
}

// Runs.

let model;
let stop;

function status(text) {
  $("status").textContent = text;
}

function failed(error) {
  $("error").textContent = error.rendered ?? error.message;
  $("error").hidden = false;
  status("No results.");
}

async function launch() {
  const asked = {};
  const kinds = { params: manifest.params, data: manifest.data };
  kinds.inputs = [...manifest.inputs, ...(world.inputs ?? [])];
  const named = new Set(Object.values(kinds).flat().map((it) => it.name));
  for (const [name, read] of readers) if (!named.has(name)) asked[name] = await read();
  for (const [kind, fields] of Object.entries(kinds)) {
    asked[kind] = {};
    for (const { name } of fields) {
      const value = await readers.get(name)();
      if (value !== undefined) asked[kind][name] = value;
    }
  }
  return asked;
}

async function run() {
  $("error").hidden = true;
  $("error").textContent = "";
  $("run").disabled = true;
  $("stop").disabled = false;
  $("progress").value = 0;
  stop = new AbortController();
  try {
    const asked = await launch();
    model ??= await load();
    status("Running…");
    const progress = (done, all) => {
      $("progress").value = all > 0 ? done / all : 0;
    };
    const started = performance.now();
    const result = await model.run({ ...asked, keepStates: false, signal: stop.signal, progress });
    const seconds = (performance.now() - started) / 1000;
    $("progress").value = 1;
    summary(result);
    charts(result);
    const { backend, device, agents, steps, agentSteps, reason } = result.report;
    const where = backend === "gpu" ? `on the GPU (${device})` : "on the CPU";
    const rate = Number((agentSteps / seconds).toPrecision(3));
    const [of, speed] = manifest.has_step
      ? [`, ${shown(steps)} steps`, `: ${shown(rate)} agent-steps/s`]
      : ["", ""];
    status(`${shown(agents)} agents${of} ${where} in ${shown(seconds, 3)} s${speed} (${reason}).`);
    document.body.dataset.done = String(Number(document.body.dataset.done ?? 0) + 1);
  } catch (error) {
    failed(error);
    document.body.dataset.failed = error.code ?? "page";
  } finally {
    $("run").disabled = false;
    $("stop").disabled = true;
  }
}

addControls();
status("Ready.");
$("launch").addEventListener("submit", (event) => {
  event.preventDefault();
  run();
});
$("stop").addEventListener("click", () => stop?.abort());
if ($("launch").checkValidity()) run();
