// How long each example takes to compile in WebAssembly, and how large the module is.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { models, ROOT, simc } from "./shared.mjs";

const RUNS = 15;
const middle = (numbers) => numbers.toSorted((a, b) => a - b)[RUNS >> 1];

/** Milliseconds by the clock, and of the processor: other programs do not count in these. */
function time(source) {
    const [started, used] = [performance.now(), process.cpuUsage()];
    simc.build(source);
    const { user, system } = process.cpuUsage(used);
    return { wall: performance.now() - started, cpu: (user + system) / 1000 };
}

const times = models("lang-examples").map(({ name, source }) => {
    // Another text each time: the module keeps what it knows of the last one.
    const own = Array.from({ length: RUNS }, (_, run) => time(`${source}${"\n".repeat(run)}`));
    return { name, wall: middle(own.map(({ wall }) => wall)), cpu: middle(own.map(({ cpu }) => cpu)) };
});
times.sort((a, b) => b.cpu - a.cpu);
const shown = (value) => value.toFixed(1).padStart(7);
for (const { name, wall, cpu } of times) {
    console.log(`${name.padEnd(26)} ${shown(cpu)} ms of the processor, ${shown(wall)} ms by the clock`);
}
const quick = times.filter(({ cpu }) => cpu <= 30).length;
console.log(`${quick} of ${times.length} examples within 30 ms of the processor (medians of ${RUNS})`);
const bytes = readFileSync(join(ROOT, "target/web/compiler/simc.wasm"));
console.log(`the module: ${bytes.length} B, gzip ${gzipSync(bytes, { level: 9 }).length} B`);
