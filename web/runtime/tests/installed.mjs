// Packs an npm package and installs it into an empty folder, as a user's `npm install` would.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** The folder with the package installed: `run(name, text)` runs a module of it, `remove()` deletes it. */
export function installed(built) {
  const folder = mkdtempSync(join(tmpdir(), "sim-npm-"));
  const npm = (...args) => execFileSync("npm", args, { cwd: folder, stdio: ["ignore", "pipe", "pipe"] });
  npm("pack", built, "--silent");
  const [archive] = readdirSync(folder).filter((file) => file.endsWith(".tgz"));
  writeFileSync(join(folder, "package.json"), '{ "private": true, "type": "module" }\n');
  npm("install", "--silent", "--offline", "--no-audit", "--no-fund", `./${archive}`);
  return {
    folder,
    run(text, env = {}) {
      writeFileSync(join(folder, "main.mjs"), text);
      const options = { cwd: folder, encoding: "utf8", env: { ...process.env, ...env } };
      return execFileSync(process.execPath, ["main.mjs"], options).trim();
    },
    remove: () => rmSync(folder, { recursive: true }),
  };
}
