// Python in a page, or in Node: the runtime is a module of JavaScript there.
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { core, root } from "./support.mjs";

const { loadPyodide } = await import(join(root, "target/web/tools/node_modules/pyodide/pyodide.mjs"));

test("a buffer of Python goes in, and one comes out", async () => {
  await core.initialize();
  const python = await loadPyodide();
  python.registerJsModule("simc", core);
  const doubled = python.runPython(`
import simc
from array import array
model = simc.LocalModel.new("agents 4\\ninput x: f32\\noutput y = 2.0 * x\\n")
values = array("f", [1, 2, 3, 4])
run = model.runNow(x=values)
list(memoryview(run.outputs.y.to_py())), run.report.backend
`);
  const [values, backend] = doubled.toJs();
  assert.deepEqual([...values], [2, 4, 6, 8]);
  assert.equal(backend, "cpu");
});
