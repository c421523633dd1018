// The page of a model as `simc build --target web` makes it, as an archive: without the types.

import { zip } from "./zip.js";

async function fetched(path) {
    const response = await fetch(path);
    if (!response.ok) throw new Error(`\`${path}\` cannot be loaded: ${response.status}`);
    return new Uint8Array(await response.arrayBuffer());
}

const escaped = (text) =>
    text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");

/** The archive of a page that runs the model. */
export async function pageOf(name, { source, manifest, wgsl, program }) {
    const { template, files } = await (await fetch("page.json")).json();
    const runtime = files.map(async (file) => [file, await fetched(`runtime/${file}`)]);
    const title = manifest.doc.split("\n")[0].trim() || name;
    const page = template
        .replaceAll("{{title}}", () => escaped(title))
        .replaceAll("{{runtime}}", ".")
        .replaceAll("{{module}}", `./${name}.js`)
        .replaceAll("{{name}}", name);
    const module = [
        "// Written by the playground.",
        'import { load as loadProgram } from "./simc-runtime.js";',
        "",
        `export const source = ${JSON.stringify(source)};`,
        "",
        `export const manifest = ${JSON.stringify(manifest)};`,
        "",
        `const program = "${program}";`,
        "",
        "/** Loads the runtime and the model. */",
        "export function load(options = {}) {",
        "  return loadProgram(program, options);",
        "}",
        "",
    ].join("\n");
    const texts = {
        "index.html": page,
        [`${name}.js`]: module,
        [`${name}.wgsl`]: wgsl,
        [`${name}.sim`]: source,
    };
    const own = Object.entries(texts).map(([file, text]) => [file, new TextEncoder().encode(text)]);
    return zip([...own, ...(await Promise.all(runtime))]);
}
