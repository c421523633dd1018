// Python on the page's own thread and in a worker, for the tests.
import * as core from "/runtime/core.js";
import { loadPyodide } from "/pyodide/pyodide.mjs";
import { DOUBLING, RUNS, evaluate, start } from "/tests/pyodide.mjs";
import { countBuffers } from "/tests/counting.mjs";
import { calmest } from "/tests/pauses.mjs";

const python = start(loadPyodide, core, { indexURL: "/pyodide/" });

/** `[1, 2, 3, 4]` doubled, and where. */
window.doubled = async (backend) => evaluate(await python, DOUBLING, { backend });

/** Memory and buffers of a GPU before and after 200 runs. */
window.runs = async (backend) => {
  const buffers = countBuffers();
  const measured = () => [core.memoryBytes(), buffers.alive()];
  return evaluate(await python, RUNS, { backend, measured });
};

/** Python runs a model in a worker: the seconds of that, and the page's longest pause meanwhile. */
window.inWorker = async () => {
  await python;
  const worker = new Worker("./pyodide-worker.js", { type: "module" });
  const answer = () => new Promise((resolve, reject) => {
    worker.onmessage = (event) => resolve(event.data);
    worker.onerror = (event) => reject(new Error(event.message));
  });
  const ready = answer();
  await ready;
  const run = await calmest(() => {
    const done = answer();
    worker.postMessage("run");
    return done;
  });
  worker.terminate();
  return run;
};
window.ready = true;
