// What editors ask, and what happens to texts that no compiler likes.

import assert from "node:assert/strict";
import { test } from "node:test";
import { simc } from "./shared.mjs";
import { load, SimcError } from "../../../target/web/compiler/index.js";

const MODEL = `//! 𝄞 A clef counts as two.
agents 10
steps 5
/// Pull per step.
param pull = 0.5 in 0.0..1.0
state x = 1.0
step {
    x = x * pull
}
output x
`;

const at = (text, from = 0) => MODEL.indexOf(text, from);

test("places are UTF-16 offsets", () => {
    const use = at("x * pull") + 4;
    assert.deepEqual(simc.definition(MODEL, use), { from: at("pull ="), to: at("pull =") + 4 });
    assert.deepEqual(
        simc.references(MODEL, use).map(({ from }) => from),
        [at("pull ="), use],
    );
    const [mistake] = simc.check(MODEL.replace("* pull", "* pul"));
    assert.deepEqual([mistake.code, mistake.from, mistake.to], ["E0201", use, use + 3]);
});

test("hover, signature, completion and outline", () => {
    const hover = simc.hover(MODEL, at("x * pull") + 5);
    assert.match(hover.markdown, /Pull per step/);
    assert.equal(MODEL.slice(hover.from, hover.to), "pull");
    assert.equal(simc.hover(MODEL, at("clef")), null);
    const call = MODEL.replace("x * pull", "clamp(x, ");
    const signature = simc.signature(call, call.indexOf("clamp(x, ") + 9);
    assert.match(signature.label, /^clamp\(/);
    assert.equal(signature.active, 1);
    const items = simc.complete(MODEL, at("x * pull") + 5);
    const pull = items.find(({ label }) => label === "pull");
    assert.equal(pull.insert, "pull");
    assert.equal(pull.from, at("x * pull") + 4);
    const names = simc.outline(MODEL).map(({ name }) => name);
    assert.deepEqual(names, ["pull", "x", "step", "x"]);
});

test("a mistake is mended by its action", () => {
    const broken = MODEL.replace("    x =", "    y =");
    const place = broken.indexOf("y =");
    const [action] = simc.codeActions(broken, place, place + 1);
    assert.equal(action.title, "Add `var`");
    const apply = (text, { from, to, insert }) => text.slice(0, from) + insert + text.slice(to);
    const mended = action.edits.reduceRight(apply, broken);
    assert.deepEqual(
        simc.check(mended).filter(({ severity }) => severity === "error"),
        [],
    );
    assert.deepEqual(simc.codeActions(broken, 0, 1), []);
});

test("a name is renamed, or the reason said", () => {
    const edits = simc.rename(MODEL, at("x * pull") + 4, "decay");
    assert.deepEqual(
        edits.map(({ insert }) => insert),
        ["decay", "decay"],
    );
    assert.throws(() => simc.rename(MODEL, at("pull ="), "steps"), /is a word of the language/);
    // A zero would begin another field of the request.
    assert.throws(() => simc.rename(MODEL, at("pull ="), "a\0at\x000"), SimcError);
});

test("a text with syntax errors is not formatted, and no model is built of it", () => {
    const refused = (error) =>
        error instanceof SimcError && error.diagnostics.length === 1 && error.help !== "";
    assert.throws(() => simc.format("state x = (\n"), refused);
    assert.throws(() => simc.build("agents 10\nsteps x\n"), refused);
});

test("options are checked", () => {
    assert.throws(() => simc.build(MODEL, { world: 3 }), /the model has no worlds/);
    assert.throws(() => simc.build(MODEL, { wgsl: true }), /unknown field `wgsl`/);
    const draws = MODEL.replace("x * pull", "x * pull + normal()");
    assert.match(simc.build(draws, { generator: "philox4x32-10" }).wgsl, /philox/i);
    assert.doesNotMatch(simc.build(draws).wgsl, /philox/i);
    assert.equal(simc.build(MODEL).ir, null);
});

test("every word has a class", () => {
    const tokens = simc.tokens(MODEL);
    const pull = tokens.filter(({ from, to }) => MODEL.slice(from, to) === "pull");
    assert.deepEqual(
        pull.map((token) => token.class),
        ["macro", "macro"],
    );
});

test("codes are explained", async () => {
    assert.match(await simc.explain("E0201"), /nothing in scope/);
    assert.equal(await simc.explain("unknown_NAME"), await simc.explain("e0201"));
    assert.equal(await simc.explain("E9999"), null);
});

test("texts of any kind end in an answer", () => {
    const deep = (open, close, count) =>
        `state x = ${open.repeat(count)}1.0${close.repeat(count)}\noutput x\n`;
    const texts = [
        "",
        "\u0000",
        "\ud800",
        "(".repeat(100_000),
        deep("(", ")", 60),
        deep("-", "", 20_000),
        deep("max(1.0, ", ")", 4_000),
        deep("1.0 + ", "", 200_000),
        "step {" + "if true {".repeat(3_000),
        "/*".repeat(50_000),
    ];
    for (const text of texts) {
        const found = simc.check(text);
        assert.ok(Array.isArray(found), text.slice(0, 20));
        simc.complete(text, text.length);
        simc.tokens(text);
    }
});

test("a model of 5,000 lines is answered within five seconds", () => {
    const lines = Array.from({ length: 5_000 }, (_, k) => `const C${k} = ${k}.0`);
    const source = `agents 10\nsteps 5\n${lines.join("\n")}\nstate x = C1\noutput x = x + C4999\n`;
    const started = performance.now();
    const errors = simc.check(source, { fixes: 3 }).filter(({ severity }) => severity === "error");
    const built = simc.build(source);
    assert.deepEqual(errors, []);
    assert.match(built.wgsl, /4999/);
    assert.ok(performance.now() - started < 5_000, `${performance.now() - started} ms`);
});

test("an instance that ended is replaced, and the next request answered", async () => {
    // A module whose `answer` ends in a trap.
    const trap = Uint8Array.from([
        0, 97, 115, 109, 1, 0, 0, 0, 1, 10, 2, 96, 1, 127, 1, 127, 96, 0, 1, 127, 3, 4, 3, 0, 1, 1, 5, 3,
        1, 0, 1, 7, 37, 4, 6, 109, 101, 109, 111, 114, 121, 2, 0, 7, 114, 101, 113, 117, 101, 115, 116, 0,
        0, 6, 97, 110, 115, 119, 101, 114, 0, 1, 5, 114, 101, 112, 108, 121, 0, 2, 10, 15, 3, 4, 0, 65, 0,
        11, 3, 0, 0, 11, 4, 0, 65, 0, 11,
    ]);
    const broken = await load(trap);
    for (let time = 0; time < 2; time += 1) {
        assert.throws(
            () => broken.check("x"),
            (error) => error instanceof SimcError && /bug in simc/.test(error.help),
        );
    }
});

test("two hundred requests leave the memory as it is", async () => {
    const own = await load();
    for (let time = 0; time < 200; time += 1) own.check(MODEL + " ".repeat(time));
    const before = own.memory;
    for (let time = 0; time < 200; time += 1) {
        own.check(MODEL + " ".repeat(time));
        own.build(MODEL);
    }
    assert.equal(own.memory, before);
});
