// Links, without a browser.

import assert from "node:assert/strict";
import { test } from "node:test";
import { decode, encode, LinkError } from "../src/share.js";
import { readTable } from "../src/table.js";
import { quantile } from "../src/statistics.js";
import { read, short } from "../src/parameters.js";

const LAUNCH = { agents: 10, seed: 7, params: { sigma: 0.25, on: true, kind: "Tall", weights: [1, 2] } };

test("what goes into a link comes out of it", async () => {
    for (const source of ["", "state x = 1.0\n", "// 𝄞\n".repeat(5_000)]) {
        assert.deepEqual(await decode(await encode({ source, launch: LAUNCH })), { source, launch: LAUNCH });
    }
    assert.equal(await decode(""), undefined);
});

test("no change of a link goes unnoticed", async () => {
    const link = await encode({ source: "agents 10\nsteps 5\nstate x = 1.0\n", launch: LAUNCH });
    const start = link.lastIndexOf(".") + 1;
    for (let at = start; at < link.length; at += 1) {
        const other = link[at] === "A" ? "B" : "A";
        const changed = link.slice(0, at) + other + link.slice(at + 1);
        const found = await decode(changed).catch((error) => error);
        // The last character may have bits that say nothing.
        if (found instanceof LinkError) continue;
        assert.deepEqual(found.launch, LAUNCH, `${at}`);
        assert.ok(at >= link.length - 1, `${at} of ${link.length}`);
    }
    await assert.rejects(decode(link.slice(0, -5)), LinkError);
});

test("a link that unpacks to more than a page can hold is refused", async () => {
    const link = await encode({ source: "x".repeat(3_000_000), launch: {} });
    await assert.rejects(decode(link), /holds more than 2,000,000 bytes/);
});

test("a link brings only what a launch may have", async () => {
    const launch = { agents: "many", evil: 1, params: { a: null, b: { c: 1 }, d: 2 } };
    assert.deepEqual((await decode(await encode({ source: "x", launch }))).launch, { params: { d: 2 } });
});

const field = (more) => ({
    name: "t",
    scalar: "f32",
    shape: [0, 2],
    components: 1,
    variants: [],
    range: null,
    ...more,
});

test("tables are read, and refused with the place", () => {
    assert.deepEqual(readTable(field(), "a,b\n1,2\n3,4\n"), { values: Float32Array.of(1, 2, 3, 4), rows: 2 });
    assert.deepEqual(readTable(field({ variants: ["No", "Yes"], scalar: "u32" }), "Yes,No\n"), {
        values: Uint32Array.of(1, 0),
        rows: 1,
    });
    assert.throws(() => readTable(field(), "1,2\n3,x\n"), /line 2: `x` is no number/);
    assert.throws(() => readTable(field(), "1,2\n3\n"), /3 numbers, and the table needs a multiple of 2/);
    assert.throws(() => readTable(field({ scalar: "i32" }), "1,2.5\n"), /`2.5` is no whole number/);
    assert.throws(() => readTable(field(), ""), /no numbers/);
});

test("params are read, and refused with the reason", () => {
    const param = (more) => field({ shape: [], ...more });
    assert.deepEqual(read(param(), "1_000.5").values, [1000.5]);
    assert.match(read(param({ range: [0, 1] }), "2").why, /0 to 1/);
    assert.match(read(param({ scalar: "i32" }), "2.5").why, /no whole number/);
    assert.match(read(param({ scalar: "u32" }), "-1").why, /4,294,967,295/);
    assert.match(read(param(), "1e50").why, /too large/);
    assert.match(read(param({ shape: [3] }), "1, 2").why, /3 numbers are needed/);
    assert.deepEqual(read(param({ scalar: "u32", variants: ["A", "B"] }), "B").values, [1]);
    assert.equal(short(Math.fround(0.1)), "0.1");
});

test("quantiles lie between values as the command's do", () => {
    assert.equal(quantile(Float64Array.of(1, 2, 3, 4), 0.5), 2.5);
    assert.equal(quantile(Float64Array.of(-Infinity, -Infinity), 0.5), -Infinity);
});
