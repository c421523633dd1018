// The examples of the language as the sites need them: their texts, what their headers say, and their tables.
import { readFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("..", import.meta.url));
const folder = join(root, "lang-examples");

/**
 * All examples by name: `{ name, file, source, title, paragraphs, tables }`, where `tables` has the file of
 * each table that the example needs.
 */
export async function examples() {
  const readme = await readFile(join(folder, "README.md"), "utf8");
  const commands = readme.replace(/\\\n\s*/g, "").split("\n").filter((line) => line.startsWith("simc run"));
  const found = [];
  for (const entry of (await readdir(folder)).filter((name) => name.endsWith(".sim")).sort()) {
    const file = join(folder, entry);
    const source = await readFile(file, "utf8");
    const command = commands.find((line) => line.includes(`lang-examples/${entry} --data`)) ?? "";
    const tables = {};
    for (const [, table, path] of command.matchAll(/--data (\w+)=(\S+)/g)) tables[table] = join(root, path);
    const [first, ...paragraphs] = header(source);
    const title = first.replace(/\.$/, "");
    found.push({ name: entry.slice(0, -4), file, source, title, paragraphs, tables });
  }
  return found;
}

/** The paragraphs of a model's documentation, but for those that are set apart, such as formulas. */
function header(source) {
  const lines = source.split("\n").filter((line) => line.startsWith("//!"));
  const paragraphs = lines.map((line) => line.slice(3)).join("\n").split(/\n\s*\n/);
  return paragraphs.filter((it) => !it.startsWith("  ")).map((it) => it.trim().replace(/\s+/g, " "));
}

/** A table as CSV; one of NumPy's files with the fewest digits that say a float. */
export async function csv(path) {
  const bytes = await readFile(path);
  return path.endsWith(".npy") ? ofNumpy(bytes) : bytes.toString("utf8");
}

function ofNumpy(bytes) {
  const length = bytes[6] === 1 ? bytes.readUInt16LE(8) : bytes.readUInt32LE(8);
  const start = (bytes[6] === 1 ? 10 : 12) + length;
  const about = bytes.toString("latin1", 10, start);
  const type = /'(<[fi]4)'/.exec(about)?.[1];
  if (!type || about.includes("True")) throw new Error(`not numbers of 32 bits by rows: ${about}`);
  const read = (at) => (type === "<f4" ? shortest(bytes.readFloatLE(at)) : String(bytes.readInt32LE(at)));
  const shape = /\(([\d, ]*)\)/.exec(about)[1].split(",").filter((part) => part.trim()).map(Number);
  const width = shape.slice(1).reduce((product, dim) => product * dim, 1);
  const values = Array.from({ length: (bytes.length - start) / 4 }, (_, k) => read(start + 4 * k));
  const rows = [];
  for (let at = 0; at < values.length; at += width) rows.push(values.slice(at, at + width).join(","));
  return `${rows.join("\n")}\n`;
}

function shortest(value) {
  for (let digits = 1; digits < 9; digits += 1) {
    const text = Number(value.toPrecision(digits));
    if (Math.fround(text) === value) return String(text);
  }
  return String(value);
}
