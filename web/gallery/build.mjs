// Builds the gallery: a page for each example, an index with their pictures, and the benchmark page.
//
//   node build.mjs FOLDER
//
// It needs the command `simc` (SIMC names it) and target/web/runtime, of which all pages share one copy.
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { cp, mkdir, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { csv, examples, root } from "../examples.mjs";

const here = fileURLToPath(new URL(".", import.meta.url));
const out = process.argv[2];
const simc = process.env.SIMC ?? join(root, "target/debug/simc");
const runtime = process.env.SIM_WEB_RUNTIME ?? join(root, "target/web/runtime");

/** Most agent-steps of the run of a picture. */
const MOST = 4_000_000;
/** Size of a picture, and the height of the title above its plot, which is cut off. */
const [WIDTH, HEIGHT, TITLE] = [440, 392, 76];

const json = async (path) => JSON.parse(await readFile(path, "utf8"));
const escaped = (text) =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");

function run(...args) {
  return execFileSync(simc, args, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
}

/** A text with `{{name}}` replaced. */
function filled(template, values) {
  return template.replace(/{{(\w+)}}/g, (_, name) => values[name]);
}

/** A text with something put before a part that it must have. */
function before(text, part, more) {
  if (!text.includes(part)) throw new Error(`the page of a model has no ${part} any more`);
  return text.replace(part, () => more + part);
}

/** Copies the tables of an example as CSV; gives their addresses for pages in folders beside it. */
async function copyTables(tables) {
  const found = {};
  for (const [name, path] of Object.entries(tables)) {
    const file = basename(path).replace(/\.npy$/, ".csv");
    await writeFile(join(out, "data", file), await csv(path));
    found[name] = `../data/${file}`;
  }
  return found;
}

const tableArguments = (tables) =>
  Object.entries(tables).flatMap(([name, path]) => ["--data", `${name}=${path}`]);

/** Agents of a picture's run: those of the model, or fewer, in whole worlds. */
function agentsOf(example) {
  const model = JSON.parse(run("inspect", example.file, "--json"));
  const members = model.world ?? 1;
  const agents = Math.min(model.agents, Math.floor(MOST / Math.max(1, model.steps ?? 1)));
  return Math.max(1, Math.floor(agents / members)) * members;
}

/** Draws the pictures of an example, light and dark; `spread` has inputs with ranges over the agents. */
async function draw(example, { show, spread = {} }) {
  const agents = agentsOf(example);
  const launch = ["--agents", `${agents}`, "--backend", "cpu", "-q", ...tableArguments(example.tables)];
  for (const [name, [from, to]] of Object.entries(spread)) {
    const file = join(out, "data", `${example.name}_${name}.csv`);
    const values = Array.from({ length: agents }, (_, k) => from + ((to - from) * k) / (agents - 1));
    await writeFile(file, `${name}\n${values.join("\n")}\n`);
    launch.push("--input", `${name}=${file}`);
  }
  for (const theme of ["light", "dark"]) {
    const picture = join(out, example.name, `${theme}.svg`);
    const plot = ["--plot", picture, "--show", show, "--theme", theme, "--size", `${WIDTH}x${HEIGHT}`];
    run("run", example.file, ...launch, ...plot);
    const text = await readFile(picture, "utf8");
    const size = `width="${WIDTH}" height="${HEIGHT}" viewBox="0 0 ${WIDTH} ${HEIGHT}"`;
    if (!text.includes(size)) throw new Error(`${picture} is not as large as it should be`);
    const height = HEIGHT - TITLE;
    const cut = `width="${WIDTH}" height="${height}" viewBox="0 ${TITLE} ${WIDTH} ${height}"`;
    await writeFile(picture, text.replace(size, cut));
  }
}

function picture(folder, alt) {
  const size = `width="${WIDTH}" height="${HEIGHT - TITLE}"`;
  const image = `<img src="${folder}light.svg" ${size} alt="${escaped(alt)}"`;
  const dark = `<source srcset="${folder}dark.svg" media="(prefers-color-scheme: dark)">`;
  return `<picture>${dark}${image} loading="lazy"></picture>`;
}

/** The page of an example: the built one with a way back, the model's text and its picture. */
async function page(example, about) {
  const folder = join(out, example.name);
  run("build", example.file, "--target", "web", "--runtime-url", "../runtime", "-o", folder);
  await draw(example, about);
  const files = escaped(JSON.stringify(await copyTables(example.tables)));
  const path = join(folder, "index.html");
  let text = await readFile(path, "utf8");
  text = before(text, ' id="script"', ` data-files="${files}"`);
  text = before(text, "<link rel=\"icon\"", '<link rel="stylesheet" href="../gallery.css">\n');
  text = before(text, "<header>", '<nav><a href="../">All models</a></nav>\n');
  const source = `<summary>Text of the model</summary><pre tabindex="0">${escaped(example.source)}</pre>`;
  text = before(text, "</header>", `<details class="source">${source}</details>\n`);
  const figure = `<figure class="preview">${picture("", `A plot of ${about.show}`)}</figure>`;
  text = before(text, '<div class="scroll" id="summary"', `${figure}\n`);
  await writeFile(path, text);
}

function card(example, { topics, show }) {
  const [title, about] = described(example);
  return filled(
    `<li data-topics="{{topics}}"><a href="{{name}}/">{{picture}}<h2>{{title}}</h2></a>
<p>{{about}}</p><p class="topics"><code>{{name}}</code> · {{list}}</p></li>`,
    {
      name: example.name,
      title: escaped(title),
      about: escaped(about).replace(/`(.+?)`/g, "<code>$1</code>"),
      topics: escaped(topics.join(",")),
      list: escaped(topics.join(", ")),
      picture: picture(`${example.name}/`, `A plot of ${show}`),
    },
  );
}

/** The title of an example and a line about it: what stands behind a colon, or the next sentence. */
function described({ title, paragraphs }) {
  const colon = title.indexOf(": ");
  const next = paragraphs[0].split(/(?<=[.:]) /)[0].replace(/:$/, ".");
  if (colon < 0) return [title, next];
  const about = title.slice(colon + 2);
  return [title.slice(0, colon), `${about[0].toUpperCase()}${about.slice(1)}.`];
}

/** The benchmark page: its models as modules, and the mean scores that they must have. */
async function benchmark() {
  const folder = join(out, "benchmark");
  const portfolio = all.find(({ name }) => name === "portfolio").tables;
  const models = [];
  for (const [name, size] of Object.entries(await json(join(here, "benchmarks.json")))) {
    const file = join(root, "benchmarks", `${name}.sim`);
    run("build", file, "--target", "web", "--runtime-url", "../../runtime", "-o", join(folder, "models"));
    const tables = name === "portfolio" ? portfolio : {};
    const steps = size.steps ? ["--steps", `${size.steps}`] : [];
    const launch = ["--agents", `${size.agents}`, ...steps, "--backend", "cpu", "-q", "--json"];
    const result = JSON.parse(run("run", file, ...launch, ...tableArguments(tables)));
    const { mean } = result.outputs.find((output) => output.name === "score");
    const [, head] = /^\/\/! Benchmark: (.+?)\.\n\/\/!\n/s.exec(await readFile(file, "utf8"));
    const about = head.replaceAll("\n//!", "");
    models.push({ name, about, ...size, mean, tables: await copyTables(tables) });
  }
  // A module alone is needed: its page would be about one of them.
  await rm(join(folder, "models/index.html"));
  await writeFile(join(folder, "models.json"), JSON.stringify(models));
}

const all = await examples();
const shown = await json(join(here, "examples.json"));
const missing = all.filter(({ name }) => !shown[name]).map(({ name }) => name);
if (missing.length > 0) throw new Error(`web/gallery/examples.json has nothing on ${missing}`);

const there = existsSync(out) ? await readdir(out) : [];
if (there.length > 0 && !there.includes("gallery.js")) {
  throw new Error(`${out} has other files: the gallery needs a folder of its own`);
}
await rm(out, { recursive: true, force: true });
await cp(join(here, "site"), out, { recursive: true });
await mkdir(join(out, "data"));
await mkdir(join(out, "runtime"));
for (const file of await readdir(runtime)) {
  if (!["compiler", "version.txt"].includes(file)) await cp(join(runtime, file), join(out, "runtime", file));
}
for (const example of all) await page(example, shown[example.name]);
const topics = [...new Set(Object.values(shown).flatMap((it) => it.topics))].sort();
const values = {
  cards: all.map((example) => card(example, shown[example.name])).join("\n"),
  topics: topics.map((topic) => `<option>${escaped(topic)}</option>`).join(""),
};
const index = await readFile(join(here, "site/index.html"), "utf8");
await writeFile(join(out, "index.html"), filled(index, values));
await benchmark();
