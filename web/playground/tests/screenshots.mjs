// Pictures of the page, to look at: node tests/screenshots.mjs FOLDER

import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { compiled, open, page, run } from "./browser.mjs";

const folder = process.argv[2] ?? "screenshots";
await mkdir(folder, { recursive: true });
const site = await open();
const SIZES = { desktop: { width: 1280, height: 800 }, phone: { width: 390, height: 844 } };

for (const colorScheme of ["light", "dark"]) {
    for (const [size, viewport] of Object.entries(SIZES)) {
        const it = await page(site, { viewport, colorScheme, hasTouch: size === "phone" });
        const save = (what) => it.screenshot({ path: join(folder, `${what}-${size}-${colorScheme}.png`) });
        const choose = async (name) => {
            await it.getByRole("button", { name: "Examples" }).click();
            await it.locator(`#examples button[data-name="${name}"]`).click();
            await it.locator(`#editor[data-example="${name}"]`).waitFor();
            await compiled(it);
        };
        const tab = (name) => it.getByRole("tab", { name }).click();
        await compiled(it);
        await save("model");
        await it.getByRole("button", { name: "Examples" }).click();
        await save("examples");
        await it.keyboard.press("Escape");
        await tab("Run");
        await it.locator("#backend").selectOption("cpu");
        await run(it);
        await save("run");
        await it.locator("#results").evaluate((results) => results.scrollIntoView());
        await save("results");
        await tab("WGSL");
        await save("wgsl");
        if (size === "phone") await tab("Model");
        await choose("boids");
        await tab("Run");
        await it.locator("#animate").click();
        await it.waitForFunction(() => Number(document.querySelector("#frame").value) > 60, undefined, {
            timeout: 60_000,
        });
        await it.locator("#plane").evaluate((plane) => plane.scrollIntoView());
        await save("plane");
        if (size === "phone") await tab("Model");
        await it.locator("#editor .cm-content").click();
        await it.keyboard.press("Control+End");
        await it.keyboard.type("\noutput z = heading.z + speeed\nstate ok = 1\n");
        await it.locator("#problems li.error").first().waitFor();
        await save("mistakes");
        await it.context().close();
    }
}
await site.close();
