// What the tests share: the module as built, the command beside it, the models of the repository.

import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { load } from "../../../target/web/compiler/index.js";

export const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
export const simc = await load();
const command = process.env.SIMC ?? join(ROOT, "target/debug/simc");
const options = { cwd: ROOT, maxBuffer: 1 << 28 };

/** What the command prints, whatever it thinks of the model. */
export async function native(...parameters) {
    try {
        const { stdout } = await promisify(execFile)(command, parameters, options);
        return stdout;
    } catch (error) {
        if (error.code === "ENOENT") throw new Error(`${command} is missing: cargo build -p simc`);
        return error.stdout;
    }
}

/** The models of a folder, with their text. */
export function models(folder) {
    const names = readdirSync(join(ROOT, folder))
        .filter((name) => name.endsWith(".sim"))
        .sort();
    return names.map((name) => {
        const path = `${folder}/${name}`;
        return { name, path, source: readFileSync(join(ROOT, path), "utf8") };
    });
}
