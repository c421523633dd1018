// Python in Node and in a page of Chromium: the runtime is a module of JavaScript there.
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { chromium, serve } from "./browser.mjs";
import { countBuffers, countCopies } from "./counting.mjs";
import { dawn } from "./dawn.mjs";
import { DOUBLING, RUNS, evaluate, start } from "./pyodide.mjs";
import { built, core, root } from "./support.mjs";

const folder = join(root, "target/web/tools/node_modules/pyodide");
const { loadPyodide } = await import(join(folder, "pyodide.mjs"));
let python;
let browser;
let server;
let page;

before(async () => {
  python = await start(loadPyodide, core);
  // Not before: Pyodide would take this place for a worker of a browser, as the runtime must.
  assert.equal(await core.useNodeGpu(dawn), true);
  const tests = join(root, "web/runtime/tests");
  server = await serve(join(tests, "pages"), { "/runtime/": built, "/pyodide/": folder, "/tests/": tests });
  browser = await chromium();
  page = await browser.newPage();
  page.on("pageerror", (error) => console.error(error));
  await page.goto(`${server.address}pyodide.html`);
  await page.waitForFunction(() => window.ready);
});
after(async () => {
  await browser?.close();
  server?.close();
});

for (const backend of ["cpu", "gpu"]) {
  test(`Node: a buffer of Python is doubled on the ${backend}`, async () => {
    const [values, where] = await evaluate(python, DOUBLING, { backend });
    assert.deepEqual([...values], [2, 4, 6, 8]);
    assert.equal(where, backend);
  });

  test(`Chromium: a buffer of Python is doubled on the ${backend}`, async () => {
    const [values, where] = await page.evaluate(async (backend) => {
      const [values, where] = await window.doubled(backend);
      return [[...values], where];
    }, backend);
    assert.deepEqual(values, [2, 4, 6, 8]);
    assert.equal(where, backend);
  });

  test(`Node: 200 runs on the ${backend} leave memories and buffers as they are`, async () => {
    const buffers = countBuffers();
    const measured = () => [core.memoryBytes(), buffers.alive(), python._module.HEAP8.byteLength];
    const [first, last] = await evaluate(python, RUNS, { backend, measured });
    assert.deepEqual(last, first);
    assert.equal(first[1] > 0, backend === "gpu", `${first[1]} buffers`);
  });

  test(`Chromium: 200 runs on the ${backend} leave memory and buffers as they are`, async () => {
    const [first, last] = await page.evaluate((backend) => window.runs(backend), backend);
    assert.deepEqual(last, first);
    assert.equal(first[1] > 0, backend === "gpu", `${first[1]} buffers`);
  });
}

test("without a GPU, Python gets the CPU", async () => {
  const { gpu } = navigator;
  Object.defineProperty(navigator, "gpu", { value: undefined, configurable: true });
  try {
    const [values, where] = await evaluate(python, DOUBLING, { backend: "auto" });
    assert.deepEqual([...values], [2, 4, 6, 8]);
    assert.equal(where, "cpu");
  } finally {
    Object.defineProperty(navigator, "gpu", { value: gpu, configurable: true });
  }
});

const MEGABYTE = 1_000_000;
const TABLE = `
import simc
from array import array
values = array("f", bytes(10_000_000))
values[-1] = 3.0
model = simc.LocalModel.new("agents 1\\ndata t: [f32]\\noutput y = t[len(t) - 1]\\n")
def once():
    return model.runNow(t=values).outputs.y.to_py()[0]
def twice():
    return model.runNow(t=values[:].tobytes() and copied(values)).outputs.y.to_py()[0]
`;

test("10 MB of Python go in with one copy", async () => {
  await evaluate(python, TABLE, { copied: (values) => values.getBuffer().data.slice() });
  // Where the module's memory grows, it is by the copy and nothing else of that size.
  const [memory, external] = [core.memoryBytes(), process.memoryUsage().arrayBuffers];
  const { result, bytes } = await countCopies(() => python.runPython("once()"));
  assert.equal(result, 3);
  assert.equal(bytes, 10 * MEGABYTE);
  const grown = core.memoryBytes() - memory;
  assert.ok(grown < 20 * MEGABYTE, `the module's memory grew by ${grown} bytes`);
  const others = process.memoryUsage().arrayBuffers - external - grown;
  assert.ok(others < MEGABYTE, `there are ${others} bytes more in buffers of JavaScript`);
  // What is counted would be more with another copy.
  const again = await countCopies(() => python.runPython("twice()"));
  assert.deepEqual([again.result, again.bytes], [3, 20 * MEGABYTE]);
});

test("a page answers within 50 ms while Python runs a model in a worker", async () => {
  const runs = await page.evaluate(() => window.inWorker());
  for (const run of runs) assert.equal(run.result, 400_000);
  // Other work on the machine can take the processor away for a while, but not in each of three runs.
  const best = runs.reduce((a, b) => (b.longest < a.longest ? b : a));
  assert.ok(best.seconds > 0.1, `a run took ${best.seconds} s`);
  assert.ok(best.longest < 50, `the page did not answer for ${best.longest} ms`);
});
