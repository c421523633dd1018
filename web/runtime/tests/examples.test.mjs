// Every example runs on the CPU in wasm, and gives the bits of the native CPU backend.
import assert from "node:assert/strict";
import { test } from "node:test";
import { agentsOf, byFile, core, difference, examples, native, source, tablesOf } from "./support.mjs";

await core.initialize();

for (const name of examples) {
  test(`${name} gives the native bits`, (t) => {
    const model = new core.LocalModel(source(name));
    const tables = tablesOf(name, model.manifest);
    const agents = agentsOf(model.manifest);
    const data = Object.fromEntries(tables.map((table) => [table.name, table.values]));
    const run = model.runNow({ agents, seed: 7, data, statistics: false });
    const found = byFile(run, model.manifest);
    const expected = native(name, agents, 7, tables);
    assert.ok(Object.keys(expected).length > 0);
    const differing = [];
    for (const [file, { values }] of Object.entries(expected)) {
      assert.ok(found[file], `${file} is missing among ${Object.keys(found)}`);
      const of = difference(found[file], values);
      if (of.count > 0) differing.push(`${file}: ${of.count} of ${of.of} values, by ${of.relative}`);
    }
    t.diagnostic(`${name}: ${agents} agents, ${run.report.runSeconds.toFixed(2)} s`);
    assert.deepEqual(differing, []);
    model.free();
  });
}
