// The npm package: its archive, installed into an empty folder, compiles models there.

import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { installed } from "../../runtime/tests/installed.mjs";
import { fileURLToPath } from "node:url";

const built = fileURLToPath(new URL("../../../target/web/compiler", import.meta.url));

test("what npm installs compiles a model, and finds a mistake", () => {
    const place = installed(built);
    try {
        const text = `
import { load } from "simc";
const simc = await load();
const { wgsl, manifest } = simc.build("agents 4\\ninput x: f32\\noutput y = 2.0 * x\\n");
const [{ code }] = simc.check("output y = z\\n");
console.log(wgsl.includes("@compute"), manifest.outputs[0].name, code);
`;
        assert.equal(place.run(text), "true y E0201");
    } finally {
        place.remove();
    }
});
