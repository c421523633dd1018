// The shell: values, errors, progress, abort, memory.
import assert from "node:assert/strict";
import { test } from "node:test";
import { calmest } from "./pauses.mjs";
import { core, shell, source } from "./support.mjs";

const { SimError, compile } = shell;
await core.initialize();

const DOUBLING = "agents 4\ninput x: f32\noutput y = 2.0 * x\n";

test("a run in a worker has outputs, statistics and a report", async () => {
  const model = await compile(source("gbm"));
  const progress = [];
  const run = await model.run({
    agents: 20_000, sigma: 0.3, seed: 7, backend: "cpu", progress: (done, all) => progress.push([done, all]),
  });
  assert.ok(run.outputs.call instanceof Float32Array);
  assert.equal(run.outputs.call.length, 20_000);
  const mean = run.outputs.call.reduce((sum, value) => sum + value, 0) / 20_000;
  assert.ok(Math.abs(run.statistics.call[0].mean - mean) < 1e-6 * mean);
  assert.equal(run.report.backend, "cpu");
  assert.equal(run.report.seed, 7n);
  assert.equal(run.report.agentSteps, 20_000 * 252);
  assert.deepEqual(progress.at(-1), [20_000 * 252, 20_000 * 252]);
  assert.match(await model.wgsl(), /@compute/);
  model.free();
});

test("values are taken as numbers, arrays and typed arrays", () => {
  const model = new core.LocalModel(DOUBLING);
  for (const x of [[1, 2, 3, 4], Float32Array.of(1, 2, 3, 4), Float64Array.of(1, 2, 3, 4), Int8Array.of(1, 2, 3, 4)]) {
    assert.deepEqual([...model.runNow({ x }).outputs.y], [2, 4, 6, 8]);
  }
  assert.deepEqual([...model.runNow({ inputs: { x: 3 } }).outputs.y], [6, 6, 6, 6]);
});

test("the types of a model arrive as they are", () => {
  const text = `
    enum Mood { Calm, Angry }
    agents 3
    param mood: Mood = Mood.Angry
    param on = true
    param count = 3
    param weights: [f32; 3] = [1.0, 2.0, 3.0]
    output m = mood
    output b = on
    output i = count + agent
    output w = weights
  `;
  const model = new core.LocalModel(text);
  const run = model.runNow({ mood: "Calm", on: false, count: -7, weights: [[0.5], [1, 2]] });
  assert.deepEqual(run.outputs.m, Uint32Array.of(0, 0, 0));
  assert.deepEqual(run.outputs.b, Uint8Array.of(0, 0, 0));
  assert.deepEqual(run.outputs.i, Int32Array.of(-7, -6, -5));
  assert.deepEqual([...run.outputs.w], [0.5, 1, 2, 0.5, 1, 2, 0.5, 1, 2]);
  assert.deepEqual(run.shapes.w, [3, 3]);
});

test("nothing of a launch stays for the next one", () => {
  const model = new core.LocalModel(source("gbm"));
  const plain = model.runNow({ agents: 100 }).outputs.call;
  model.runNow({ agents: 50, sigma: 0.9, seed: 5n });
  assert.deepEqual(model.runNow({ agents: 100 }).outputs.call, plain);
});

const mistakes = [
  ["an unknown name", { sigam: 0.3 }, "E0701", /did you mean `sigma`/],
  ["a value out of range", { sigma: 7 }, "E0705", /widen the range/],
  ["NaN", { sigma: NaN }, "E0706", /./],
  ["a text for a number", { sigma: "much" }, "argument", /typed array/],
  ["half an agent", { agents: 1.5 }, "argument", undefined],
  ["a negative number of agents", { agents: -1 }, "argument", undefined],
  ["no agent", { agents: 0 }, "E0710", undefined],
  ["a seed that is no integer", { seed: 0.5 }, "argument", undefined],
  ["a seed that a number does not hold", { seed: 2 ** 60 }, "argument", undefined],
  ["an unknown backend", { backend: "quantum" }, "argument", undefined],
  ["params that are no object", { params: 3 }, "argument", undefined],
];
for (const [what, launch, code, help] of mistakes) {
  test(`${what} is an error that says what to do`, () => {
    const model = new core.LocalModel(source("gbm"));
    assert.throws(() => model.runNow(launch), (error) => {
      assert.ok(error instanceof SimError && error instanceof Error);
      assert.equal(error.code, code);
      assert.ok(error.message.length > 10);
      if (help) assert.match(error.help, help);
      assert.ok(error.rendered.includes(error.message));
      return true;
    });
    // The model is as good as before.
    assert.equal(model.runNow({ agents: 10 }).outputs.call.length, 10);
  });
}

test("a model with mistakes is an error with their places", async () => {
  await assert.rejects(compile("agents 5\nstate x = y\n"), (error) => {
    assert.equal(error.code, "E0201");
    assert.match(error.rendered, /model\.sim:2:11/);
    assert.deepEqual([error.diagnostics[0].start, error.diagnostics[0].end], [19, 20]);
    return true;
  });
});

test("more memory than there is, is an error, and the next run works", async () => {
  const model = await compile("agents 10\nstate x = 0.0\nstep { x += 1.0 }\nsteps 3\nrecord r = x\noutput x\n");
  await assert.rejects(model.run({ agents: 2_000_000_000 }), (error) => {
    assert.match(error.code, /^(E0713|memory)$/);
    return true;
  });
  assert.deepEqual([...(await model.run({ agents: 2 })).outputs.x], [3, 3]);
  model.free();
});

test("a run is aborted at once, and the next run works", async () => {
  const model = await compile(source("gbm"));
  const stop = new AbortController();
  const started = performance.now();
  let aborted;
  const run = model.run({
    agents: 1_000_000, steps: 100_000, backend: "cpu", signal: stop.signal,
    progress: () => {
      aborted ??= performance.now();
      stop.abort();
    },
  });
  await assert.rejects(run, { code: "E0714" });
  assert.ok(performance.now() - aborted < 1000, `${performance.now() - started} ms`);
  assert.equal((await model.run({ agents: 10, backend: "cpu" })).outputs.call.length, 10);
  await assert.rejects(model.run({ signal: AbortSignal.abort() }), { code: "E0714" });
  model.free();
});

test("a progress function can end a run on this thread", () => {
  const model = new core.LocalModel(source("gbm"));
  assert.throws(() => model.runNow({ agents: 1_000_000, steps: 100_000 }, () => false), { code: "E0714" });
  assert.equal(model.runNow({ agents: 10 }).outputs.call.length, 10);
});

test("200 runs in a row leave the memory flat", () => {
  const model = new core.LocalModel(source("gbm"));
  const x = { agents: 20_000, steps: 2 };
  for (let k = 0; k < 20; k++) model.runNow(x);
  const before = core.memoryBytes();
  for (let k = 0; k < 200; k++) model.runNow({ ...x, seed: k });
  assert.equal(core.memoryBytes(), before);
  model.free();
});

test("the worker keeps the page alive", async () => {
  const model = await compile(source("gbm"));
  const launch = { agents: 200_000, statistics: false, backend: "cpu" };
  const { seconds, longest } = await calmest(() => model.run(launch));
  assert.ok(seconds > 0.2, `a run took ${seconds} s`);
  assert.ok(longest < 50, `the thread was blocked for ${longest} ms`);
  model.free();
});
