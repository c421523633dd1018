// The gallery's pages, which `simc build --target web` writes, run in a browser and agree with native runs.
// `scripts/web/gallery.sh` builds them.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { chromium, serve } from "./browser.mjs";
import { built, examples, native, nativeMeans, root, simc } from "./support.mjs";

const folder = join(root, "target/web/gallery");
/** A page with a runtime of its own. */
const alone = join(root, "target/web/pages/alone");
const pictures = join(root, "target/web/pictures");
let browser;
let server;

before(async () => {
  mkdirSync(pictures, { recursive: true });
  const model = join(root, "lang-examples/gbm.sim");
  const args = ["build", model, "--target", "web", "--runtime", built, "-o", alone];
  execFileSync(simc, args, { stdio: "ignore" });
  server = await serve(folder, { "/alone/": alone });
  browser = await chromium();
});
after(async () => {
  await browser?.close();
  server?.close();
});

/** Opens the page of a model; problems of the page fail the test. */
async function open(name, options = {}) {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  const problems = [];
  page.on("pageerror", (error) => problems.push(error.message));
  page.on("console", (message) => {
    if (message.type() === "error") problems.push(message.text());
  });
  await page.goto(`${server.address}${name}/`);
  await page.waitForSelector("#run-fields .control");
  return { page, problems, close: () => context.close() };
}

async function finished(page, count = 1) {
  const done = (count) => Number(document.body.dataset.done ?? 0) >= count || document.body.dataset.failed;
  await page.waitForFunction(done, count, { timeout: 120_000 });
  assert.equal(await page.locator("#error").textContent(), "");
}

function mean(values) {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

test("a page runs its model, and its mean is the native one", async () => {
  const { page, problems, close } = await open("gbm");
  await finished(page);
  await page.fill("#value-agents", "20000");
  await page.fill("#value-seed", "7");
  await page.selectOption("#value-backend", "cpu");
  await page.click("#run");
  await finished(page, 2);
  const row = page.locator("#summary tbody tr", { hasText: "call" });
  const shown = Number((await row.locator("td").nth(2).textContent()).replaceAll(",", ""));
  const expected = mean(native("gbm", 20_000, 7).call.values);
  assert.ok(Math.abs(shown - expected) < 1e-4 * expected, `${shown} for ${expected}`);
  assert.ok((await page.locator("figure svg").count()) >= 3);
  assert.deepEqual(problems, []);
  await close();
});

test("WebGPU agrees with the CPU", async (t) => {
  const { page, close } = await open("gbm");
  await finished(page);
  const has = await page.evaluate(async () => Boolean(await navigator.gpu?.requestAdapter()));
  if (!has) {
    t.skip("this Chromium has no WebGPU");
    return;
  }
  await page.fill("#value-agents", "20000");
  await page.fill("#value-seed", "7");
  await page.selectOption("#value-backend", "gpu");
  await page.click("#run");
  await finished(page, 2);
  assert.match(await page.locator("#status").textContent(), /on the GPU/);
  const row = page.locator("#summary tbody tr", { hasText: "call" });
  const shown = Number((await row.locator("td").nth(2).textContent()).replaceAll(",", ""));
  const expected = mean(native("gbm", 20_000, 7).call.values);
  assert.ok(Math.abs(shown - expected) < 1e-3 * expected, `${shown} for ${expected}`);
  await close();
});

for (const name of examples) {
  test(`the page of ${name} runs, and its means are the native ones`, async () => {
    const { page, problems, close } = await open(name);
    await finished(page);
    assert.ok((await page.locator("#charts figure svg").count()) > 0);
    assert.equal(await page.locator(".preview").isVisible(), false);
    const agents = Number(await page.inputValue("#value-agents"));
    const expected = nativeMeans(name, { agents, seed: 0 });
    const rows = await page.locator("#summary tbody tr").evaluateAll((rows) =>
      rows.map((row) => Number(row.cells[2].textContent.replaceAll(",", ""))),
    );
    assert.equal(rows.length, expected.length);
    expected.forEach(({ mean, deviation }, at) => {
      // The page shows six digits.
      const bound = 1e-5 * Math.abs(mean) + 1e-4 * (deviation ?? 0) + 1e-9;
      assert.ok(Math.abs(rows[at] - mean) <= bound, `row ${at}: ${rows[at]} for ${mean}`);
    });
    assert.deepEqual(problems, []);
    await close();
  });
}

test("a page with a runtime of its own runs", async () => {
  const { page, problems, close } = await open("alone");
  await finished(page);
  assert.deepEqual(problems, []);
  await close();
});

test("a mistake is shown, and the next run works", async () => {
  const { page, close } = await open("gbm");
  await finished(page);
  await page.evaluate(() => {
    document.getElementById("launch").noValidate = true;
    document.getElementById("value-sigma").value = "70";
  });
  await page.click("#run");
  await page.waitForFunction(() => document.body.dataset.failed);
  assert.match(await page.locator("#error").textContent(), /sigma.*must lie in/);
  await page.evaluate(() => delete document.body.dataset.failed);
  await page.fill("#value-sigma", "0.5");
  await page.click("#run");
  await finished(page, 2);
  await close();
});

test("a long run can be stopped by the keyboard", async () => {
  const { page, close } = await open("gbm");
  await finished(page);
  await page.fill("#value-agents", "1000000");
  await page.fill("#value-steps", "100000");
  await page.selectOption("#value-backend", "cpu");
  await page.focus("#run");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.getElementById("progress").value > 0);
  await page.focus("#stop");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.body.dataset.failed, null, { timeout: 3000 });
  assert.match(await page.locator("#error").textContent(), /cancelled/);
  await close();
});

for (const [theme, width, height] of [["light", 1280, 900], ["dark", 1280, 900], ["light", 390, 844], ["dark", 390, 844]]) {
  test(`the page fits ${width} pixels in ${theme} colours`, async () => {
    const { page, close } = await open("sir", { colorScheme: theme, viewport: { width, height } });
    await finished(page);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth);
    assert.ok(wide <= width, `${wide}`);
    await page.screenshot({ path: join(pictures, `${theme}-${width}.png`), fullPage: true });
    await close();
  });
}

test("the page needs no eval and has none, and every control has a label", async () => {
  const html = readFileSync(join(folder, "gbm/index.html"), "utf8");
  assert.match(html, /script-src 'self' 'wasm-unsafe-eval'/);
  assert.doesNotMatch(html, /'unsafe-eval'|'unsafe-inline'/);
  const { page, close } = await open("gbm");
  // In a task of its own: what the test itself evaluates is exempt.
  const tried = () => new Promise((resolve) => {
    setTimeout(() => {
      try {
        resolve(Function("return 1")());
      } catch (error) {
        resolve(error.name);
      }
    });
  });
  assert.equal(await page.evaluate(tried), "EvalError");
  const bare = await page.evaluate(() =>
    [...document.querySelectorAll("input, select, textarea")]
      .filter((it) => it.labels.length === 0 && !it.ariaLabel)
      .map((it) => it.outerHTML),
  );
  assert.deepEqual(bare, []);
  await close();
});
