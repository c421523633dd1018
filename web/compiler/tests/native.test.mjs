// The module says what the command says.

import assert from "node:assert/strict";
import { test } from "node:test";
import { models, native, simc } from "./shared.mjs";

const EXAMPLES = models("lang-examples");

test("every example compiles to the kernel, manifest and program of `simc build`", async () => {
    assert.ok(EXAMPLES.length >= 32, `${EXAMPLES.length} examples`);
    for (const { path, source } of EXAMPLES) {
        assert.deepEqual(
            simc.check(source).filter((one) => one.severity === "error"),
            [],
            path,
        );
        const built = simc.build(source, { ir: true, lines: true });
        assert.equal(built.wgsl, await native("build", path, "--emit", "wgsl"), path);
        assert.deepEqual(built.manifest, JSON.parse(await native("build", path, "--emit", "manifest")), path);
        assert.equal(built.ir, await native("build", path, "--emit", "ir"), path);
        const [models, kernels] = [source.split("\n").length, built.wgsl.split("\n").length];
        assert.ok(built.lines.length > 0, path);
        for (const { model, first, last } of built.lines) {
            assert.ok(
                model < models && first <= last && last < kernels,
                `${path}: ${model} ${first} ${last}`,
            );
        }
    }
});

test("every example is in canonical style, or becomes what `simc fmt` makes of it", async () => {
    for (const { path, source } of EXAMPLES) assert.equal(simc.format(source), source, path);
});

/** A complaint of `simc check --json` as the module writes it. */
function asModule(source, { code, severity, message, label, span, related, help, fixes }) {
    const starts = [0];
    for (let from = source.indexOf("\n"); from >= 0; from = source.indexOf("\n", from + 1))
        starts.push(from + 1);
    // A column counts characters, from 1.
    const at = (line, column) => {
        const characters = Array.from(source.slice(starts[line - 1]));
        return starts[line - 1] + characters.slice(0, column - 1).join("").length;
    };
    const place = (found) => ({
        from: at(found.startLine, found.startColumn),
        to: at(found.endLine, found.endColumn),
    });
    const labels = label === null ? [] : [{ ...place(span), text: label }];
    for (const one of related) labels.push({ ...place(one.span), text: one.message });
    return {
        code,
        severity,
        message,
        ...place(span),
        labels,
        help,
        fixes: fixes.map(({ title, edits }) => ({
            title,
            edits: edits.map(({ span, text }) => ({ ...place(span), insert: text })),
        })),
    };
}

for (const folder of ["tests/errors", "tests/warnings"]) {
    test(`the diagnostics of ${folder} are those of \`simc check\``, async () => {
        const specimens = models(folder);
        assert.ok(specimens.length > 10, `${specimens.length} specimens`);
        const all = JSON.parse(await native("check", "--json", ...specimens.map(({ path }) => path)));
        let compared = 0;
        for (const { path, source } of specimens) {
            const expected = all.filter(({ file }) => file === path).map((one) => asModule(source, one));
            const found = simc.check(source).map(({ name, ...rest }) => rest);
            assert.deepEqual(found, expected, path);
            compared += found.length;
        }
        assert.ok(compared >= specimens.length, `${compared} diagnostics`);
    });
}
