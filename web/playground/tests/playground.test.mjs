// The playground in a browser: it compiles, shows and mends mistakes, runs, shares, works offline.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { serve } from "../serve.mjs";
import { compiled, open, page, run, table, write } from "./browser.mjs";

let site;
before(async () => (site = await open()));
after(() => site?.close());

const MODEL = `agents 2_000
steps 50
/// How far a step goes.
param size = 0.1 in 0.0..1.0
state place = vec2(0.0, 0.0)
step { place += size * vec2(normal(), normal()) }
output far = length(place)
observe mean_far = mean(length(place)) every 5
record x = place.x every 10
`;

test("an example is compiled and shown, with the kernel's lines under the cursor", async () => {
    const it = await page(site);
    await compiled(it);
    assert.match(await it.locator("#editor").innerText(), /Black-Scholes|geometric Brownian motion/);
    await it.getByRole("tab", { name: "WGSL" }).click();
    const line = it.locator("#editor .cm-line", { hasText: /exp\(.*normal\(\)/ }).first();
    await line.scrollIntoViewIfNeeded();
    await line.click();
    await it.locator("#wgsl .mapped").first().waitFor();
    const marked = (await it.locator("#wgsl .mapped").allInnerTexts()).join("\n");
    assert.match(marked, /exp|normal/);
    await it.getByRole("tab", { name: "IR" }).click();
    assert.match(await it.locator("#ir .cm-content").innerText(), /step/);
    await it.getByRole("tab", { name: "Manifest" }).click();
    assert.match(await it.locator("#manifest .cm-content").innerText(), /"version"/);
    assert.deepEqual(it.problems, []);
    await it.context().close();
});

test("a mistake is shown at its place, and mended by its code action", async () => {
    const it = await page(site);
    await compiled(it);
    await write(it, MODEL.replace("place +=", "plce +="));
    const problem = it.locator("#problems li.error");
    await problem.first().waitFor();
    assert.equal(await problem.count(), 1);
    assert.match(await problem.innerText(), /line 6/);
    assert.equal(await it.locator(".cm-lintRange-error").innerText(), "plce");
    await it.locator("#start").click();
    await it.locator("#status .failure", { hasText: "the model has mistakes" }).waitFor();
    await problem.getByRole("button", { name: /Write `place`/ }).click();
    await compiled(it);
    assert.equal(await problem.count(), 0);
    assert.match(await it.locator("#editor").innerText(), /place \+= size/);
    assert.deepEqual(it.problems, []);
    await it.context().close();
});

test("hover explains, completion proposes, formatting formats", async () => {
    const it = await page(site);
    await compiled(it);
    await write(it, MODEL.replace("steps 50", "steps    50"));
    await compiled(it);
    await it.locator("#editor .sem-macro", { hasText: "size" }).last().hover();
    await it.locator(".cm-tooltip .hover").waitFor();
    assert.match(await it.locator(".cm-tooltip .hover").innerText(), /How far a step goes/);
    await it.getByRole("button", { name: "Format" }).click();
    await it.locator("#editor .cm-line", { hasText: /^steps {2}50$/ }).waitFor();
    await it.locator("#editor .cm-content").press("Control+End");
    await it.keyboard.type("output y = nor");
    await it.locator(".cm-tooltip-autocomplete li", { hasText: "normal" }).first().waitFor();
    assert.deepEqual(it.problems, []);
    await it.context().close();
});

test("a run gives the summary and plots, and sliders run it again", async () => {
    const it = await page(site);
    await compiled(it);
    await write(it, MODEL);
    await compiled(it);
    await it.locator("#backend").selectOption("cpu");
    const { far } = await run(it);
    // The mean of a Rayleigh distribution: sigma sqrt(pi / 2) with sigma = size sqrt(steps).
    assert.equal(far.count, 2_000);
    const expected = 0.1 * Math.sqrt(50) * Math.sqrt(Math.PI / 2);
    assert.ok(Math.abs(far.mean - expected) < 5 * far["std err"], `${far.mean} is not ${expected}`);
    const titles = await it.locator("figcaption").allInnerTexts();
    assert.deepEqual(titles, ["mean_far", "x", "far"]);
    const before = await it.locator("#status").innerText();
    await it.locator("#params input[type=range]").fill("0.2");
    await it.waitForFunction((text) => document.querySelector("#status").innerText !== text, before);
    const twice = (await table(it)).far;
    assert.ok(Math.abs(twice.mean / far.mean - 2) < 1e-4, `${twice.mean} is not twice ${far.mean}`);
    assert.deepEqual(it.problems, []);
    await it.context().close();
});

test("agents are animated in the plane", async () => {
    const it = await page(site);
    await compiled(it);
    await write(it, MODEL);
    await compiled(it);
    await it.locator("#animate").click();
    await it.locator("#canvas").waitFor({ timeout: 30_000 });
    await it.waitForFunction(
        () => document.querySelector("#frame-step").textContent === "step 50",
        undefined,
        { timeout: 30_000 },
    );
    const drawn = await it.locator("#canvas").evaluate((canvas) => {
        const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
        return data.filter((_, at) => at % 4 === 3).filter((alpha) => alpha > 0).length;
    });
    assert.ok(drawn > 1_000, `${drawn} pixels`);
    assert.match(await it.locator("#canvas").getAttribute("aria-label"), /2000 agents at step 50/);
    assert.deepEqual(it.problems, []);
    await it.context().close();
});

test("a link brings back the model and its launch", async () => {
    const it = await page(site);
    await compiled(it);
    await write(it, MODEL);
    await compiled(it);
    await it.locator("#seed").fill("7");
    await it.locator("#agents").fill("1_000");
    await it.locator("#param-size").fill("0.25");
    await it.locator("#backend").selectOption("cpu");
    const first = await run(it);
    await it.getByRole("button", { name: "Share" }).click();
    await it.locator("#notice", { hasText: "link" }).waitFor();
    const { hash } = new URL(it.url());
    assert.match(hash, /^#m=1\.[0-9a-f]{8}\.[\w-]+$/);
    const other = await page(site, { hash });
    await compiled(other);
    assert.equal(await other.locator("#param-size").inputValue(), "0.25");
    await other.locator("#backend").selectOption("cpu");
    assert.deepEqual(await run(other), first);
    assert.deepEqual([...it.problems, ...other.problems], []);
    await it.context().close();

    for (const [broken, why] of [
        [hash.slice(0, -4), /This link is broken/],
        [hash.replace(/\.([\w-])/, (_, c) => `.${c === "A" ? "B" : "A"}`), /This link is broken/],
        ["#m=9.00000000.AAAA", /its version is 9/],
        ["#m=1.00000000.!!", /characters that no link has/],
        ["#nonsense", /not a link of the playground/],
    ]) {
        const wrong = await page(site, { hash: broken });
        await compiled(wrong);
        assert.match(await wrong.locator("#notice").innerText(), why, broken);
        assert.deepEqual(wrong.problems, []);
        await wrong.context().close();
    }
    await other.context().close();
});

test("every example of the gallery opens; one with tables runs with them", async () => {
    const it = await page(site);
    await compiled(it);
    await it.getByRole("button", { name: "Examples" }).click();
    const names = await it
        .locator("#examples li button")
        .evaluateAll((all) => all.map((one) => one.dataset.name));
    assert.ok(names.length >= 32, `${names.length} examples`);
    await it.keyboard.press("Escape");
    for (const name of names) {
        await it.getByRole("button", { name: "Examples" }).click();
        await it.locator(`#examples button[data-name="${name}"]`).click();
        await it.locator(`#editor[data-example="${name}"]`).waitFor();
        await compiled(it);
        assert.equal(await it.locator("#tables .problem").count(), 0, name);
    }
    await it.getByRole("button", { name: "Examples" }).click();
    await it.locator("#search").fill("convol");
    await it.locator("#examples li:visible button").first().click();
    await it.locator("#tables .table").first().waitFor();
    await it.locator("#backend").selectOption("cpu");
    const found = await run(it);
    assert.ok(Object.keys(found).length > 0);
    assert.deepEqual(it.problems, []);
    await it.context().close();
});

test("the keyboard alone does", async () => {
    const it = await page(site);
    await compiled(it);
    await it.locator("#tab-run").focus();
    await it.keyboard.press("ArrowRight");
    assert.equal(await it.locator("#wgsl").isVisible(), true);
    assert.equal(await it.evaluate(() => document.activeElement.id), "tab-wgsl");
    await it.locator("#divider").focus();
    const width = () => it.locator("#model").evaluate((model) => model.offsetWidth);
    const before = await width();
    await it.keyboard.press("ArrowLeft");
    assert.ok((await width()) < before);
    await it.context().close();
});

test("the page works offline; how long it takes from its cache is printed", async () => {
    const it = await page(site);
    await compiled(it);
    await it.evaluate(() => navigator.serviceWorker.ready);
    await it.waitForFunction(() => navigator.serviceWorker.controller !== null);
    await it.context().setOffline(true);
    const started = performance.now();
    await it.reload();
    await compiled(it);
    const elapsed = performance.now() - started;
    console.log(`from the cache to the first compiled model: ${elapsed.toFixed(0)} ms`);
    await write(it, MODEL);
    await compiled(it);
    await it.locator("#backend").selectOption("cpu");
    const { far } = await run(it);
    assert.equal(far.count, 2_000);
    await it.context().close();
});

test("a run on WebGPU gives the numbers of the CPU", async (t) => {
    const it = await page(site);
    await compiled(it);
    await write(it, MODEL);
    await compiled(it);
    await it.locator("#backend").selectOption("cpu");
    const cpu = await run(it);
    await it.locator("#backend").selectOption("gpu");
    const gpu = await run(it).catch((error) => error);
    if (/no GPU support/.test(gpu.message)) return t.skip("the runtime was built without WebGPU");
    if (gpu instanceof Error) throw gpu;
    assert.match(await it.locator("#status").innerText(), /on the GPU/);
    assert.ok(
        Math.abs(gpu.far.mean - cpu.far.mean) < 1e-4 * cpu.far.mean,
        `${gpu.far.mean} is not ${cpu.far.mean}`,
    );
    await it.context().close();
});

test("a model of 5,000 lines is compiled, and the page answers meanwhile", async () => {
    const it = await page(site);
    await compiled(it);
    const lines = Array.from({ length: 5_000 }, (_, k) => `const C${k} = ${k}.0`);
    await write(it, `agents 10\nsteps 5\n${lines.join("\n")}\nstate x = C1\noutput y = x + C4999\n`);
    await it.getByRole("tab", { name: "IR" }).click();
    await it.locator("#ir .cm-content", { hasText: "4999" }).waitFor();
    await it.getByRole("tab", { name: "Run" }).click();
    await it.locator("#backend").selectOption("cpu");
    const { y } = await run(it);
    assert.equal(y.mean, 5_000);
    assert.deepEqual(it.problems, []);
    await it.context().close();
});

test("no text becomes code: the content security policy refuses `eval`", async () => {
    const it = await page(site);
    await compiled(it);
    // In a task of its own: what the test itself evaluates is exempt.
    const evaluated = await it.evaluate(
        () =>
            new Promise((resolve) => {
                setTimeout(() => {
                    try {
                        resolve(Function("return 1")());
                    } catch (error) {
                        resolve(error.name);
                    }
                });
            }),
    );
    assert.equal(evaluated, "EvalError");
    await it.context().close();
});

test("what cannot run says why, and the next run works", async () => {
    const it = await page(site);
    await compiled(it);
    await write(it, MODEL);
    await compiled(it);
    await it.locator("#backend").selectOption("cpu");
    await it.locator("#agents").fill("many");
    await it.locator("#start").click();
    await it.locator("#status .failure", { hasText: "`agents` must be a whole number" }).waitFor();
    await it.locator("#agents").fill("2_000_000_000");
    await it.locator("#start").click();
    await it.locator("#status .failure", { hasText: "memory" }).waitFor({ timeout: 60_000 });
    await it.locator("#agents").fill("500");
    assert.equal((await run(it)).far.count, 500);
    await it.locator("#param-size").fill("7");
    assert.match(await it.locator("#params .problem").first().innerText(), /0 to 1/);
    await it.locator("#start").click();
    await it.locator("#status .failure", { hasText: "`size`: 0 to 1" }).waitFor();
    await it.context().close();
});

test("a long run is stopped", async () => {
    const it = await page(site);
    await compiled(it);
    await write(it, MODEL);
    await compiled(it);
    await it.locator("#backend").selectOption("cpu");
    await it.locator("#steps").fill("50_000_000");
    await it.locator("#start").click();
    await it.locator("#stop").click();
    await it.locator("#status", { hasText: "The run was stopped." }).waitFor();
    await it.locator("#steps").fill("50");
    assert.equal((await run(it)).far.count, 2_000);
    assert.deepEqual(it.problems, []);
    await it.context().close();
});

test("the page of a model is saved, and runs", async () => {
    const it = await page(site);
    await compiled(it);
    await write(it, MODEL);
    await compiled(it);
    await it.locator("#backend").selectOption("cpu");
    const { far } = await run(it);
    const saved = it.waitForEvent("download");
    await it.getByRole("button", { name: "Page" }).click();
    const download = await saved;
    const folder = mkdtempSync(join(tmpdir(), "sim-page-"));
    const archive = join(folder, download.suggestedFilename());
    await download.saveAs(archive);
    execFileSync("python3", ["-m", "zipfile", "-e", archive, folder]);
    const own = await serve(folder);
    const opened = await page({ ...site, url: own.url });
    await opened.waitForFunction(() => !/Loading/.test(document.querySelector("#status").textContent));
    const backend = opened.getByLabel(/backend/i);
    if (await backend.count()) await backend.first().selectOption("cpu");
    await opened.locator("#run").click();
    const shown = opened.locator("#summary", { hasText: "far" });
    await shown.waitFor({ timeout: 60_000 });
    const [, mean] = /far\s+[\d,]+\s+([\d.]+)/.exec(await shown.innerText());
    assert.ok(Math.abs(mean - far.mean) < 1e-5 * far.mean, `${mean} is not ${far.mean}`);
    assert.deepEqual([...it.problems, ...opened.problems], []);
    own.close();
    await it.context().close();
    await opened.context().close();
});
