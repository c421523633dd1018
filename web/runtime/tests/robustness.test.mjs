// What a visitor's machine may lack or do: each ends in a message or the result.
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { chromium, serve } from "./browser.mjs";
import { dawn } from "./dawn.mjs";
import { calmest } from "./pauses.mjs";
import { agentsOf, built, core, examples, root, shell, source, tablesOf } from "./support.mjs";

let browser;
let server;

before(async () => {
  assert.equal(await core.useNodeGpu(dawn), true);
  await core.initialize();
  const tests = join(root, "web/runtime/tests");
  server = await serve(join(tests, "pages"), { "/runtime/": built, "/tests/": tests });
  browser = await chromium();
});
after(async () => {
  await browser?.close();
  server?.close();
});

/** A page without a model; `scripts` run before all of its own. */
async function open(...scripts) {
  const page = await browser.newPage();
  for (const script of scripts) await page.addInitScript(script);
  await page.goto(`${server.address}blank.html`);
  return page;
}

function mean(values) {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

const launches = [
  ["gbm", { agents: 1024 }],
  ["wealth", { agents: 512, steps: 10 }],
  // A world is larger than the least workgroup.
  ["nbody", { agents: 512, steps: 2 }],
];
for (const [lack, what] of [
  [{ features: true }, "timestamps, subgroups and all other features"],
  [{ limits: true }, "more than the least limits"],
  [{ features: true, limits: true }, "either"],
]) {
  test(`an adapter without ${what} gives the results`, async () => {
    const page = await open();
    const models = launches.map(([name, launch]) => [source(name), { ...launch, seed: 7 }]);
    const { asked, wrong, beyond } = await page.evaluate(async ([lack, models]) => {
      const { beyond, differences, poorer } = await import("/tests/adapters.mjs");
      const { LocalModel, initialize } = await import("/runtime/core.js");
      await initialize();
      const { result, asked } = await poorer(lack, async () => {
        const wrong = [];
        for (const [text, launch] of models) {
          const model = new LocalModel(text);
          const gpu = await model.run({ ...launch, backend: "gpu" });
          wrong.push(...differences(gpu, model.runNow(launch)));
        }
        return wrong;
      });
      return { asked, wrong: result, beyond: asked.flatMap(beyond) };
    }, [lack, models]);
    assert.deepEqual(wrong, []);
    assert.ok(asked.length > 0);
    if (lack.features) assert.ok(asked.every((it) => it.requiredFeatures.length === 0));
    if (lack.limits) assert.deepEqual(beyond, []);
    await page.close();
  });
}

test("more data than the least limits have room for is a message, or runs on the CPU", async () => {
  const page = await open();
  const [code, help, y, backend] = await page.evaluate(async () => {
    const { poorer } = await import("/tests/adapters.mjs");
    const { LocalModel, initialize } = await import("/runtime/core.js");
    await initialize();
    const { result } = await poorer({ limits: true }, async () => {
      const model = new LocalModel("agents 1\ndata t: [f32]\noutput y = t[len(t) - 1]\n");
      const launch = { t: new Float32Array(35_000_000).fill(2), statistics: false };
      const refused = await model.run({ ...launch, backend: "gpu" }).catch((error) => error);
      const done = await model.run(launch);
      return [refused.code, refused.help, done.outputs.y[0], done.report.backend];
    });
    return result;
  });
  assert.match(code, /^E08/);
  assert.ok(help);
  assert.deepEqual([y, backend], [2, "cpu"]);
  await page.close();
});

for (const [what, count] of [["a kernel's variables", 3_000], ["a processor's cache", 200_000]]) {
  test(`a state larger than ${what} is a message or the result`, async () => {
    const text = `agents 4\nsteps 2\nstate x = [0.0; ${count}]\n` +
      "step t { x[(t * 977 + 3) % len(x)] += 1.0 }\noutput y = sum(for v in x: v)\n";
    let model;
    try {
      model = new core.LocalModel(text);
    } catch (error) {
      assert.ok(error instanceof core.SimError && /^E0/.test(error.code), `${error}`);
      return;
    }
    const cpu = await model.run({});
    assert.deepEqual([...cpu.outputs.y], [2, 2, 2, 2]);
    const gpu = await model.run({ backend: "gpu" }).catch((error) => error);
    if (gpu instanceof core.SimError) assert.match(gpu.code, /^E08/);
    else assert.deepEqual([...gpu.outputs.y], [2, 2, 2, 2]);
    model.free();
  });
}

test("a model that is far too large is a message", () => {
  const text = "agents 4\nstate x = [0.0; 2_000_000_000]\noutput y = x[0]\n";
  assert.throws(() => new core.LocalModel(text), { name: "SimError", code: /^E0/ });
});

test("a model of 5,000 lines compiles and runs in its worker, and the page answers meanwhile", async () => {
  const lines = Array.from({ length: 5_000 }, (_, k) => `    x = 0.5 * x + ${k % 7}.0`);
  const text = `agents 8\nsteps 3\nstate x = 1.0\nstep {\n${lines.join("\n")}\n}\noutput x\n`;
  const { result, longest } = await calmest(async () => {
    const model = await shell.compile(text, { gpu: false });
    const run = await model.run({});
    model.free();
    return run;
  });
  let x = 1;
  for (let k = 0; k < 15_000; k++) x = Math.fround(Math.fround(0.5 * x) + ((k % 5_000) % 7));
  assert.deepEqual([...result.outputs.x], new Array(8).fill(x));
  assert.ok(longest < 50, `the thread was blocked for ${longest} ms`);
});

for (const backend of ["cpu", "gpu"]) {
  test(`a model may be freed while it runs on the ${backend}`, async () => {
    const model = new core.LocalModel(source("gbm"));
    const [first, second] = [model.run({ agents: 2000, backend }), model.run({ agents: 1000, backend })];
    assert.throws(() => model.runNow({ agents: 10 }), { code: "argument" });
    // The first run has begun.
    await null;
    model.free();
    model.free();
    assert.equal((await first).outputs.call.length, 2000);
    await assert.rejects(second, { code: "ended" });
    assert.throws(() => model.runNow({ agents: 10 }), { code: "ended" });
    assert.throws(() => model.wgsl(), { code: "ended" });
  });
}

test("a model that is freed while its worker runs it says so, and a later run works", async () => {
  const model = await shell.compile(source("gbm"), { gpu: false });
  let began;
  const beginning = new Promise((resolve) => (began = resolve));
  const run = model.run({ agents: 1_000_000, steps: 100_000, progress: began });
  await beginning;
  model.free();
  await assert.rejects(run, { code: "ended" });
  assert.equal((await model.run({ agents: 10 })).outputs.call.length, 10);
  model.free();
});

test("a model may be freed and asked by its own progress", () => {
  const model = new core.LocalModel(source("gbm"));
  const seen = [];
  const run = model.runNow({ agents: 20_000 }, () => {
    model.free();
    try {
      model.runNow({ agents: 1 });
    } catch (error) {
      seen.push(error.code);
    }
  });
  assert.equal(run.outputs.call.length, 20_000);
  assert.ok(seen.length > 0 && seen.every((code) => code === "ended"));
});

test("runs of one model on this thread wait for each other", async () => {
  const model = new core.LocalModel(source("gbm"));
  const all = await Promise.all([100, 200, 300].map((agents) => model.run({ agents, backend: "gpu" })));
  assert.deepEqual(all.map((run) => run.outputs.call.length), [100, 200, 300]);
  model.free();
});

/** In the page: compiles `gbm` and runs it; where, and the mean. */
async function runInPage(page, launch, text = source("gbm")) {
  return page.evaluate(
    async ([text, launch]) => {
      const { compile } = await import("/runtime/simc-runtime.js");
      const model = await compile(text);
      const failed = (error) => ({ report: { backend: error.code } });
      const { outputs, report } = await model.run(launch).catch(failed);
      model.free();
      const call = outputs?.call ?? [];
      return { backend: report.backend, mean: call.reduce((sum, value) => sum + value, 0) / call.length };
    },
    [text, launch],
  );
}

test("a page in the background, whose timers are held back, gets its result", async () => {
  const { outputs } = new core.LocalModel(source("gbm")).runNow({ agents: 2048, seed: 7 });
  // As browsers do it: no frames, and timers at most once a second.
  const page = await open(() => {
    Object.defineProperty(document, "hidden", { get: () => true });
    Object.defineProperty(document, "visibilityState", { get: () => "hidden" });
    window.requestAnimationFrame = () => 0;
    const { setTimeout } = window;
    window.setTimeout = (task, after, ...more) => setTimeout(task, Math.max(1000, after ?? 0), ...more);
  });
  for (const backend of ["cpu", "gpu"]) {
    const started = performance.now();
    const run = await runInPage(page, { agents: 2048, seed: 7, backend });
    assert.equal(run.backend, backend);
    assert.ok(Math.abs(run.mean - mean(outputs.call)) < 1e-3 * mean(outputs.call), `${run.mean}`);
    assert.ok(performance.now() - started < 20_000);
  }
  await page.close();
});

test("a page without WebGPU runs on the CPU, and says so where a GPU is asked for", async () => {
  const page = await open(() => Object.defineProperty(Navigator.prototype, "gpu", { get: () => undefined }));
  // The worker has a navigator of its own.
  await page.route("**/worker.js", async (route) => {
    const response = await route.fetch();
    const without = 'Object.defineProperty(WorkerNavigator.prototype, "gpu", { get: () => undefined });\n';
    await route.fulfill({ response, body: (await response.text()).replace(/^/, () => without) });
  });
  assert.equal((await runInPage(page, { agents: 100_000, backend: "auto" })).backend, "cpu");
  assert.equal((await runInPage(page, { agents: 100, backend: "gpu" })).backend, "E0801");
  await page.close();
});

test("a page's lost device is a message, and its next run works", async () => {
  const page = await open();
  const found = await page.evaluate(async (text) => {
    const { LocalModel, initialize } = await import("/runtime/core.js");
    await initialize();
    const { requestDevice } = GPUAdapter.prototype;
    const devices = [];
    GPUAdapter.prototype.requestDevice = async function (...args) {
      devices.push(await requestDevice.apply(this, args));
      return devices.at(-1);
    };
    const model = new LocalModel(text);
    const codes = [];
    const run = async () => {
      const done = await model.run({ agents: 512, backend: "gpu" }).catch((error) => error);
      codes.push(done.code ?? done.report.backend);
    };
    await run();
    devices[0].destroy();
    await run();
    await run();
    // While it computes: the message or the result.
    const last = run();
    await new Promise((resolve) => setTimeout(resolve, 1));
    devices.at(-1).destroy();
    await last;
    await run();
    return [codes, devices.length];
  }, source("gbm"));
  const [codes, devices] = found;
  assert.deepEqual(codes.slice(0, 3), ["gpu", "E0806", "gpu"]);
  assert.match(codes[3], /^(gpu|E0806)$/);
  assert.match(codes[4], /^(gpu|E0806)$/);
  assert.ok(devices >= 2);
  await page.close();
});

/**
 * Seconds of the processor that an example may take on software, to compile its kernel and to run a little:
 * those of the whole process, in which the software computes, as other work on the machine takes time, too.
 */
const PATIENCE = 15;
for (const name of examples) {
  test(`${name} keeps nobody waiting on software that computes like a GPU`, async (t) => {
    const model = new core.LocalModel(source(name));
    const tables = tablesOf(name, model.manifest);
    const data = Object.fromEntries(tables.map((table) => [table.name, table.values]));
    const world = model.manifest.world?.members ?? 1;
    const agents = Math.min(agentsOf(model.manifest), Math.max(world, 64 - (64 % world)));
    const steps = model.manifest.has_step ? Math.min(model.manifest.steps, 24) : undefined;
    const before = process.cpuUsage();
    const run = await model.run({ agents, steps, data, backend: "gpu", statistics: false });
    const { user, system } = process.cpuUsage(before);
    const seconds = (user + system) / 1e6;
    t.diagnostic(`${name}: ${seconds.toFixed(2)} s`);
    assert.equal(run.report.backend, "gpu");
    assert.ok(seconds < PATIENCE, `${seconds} s`);
    model.free();
  });
}
