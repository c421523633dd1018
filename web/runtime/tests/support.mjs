// What the tests share: the built runtime, the examples with their tables, and native results.
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("../../..", import.meta.url));
export const built = process.env.SIM_WEB_RUNTIME ?? join(root, "target/web/runtime");
export const simc = process.env.SIMC ?? join(root, "target/debug/simc");
export const core = await import(join(built, "core.js"));
export const shell = await import(join(built, "simc-runtime.js"));

const examplesFolder = join(root, "lang-examples");
export const examples = readdirSync(examplesFolder)
  .filter((file) => file.endsWith(".sim"))
  .map((file) => file.slice(0, -4));

export function source(name) {
  return readFileSync(join(examplesFolder, `${name}.sim`), "utf8");
}

/** Most agent-steps of a run that is compared. */
const MOST = 2_000_000;

/** Numbers of agents of an example that keep its run short, in whole worlds. */
export function agentsOf(manifest) {
  const members = manifest.world?.members ?? 1;
  const steps = manifest.has_step ? manifest.steps : 1;
  const agents = Math.min(manifest.agents, Math.floor(MOST / Math.max(1, steps)));
  return Math.max(1, Math.floor(agents / members)) * members;
}

/** An array of NumPy's format. */
export function npy(path) {
  const bytes = readFileSync(path);
  const start = 10 + bytes.readUInt16LE(8);
  const header = bytes.toString("latin1", 10, start);
  const type = /'descr': '([^']+)'/.exec(header)[1];
  const shape = /'shape': \(([^)]*)\)/.exec(header)[1].split(",").filter((it) => it.trim()).map(Number);
  const data = bytes.buffer.slice(bytes.byteOffset + start, bytes.byteOffset + bytes.length);
  const types = {
    "<f4": Float32Array, "<f8": Float64Array, "<i4": Int32Array, "<u4": Uint32Array, "|b1": Uint8Array,
    "|u1": Uint8Array,
  };
  if (!types[type]) throw new Error(`${path} has the type ${type}`);
  return { values: new types[type](data), shape };
}

function csv(path) {
  const lines = readFileSync(path, "utf8").trim().split(/\r?\n/);
  const rows = /[a-z_]/i.test(lines[0].replace(/nan|inf|e[+-]?\d/gi, "")) ? lines.slice(1) : lines;
  return Float64Array.from(rows.flatMap((line) => line.split(",").map(Number)));
}

/** The tables of an example: their files and values. */
export function tablesOf(name, manifest) {
  return manifest.data.map((table) => {
    const base = join(examplesFolder, "data", `${name}_${table.name}`);
    const path = existsSync(`${base}.npy`) ? `${base}.npy` : `${base}.csv`;
    return { name: table.name, path, values: path.endsWith(".npy") ? npy(path).values : csv(path) };
  });
}

/** What the native CPU backend gives: arrays by the names of their files. */
export function native(name, agents, seed, tables = []) {
  const folder = mkdtempSync(join(tmpdir(), "sim-web-"));
  try {
    const data = tables.flatMap((table) => ["--data", `${table.name}=${table.path}`]);
    const args = ["run", join(examplesFolder, `${name}.sim`), "--agents", `${agents}`, "--seed", `${seed}`];
    const rest = ["--backend", "cpu", "--format", "npy", "-o", `${folder}/`, "-q"];
    execFileSync(simc, [...args, ...data, ...rest], { stdio: ["ignore", "ignore", "inherit"] });
    const files = readdirSync(folder).filter((file) => file.endsWith(".npy"));
    return Object.fromEntries(files.map((file) => [file.slice(0, -4), npy(join(folder, file))]));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Mean and deviation of each number of the outputs of a native run on the CPU, in the order of the model. */
export function nativeMeans(name, { agents, seed }) {
  const model = join(examplesFolder, `${name}.sim`);
  const { data } = JSON.parse(execFileSync(simc, ["inspect", model, "--json"], { encoding: "utf8" }));
  const tables = tablesOf(name, { data }).flatMap((table) => ["--data", `${table.name}=${table.path}`]);
  const launch = ["--agents", `${agents}`, "--seed", `${seed}`, "--backend", "cpu", "-q", "--json"];
  const said = execFileSync(simc, ["run", model, ...launch, ...tables], { encoding: "utf8" });
  const { outputs, world_outputs: ofWorlds } = JSON.parse(said);
  return [...outputs, ...ofWorlds].map((it) => ({ mean: it.mean, deviation: it.standard_deviation }));
}

/** The results of a run by the names of the files in which `simc run` has them. */
export function byFile(run, manifest) {
  const found = { ...run.outputs, ...run.worldOutputs };
  for (const [name, series] of Object.entries(run.observed)) {
    const prefix = series.of === "worlds" ? "world.observe" : "observe";
    found[`${prefix}.${name}`] = series.values;
  }
  for (const [name, series] of Object.entries(run.records)) found[`record.${name}`] = series.values;
  return found;
}

const words = (values) =>
  values.BYTES_PER_ELEMENT === 1 ? values : new Uint32Array(values.buffer, values.byteOffset, values.length);

/** How many values differ in any bit, and the largest difference relative to the largest value. */
export function difference(found, expected) {
  if (found.length !== expected.length) return { count: Infinity, relative: Infinity };
  const [a, b] = [words(found), words(expected)];
  let [count, worst, scale] = [0, 0, 0];
  for (let at = 0; at < a.length; at++) {
    if (Number.isFinite(expected[at])) scale = Math.max(scale, Math.abs(expected[at]));
    if (a[at] === b[at] || (Number.isNaN(found[at]) && Number.isNaN(expected[at]))) continue;
    count += 1;
    worst = Math.max(worst, Math.abs(found[at] - expected[at]));
  }
  return { count, of: a.length, relative: worst / (scale || 1) };
}
