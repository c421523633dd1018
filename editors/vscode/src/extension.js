// The Sim extension: starts `simc lsp`, restarts it when asked, shows the kernel of a model beside it, and
// offers `simc check` as a task. Everything that knows the language is in the server.

const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");
const { resolvePath } = require("./path");
const { Kernels } = require("./kernels");

/** @type {LanguageClient | undefined} */
let client;

/** The `simc` command as it is configured. */
function simc() {
  const configured = vscode.workspace.getConfiguration("simc").get("path", "simc");
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath;
  return resolvePath(configured, folder);
}

async function start() {
  const command = simc();
  client = new LanguageClient(
    "simc",
    "Sim",
    { command, args: ["lsp"] },
    { documentSelector: [{ language: "sim" }], outputChannelName: "Sim" },
  );
  try {
    await client.start();
  } catch (error) {
    client = undefined;
    tellMissing(command, error);
  }
}

async function stop() {
  const running = client;
  client = undefined;
  await running?.stop().catch(() => {});
}

async function tellMissing(command, error) {
  const settings = "Open Settings";
  const chosen = await vscode.window.showErrorMessage(
    `The language server did not start: \`${command} lsp\` (${error.message ?? error}). ` +
      "Install simc, or set `simc.path` to where it is.",
    settings,
  );
  if (chosen === settings) {
    vscode.commands.executeCommand("workbench.action.openSettings", "simc.path");
  }
}

/** `simc check` of the models of the open editors. */
const tasks = {
  provideTasks() {
    const models = vscode.workspace.textDocuments.filter(
      (document) => document.languageId === "sim" && document.uri.scheme === "file",
    );
    return models.map((document) => {
      const file = vscode.workspace.asRelativePath(document.uri, false);
      return checkTask({ type: "simc", file }, vscode.workspace.getWorkspaceFolder(document.uri));
    });
  },
  resolveTask(task) {
    return checkTask(task.definition, task.scope);
  },
};

function checkTask(definition, scope) {
  return new vscode.Task(
    definition,
    scope ?? vscode.TaskScope.Workspace,
    `check ${definition.file}`,
    "simc",
    new vscode.ProcessExecution(simc(), ["check", definition.file]),
    "$simc",
  );
}

/** @param {vscode.ExtensionContext} context */
async function activate(context) {
  const kernels = new Kernels((uri) => {
    if (!client) {
      throw new Error("the language server does not run");
    }
    return client.sendRequest("workspace/executeCommand", {
      command: "simc.wgsl",
      arguments: [uri.toString()],
    });
  });
  context.subscriptions.push(
    kernels,
    vscode.commands.registerCommand("sim.restart", async () => {
      await stop();
      await start();
    }),
    vscode.commands.registerCommand("sim.showWgsl", () => kernels.show(vscode.window.activeTextEditor)),
    vscode.tasks.registerTaskProvider("simc", tasks),
    vscode.workspace.onDidChangeConfiguration(async (change) => {
      if (change.affectsConfiguration("simc.path")) {
        await stop();
        await start();
      }
    }),
  );
  await start();
}

module.exports = { activate, deactivate: stop };
