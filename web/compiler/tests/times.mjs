// How long each example takes to compile in WebAssembly, and how large the module is.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { models, ROOT, simc } from "./shared.mjs";

const ROUNDS = 15;
const LIMIT = 30;

/** Milliseconds of a compilation. */
function time(source) {
    const started = performance.now();
    simc.build(source);
    return performance.now() - started;
}

// The host optimises the module while it runs, on threads of its own, so the first compilations take longer. The
// least of several, one per round, is the time without that and without other work of the machine. Another text
// each time: the module keeps what it knows of the last one.
const times = models("lang-examples").map((model) => ({ ...model, least: Infinity }));
for (let round = 0; round < ROUNDS; round++) {
    for (const model of times) {
        const taken = time(`${model.source}${"\n".repeat(round)}`);
        model.first ??= taken;
        model.least = Math.min(model.least, taken);
    }
}
times.sort((a, b) => b.least - a.least);
const shown = (value) => value.toFixed(1).padStart(7);
for (const { name, least, first } of times) {
    console.log(`${name.padEnd(26)} ${shown(least)} ms, ${shown(first)} ms the first time`);
}
const quick = times.filter(({ least }) => least <= LIMIT).length;
console.log(`${quick} of ${times.length} examples within ${LIMIT} ms (the least of ${ROUNDS})`);
const bytes = readFileSync(join(ROOT, "target/web/compiler/simc.wasm"));
console.log(`the module: ${bytes.length} B, gzip ${gzipSync(bytes, { level: 9 }).length} B`);
