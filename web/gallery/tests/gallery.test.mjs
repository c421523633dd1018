// The gallery's index and its benchmark page in Chromium. `scripts/web/gallery.sh` builds them.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { chromium, serve } from "../../runtime/tests/browser.mjs";
import { examples, root } from "../../runtime/tests/support.mjs";

const folder = join(root, "target/web/gallery");
const pictures = join(root, "target/web/pictures");
let browser;
let server;

before(async () => {
  mkdirSync(pictures, { recursive: true });
  server = await serve(folder);
  browser = await chromium();
});
after(async () => {
  await browser?.close();
  server?.close();
});

async function open(path, options = {}, prepare = () => {}) {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  const problems = [];
  page.on("pageerror", (error) => problems.push(error.message));
  page.on("console", (message) => {
    if (message.type() === "error") problems.push(message.text());
  });
  await prepare(page);
  await page.goto(`${server.address}${path}`);
  return { page, problems, close: () => context.close() };
}

test("the index shows every example, with its picture, title and a line", async () => {
  const { page, problems, close } = await open("");
  await page.locator("#count", { hasText: `${examples.length} models` }).waitFor();
  await page.evaluate(() => document.querySelectorAll("img").forEach((image) => (image.loading = "eager")));
  await page.waitForFunction(() => [...document.images].every((image) => image.complete));
  const cards = await page.locator(".cards > li").evaluateAll((cards) =>
    cards.map((card) => ({
      link: card.querySelector("a").getAttribute("href"),
      width: card.querySelector("img").naturalWidth,
      title: card.querySelector("h2").textContent,
      line: card.querySelector("p").textContent,
    })),
  );
  assert.deepEqual(cards.map(({ link }) => link), examples.map((name) => `${name}/`));
  for (const card of cards) {
    assert.ok(card.width > 100, `${card.link} has no picture`);
    assert.ok(card.title.length > 1 && /[.:]$/.test(card.line), JSON.stringify(card));
  }
  assert.deepEqual(problems, []);
  await close();
});

test("search and topics choose models, and the address keeps the choice", async () => {
  const { page, close } = await open("");
  const shown = () => page.locator(".cards > li:visible h2").allTextContents();
  await page.selectOption("#topic", "Finance");
  const finance = await shown();
  assert.ok(finance.length > 2 && finance.length < examples.length);
  await page.fill("#search", "asian");
  assert.deepEqual(await shown(), ["Asian put"]);
  await page.reload();
  assert.deepEqual(await shown(), ["Asian put"]);
  assert.match(await page.locator("#count").textContent(), /^1 of/);
  await page.locator(".cards > li:visible a").click();
  await page.locator("nav a").click();
  await page.locator("#filter").waitFor();
  await close();
});

test("all pages share one runtime", () => {
  const files = readdirSync(folder, { recursive: true });
  const modules = files.filter((file) => /\.wasm$|(core|worker|page)\.js$/.test(file));
  assert.ok(modules.length >= 4, `${modules}`);
  assert.ok(modules.every((file) => file.startsWith("runtime/")), `${modules}`);
  for (const name of examples) {
    assert.ok(existsSync(join(folder, name, `${name}.d.ts`)));
    const text = readFileSync(join(folder, name, "dark.svg"), "utf8");
    assert.match(text, /^<svg [^>]*viewBox="0 \d+ /);
  }
});

for (const theme of ["light", "dark"]) {
  for (const [width, height] of [[1280, 900], [390, 844]]) {
    test(`index and benchmark fit ${width} pixels in ${theme} colours`, async () => {
      for (const path of ["", "benchmark/"]) {
        const { page, close } = await open(path, { colorScheme: theme, viewport: { width, height } });
        await page.waitForLoadState("networkidle");
        const wide = await page.evaluate(() => document.documentElement.scrollWidth);
        assert.ok(wide <= width, `${wide}`);
        const name = path === "" ? "gallery" : "benchmark";
        await page.screenshot({ path: join(pictures, `${name}-${theme}-${width}.png`) });
        await close();
      }
    });
  }
}

/** Runs the benchmark page; gives what its rows say. */
async function benchmark(models, backend, prepare) {
  const { page, problems, close } = await open(`benchmark/?seconds=0.1&models=${models}`, {}, prepare);
  await page.locator("#status", { hasText: "Ready." }).waitFor();
  await page.selectOption("#backend", backend);
  await page.click("#run");
  const ended = () => document.body.dataset.done || document.body.dataset.failed;
  await page.waitForFunction(ended, null, { timeout: 180_000 });
  assert.equal(await page.locator("#error").textContent(), "");
  const rows = await page.locator("#results tbody tr").evaluateAll((rows) =>
    rows.map((row) => {
      const cells = [...row.cells].slice(1).map((cell) => [cell.dataset.column, cell.textContent]);
      return { ...row.dataset, ...Object.fromEntries(cells) };
    }),
  );
  assert.deepEqual(problems, []);
  await close();
  return rows;
}

test("on the CPU the benchmark verifies and times each model", async () => {
  const names = Object.keys(JSON.parse(readFileSync(join(root, "web/gallery/benchmarks.json"), "utf8")));
  const rows = await benchmark(names, "cpu");
  assert.deepEqual(rows.map(({ model }) => model), names);
  for (const row of rows) {
    assert.equal(row.state, "timed", JSON.stringify(row));
    assert.equal(row.where, "CPU");
    assert.match(row.rate, /^[\d.,]+ [MG]$/);
    assert.equal(row.fraction, "–");
  }
});

test("on a GPU it shows the fraction of one dispatch per step", async () => {
  const [row] = await benchmark(["lorenz"], "gpu");
  assert.deepEqual([row.state, row.where], ["timed", "GPU"]);
  assert.ok(Number(row.dispatches) >= 1000, `${row.dispatches} dispatches`);
  assert.ok(Number(row.fraction) > 0, row.fraction);
});

test("a wrong mean score is shown, and nothing is timed", async () => {
  const wrong = (page) =>
    page.route("**/models.json", async (route) => {
      const models = await (await route.fetch()).json();
      for (const model of models) model.mean *= 1.1;
      await route.fulfill({ json: models });
    });
  const [row] = await benchmark(["pi"], "cpu", wrong);
  assert.equal(row.state, "wrong");
  assert.match(row.where, /^off by 9\.1 %/);
  assert.equal(row.rate, "");
});
