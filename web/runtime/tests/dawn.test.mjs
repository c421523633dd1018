// Runs on WebGPU in Node (Dawn): the same module, and results that agree with the CPU.
import assert from "node:assert/strict";
import { test } from "node:test";
import { dawn } from "./dawn.mjs";
import { core, shell, source } from "./support.mjs";

const options = { gpu: dawn };

function mean(values) {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

for (const name of ["gbm", "lorenz", "wealth", "sir"]) {
  test(`${name} on Dawn agrees with the CPU`, async () => {
    const model = await shell.compile(source(name), options);
    const launch = { agents: 2048, steps: name === "lorenz" ? 100 : undefined, seed: 7 };
    const cpu = await model.run({ ...launch, backend: "cpu" });
    const gpu = await model.run({ ...launch, backend: "gpu" });
    assert.equal(gpu.report.backend, "gpu");
    assert.equal(model.backend, "gpu");
    assert.ok(gpu.report.dispatches > 0);
    for (const [output, values] of Object.entries(cpu.outputs)) {
      const [found, expected] = [mean(gpu.outputs[output]), mean(values)];
      const bound = 2e-3 * Math.max(1, Math.abs(expected));
      assert.ok(Math.abs(found - expected) <= bound, `${output}: ${found} for ${expected}`);
    }
    model.free();
  });
}

test("a doubling model gives the same on GPU and CPU, 200 times", async () => {
  const model = await shell.compile("agents 4\ninput x: f32\noutput y = 2.0 * x\n", options);
  const x = Float32Array.of(1, 2, 3, 4);
  for (const backend of ["gpu", "cpu"]) {
    for (let k = 0; k < 200; k++) {
      const run = await model.run({ x, backend });
      assert.deepEqual([...run.outputs.y], [2, 4, 6, 8]);
      assert.equal(run.report.backend, backend);
    }
  }
  model.free();
});

test("without a GPU, `gpu` is an error and `auto` the CPU", async () => {
  const model = await shell.compile(source("gbm"), { gpu: false });
  assert.equal(model.backend, "cpu");
  await assert.rejects(model.run({ agents: 100, backend: "gpu" }), (error) => {
    assert.equal(error.code, "E0801");
    assert.ok(error.help);
    return true;
  });
  assert.equal((await model.run({ agents: 100 })).report.backend, "cpu");
  model.free();
});

test("a lost device is an error, and the next run works", async () => {
  assert.equal(await core.useNodeGpu(options.gpu), true);
  await core.initialize();
  const adapters = Object.getPrototypeOf(await navigator.gpu.requestAdapter());
  const devices = [];
  const { requestDevice } = adapters;
  adapters.requestDevice = async function (...args) {
    devices.push(await requestDevice.apply(this, args));
    return devices.at(-1);
  };
  const model = new core.LocalModel(source("gbm"));
  const launch = { agents: 256, seed: 7, backend: "gpu" };
  const first = await model.run(launch);
  assert.equal(devices.length, 1);
  devices[0].destroy();
  await assert.rejects(model.run(launch), (error) => {
    assert.equal(error.code, "E0806");
    assert.ok(error.help);
    return true;
  });
  const again = await model.run(launch);
  assert.equal(devices.length, 2);
  assert.deepEqual(again.outputs, first.outputs);
  adapters.requestDevice = requestDevice;
});
