// Where the `simc` command is, from what the settings say.

const os = require("node:os");
const path = require("node:path");

/** Fills in `~` and `${workspaceFolder}`; a relative path with folders in it starts at the workspace. */
function resolvePath(configured, workspaceFolder, home = os.homedir()) {
  let result = configured.trim() || "simc";
  if (result === "~" || result.startsWith("~/")) {
    result = path.join(home, result.slice(1));
  }
  result = result.replaceAll("${workspaceFolder}", workspaceFolder ?? "");
  const bare = !result.includes("/") && !result.includes("\\");
  return bare || path.isAbsolute(result) || !workspaceFolder ? result : path.join(workspaceFolder, result);
}

module.exports = { resolvePath };
