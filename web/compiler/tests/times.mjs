// How long each example takes to compile in WebAssembly, and how large the module is.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { models, ROOT, simc } from "./shared.mjs";

const times = models("lang-examples").map(({ name, source }) => {
    const own = Array.from({ length: 15 }, (_, time) => {
        // Another text each time: the module keeps what it knows of the last one.
        const text = `${source}${"\n".repeat(time)}`;
        const started = performance.now();
        simc.build(text);
        return performance.now() - started;
    });
    return { name, first: own[0], median: own.toSorted((a, b) => a - b)[7] };
});
times.sort((a, b) => b.median - a.median);
for (const { name, first, median } of times) {
    console.log(
        `${name.padEnd(26)} ${median.toFixed(1).padStart(7)} ms (the first time ${first.toFixed(1)} ms)`,
    );
}
const slow = times.filter(({ median }) => median > 30).length;
console.log(`${times.length - slow} of ${times.length} examples within 30 ms`);
const bytes = readFileSync(join(ROOT, "target/web/compiler/simc.wasm"));
console.log(`the module: ${bytes.length} B, gzip ${gzipSync(bytes, { level: 9 }).length} B`);
