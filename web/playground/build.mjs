// Builds the site into dist/: one command, no network.
//
//   npm run build                    needs target/web/compiler (scripts/web/compiler.sh)
//   npm run build -- --without-runtime   without target/web/runtime: pages that compile and do not run

import { build } from "esbuild";
import { createHash } from "node:crypto";
import { cp, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { existsSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { basename, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { csv, examples, root } from "../examples.mjs";

const here = fileURLToPath(new URL(".", import.meta.url));
const out = join(here, "dist");
const compiler = join(root, "target/web/compiler");
const runtime = join(root, "target/web/runtime");
const withRuntime = !process.argv.includes("--without-runtime");

function need(path, script) {
    if (existsSync(path)) return;
    console.error(`${relative(root, path)} is missing: run ${script} first`);
    process.exit(1);
}
need(join(compiler, "simc.wasm"), "scripts/web/compiler.sh");
if (withRuntime) need(join(runtime, "simc-runtime.js"), "scripts/web/build.sh");

await rm(out, { recursive: true, force: true });
await mkdir(join(out, "data"), { recursive: true });
await build({
    entryPoints: [join(here, "src/main.js"), join(here, "src/compiler-worker.js")],
    bundle: true,
    format: "esm",
    minify: true,
    target: "es2022",
    outdir: out,
    external: ["node:*"],
    legalComments: "linked",
    logLevel: "warning",
});
await cp(join(here, "index.html"), join(out, "index.html"));
const styles = [join(here, "node_modules/uplot/dist/uPlot.min.css"), join(here, "main.css")];
await writeFile(
    join(out, "main.css"),
    (await Promise.all(styles.map((path) => readFile(path, "utf8")))).join("\n"),
);
await cp(join(here, "public"), out, { recursive: true });
// The runtime's workers compile, too: both take the same module.
await mkdir(join(out, "runtime/compiler"), { recursive: true });
for (const file of ["simc.wasm", "explanations.json", "index.js"]) {
    await cp(join(compiler, file), join(out, "runtime/compiler", file));
}
if (withRuntime) {
    await cp(join(here, "../runtime/compiler/source.js"), join(out, "runtime/compiler/source.js"));
    for (const file of await runtimeFiles()) await cp(join(runtime, file), join(out, "runtime", file));
    await builtPage();
}
await listExamples();
await serviceWorker();
await sizes();

/** The files of the runtime that a page needs. */
async function runtimeFiles() {
    return (await readdir(runtime)).filter((file) => /\.(?:js|css|wasm)$/.test(file));
}

/** What the page of a model is made of, as `simc build --target web` has it, but for its types. */
async function builtPage() {
    const types = ' · <a href="{{name}}.d.ts">Types</a>';
    const template = await readFile(join(root, "cli/src/build/web/index.html"), "utf8");
    if (!template.includes(types)) throw new Error("the page's template has changed: its link to the types");
    const page = { template: template.replace(types, ""), files: await runtimeFiles() };
    await writeFile(join(out, "page.json"), JSON.stringify(page));
}

/** The examples with their titles, and the tables that they need. */
async function listExamples() {
    const found = [];
    for (const { name, title, source, tables } of await examples()) {
        const copied = {};
        for (const [table, path] of Object.entries(tables)) {
            copied[table] = basename(path).replace(/\.npy$/, ".csv");
            await writeFile(join(out, "data", copied[table]), await csv(path));
        }
        found.push({ name, title, source, tables: copied });
    }
    await writeFile(join(out, "examples.json"), JSON.stringify(found));
}

async function files(folder = out) {
    const entries = await readdir(folder, { withFileTypes: true, recursive: true });
    return entries
        .filter((entry) => entry.isFile())
        .map((entry) => relative(out, join(entry.parentPath ?? entry.path, entry.name)))
        .sort();
}

/** The service worker knows all files, and is a new one where any of them is. */
async function serviceWorker() {
    const all = (await files()).filter((name) => !name.endsWith(".txt"));
    const hash = createHash("sha256");
    for (const name of all) hash.update(name).update(await readFile(join(out, name)));
    const list = JSON.stringify(["./", ...all.filter((name) => name !== "index.html")]);
    const template = await readFile(join(here, "src/sw.js"), "utf8");
    await writeFile(
        join(out, "sw.js"),
        template.replace("__VERSION__", hash.digest("hex").slice(0, 16)).replace("__FILES__", () => list),
    );
}

async function sizes() {
    for (const name of (await files()).filter((name) => /\.(?:js|wasm|css|html)$/.test(name))) {
        const bytes = await readFile(join(out, name));
        const [plain, packed] = [bytes.length, gzipSync(bytes, { level: 9 }).length];
        console.log(`${String(plain).padStart(9)} B, gzip ${String(packed).padStart(8)} B  ${name}`);
    }
}
