// A headless Chromium on the built site.

import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";
import { serve } from "../serve.mjs";

const CANDIDATES = [
    process.env.CHROMIUM,
    "/usr/bin/chromium",
    "/usr/bin/chromium-browser",
    "/usr/bin/google-chrome",
];

/** A browser and the address of the site. */
export async function open() {
    const executablePath = CANDIDATES.find((path) => path && existsSync(path));
    if (!executablePath)
        throw new Error("Chromium is missing: apt-get install chromium, or set CHROMIUM");
    const args = [
        "--no-sandbox",
        "--disable-quic",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--enable-unsafe-webgpu",
    ];
    const browser = await chromium.launch({ executablePath, args });
    const site = await serve(fileURLToPath(new URL("../dist/", import.meta.url)));
    return { browser, url: site.url, close: async () => (await browser.close(), site.close()) };
}

/** A page on which nothing may go wrong unnoticed. */
export async function page({ browser, url }, { hash = "", ...options } = {}) {
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
    const made = await context.newPage();
    made.problems = [];
    made.on("pageerror", (error) => made.problems.push(error.message));
    made.on("console", (message) => {
        if (message.type() === "error") made.problems.push(message.text());
    });
    await made.goto(url + hash);
    return made;
}

export const compiled = (page) =>
    page.locator("#verdict:not([data-stale])", { hasText: "Compiled in" }).waitFor();

/** Replaces the model by another text, as a user who pastes it. */
export async function write(page, text) {
    await page.locator("#editor .cm-content").click();
    await page.keyboard.press("Control+A");
    await page.evaluate((pasted) => {
        const data = new DataTransfer();
        data.setData("text/plain", pasted);
        const event = new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true });
        document.querySelector("#editor .cm-content").dispatchEvent(event);
    }, text);
}

/** Runs the model; its table by output and column. */
export async function run(page) {
    await page.locator("#status").evaluate((status) => status.replaceChildren());
    await page.locator("#start").click();
    await page.locator("#status", { hasText: /\S/ }).waitFor({ timeout: 60_000 });
    const failure = page.locator("#status .failure");
    if (await failure.count()) throw new Error(await failure.innerText());
    return table(page);
}

export const table = (page) =>
    page.locator("#summary").evaluate((found) => {
        const names = [...found.tHead.rows[0].cells].map((cell) => cell.textContent);
        const rows = [...found.tBodies[0].rows].map((row) => {
            const cells = [...row.cells].map((cell) => cell.textContent);
            return [
                cells[0],
                Object.fromEntries(
                    names.slice(1).map((name, at) => [name, Number(cells[at + 1].replaceAll(",", ""))]),
                ),
            ];
        });
        return Object.fromEntries(rows);
    });
