// The npm package: its archive, installed into an empty folder, runs models there.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { dawn } from "./dawn.mjs";
import { installed } from "./installed.mjs";
import { built, root, simc } from "./support.mjs";

let place;
before(() => {
  place = installed(join(root, "target/web/package"));
});
after(() => place?.remove());

/** The module of a user. */
const main = (launch) => `
import { compile } from "simc-runtime";
const model = await compile("agents 4\\ninput x: f32\\noutput y = 2.0 * x\\n");
const run = await model.run(${JSON.stringify(launch)});
console.log([...run.outputs.y].join(), run.report.backend);
model.free();
`;

test("it holds what it needs, and its version is that of the project", () => {
  const folder = join(place.folder, "node_modules/simc-runtime");
  const files = readdirSync(folder, { recursive: true });
  for (const needed of ["LICENSE-APACHE", "LICENSE-MIT", "README.md", "simc-runtime.js", "simc-runtime.d.ts"]) {
    assert.ok(files.includes(needed), `${needed} is missing among ${files}`);
  }
  assert.ok(!files.some((file) => /page|chart/.test(file)), `${files}`);
  const { version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  assert.equal(version, readFileSync(join(built, "version.txt"), "utf8").trim());
});

test("without the package `webgpu` a model runs on the CPU", () => {
  assert.equal(place.run(main({ x: [1, 2, 3, 4] })), "2,4,6,8 cpu");
});

test("the core runs on the calling thread", () => {
  const text = `
import { LocalModel, initialize } from "simc-runtime/core.js";
await initialize();
console.log([...new LocalModel("agents 3\\noutput y = agent\\n").runNow().outputs.y].join());
`;
  assert.equal(place.run(text), "0,1,2");
});

test("with the package `webgpu` it runs on the GPU", () => {
  symlinkSync(new URL(".", dawn), join(place.folder, "node_modules/webgpu"));
  assert.equal(place.run(main({ x: [1, 2, 3, 4], backend: "gpu" })), "2,4,6,8 gpu");
});

test("its types, and those of a built model, are right for a program and wrong for another", () => {
  const site = join(place.folder, "site");
  const model = join(root, "lang-examples/gbm.sim");
  const args = ["build", model, "--target", "web", "--runtime", built, "-o", site];
  execFileSync(simc, args, { stdio: "ignore" });
  const check = (name, text) => {
    writeFileSync(join(place.folder, name), text);
    const tsc = join(root, "target/web/tools/node_modules/typescript/bin/tsc");
    const options = ["--noEmit", "--strict", "--target", "es2022", "--module", "nodenext", "--types", ""];
    try {
      return execFileSync(process.execPath, [tsc, ...options, name], { cwd: place.folder, encoding: "utf8" });
    } catch (error) {
      return error.stdout;
    }
  };
  const good = `
import { compile, SimError, type Run } from "simc-runtime";
import { load } from "./site/gbm.js";
const any = await compile("output y = 1.0");
const run: Run = await any.run({ agents: 3, seed: 7n, signal: new AbortController().signal });
const gbm = await load({ gpu: false });
const call: Float32Array = (await gbm.run({ agents: 10, sigma: 0.3 })).outputs.call;
console.log(run.report.backend, call, SimError);
`;
  assert.equal(check("good.ts", good), "");
  const wrong = check("wrong.ts", good.replace("sigma: 0.3", "sigma: {}"));
  assert.match(wrong, /wrong\.ts\(7,/);
});
