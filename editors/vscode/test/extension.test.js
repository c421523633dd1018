// What the manifest promises, and what stands in the files that it names.

const test = require("node:test");
const assert = require("node:assert/strict");
const fs = require("node:fs");
const path = require("node:path");
const Module = require("node:module");
const { HOME, ROOT, load, tokenize } = require("./grammar");
const { resolvePath } = require("../src/path");

const json = (file) => JSON.parse(fs.readFileSync(path.join(HOME, file), "utf8"));
const manifest = json("package.json");
const { contributes } = manifest;

test("every file that the manifest names is there", () => {
  const files = [
    manifest.icon,
    ...contributes.languages.flatMap((language) => [language.configuration, ...Object.values(language.icon)]),
    ...contributes.grammars.map((grammar) => grammar.path),
    ...contributes.snippets.map((snippet) => snippet.path),
  ];
  for (const file of files) assert.ok(fs.existsSync(path.join(HOME, file)), file);
});

test("the problem matcher finds every mistake of the specimens", () => {
  const [head, place] = contributes.problemPatterns[0].patterns.map((part) => new RegExp(part.regexp));
  const folder = path.join(ROOT, "tests/errors/snapshots");
  const reports = fs.readdirSync(folder).filter((name) => name.endsWith(".snap"));
  let found = 0;
  for (const name of reports) {
    const lines = fs.readFileSync(path.join(folder, name), "utf8").split("\n");
    const heads = lines.flatMap((line, index) => (/^\[[EW]\d+\]/.test(line) ? [index] : []));
    assert.ok(heads.length > 0, `${name}: no report`);
    for (const at of heads) {
      const [, code, severity, message] = head.exec(lines[at]) ?? assert.fail(`${name}: ${lines[at]}`);
      const [, file, line, column] = place.exec(lines[at + 1]) ?? assert.fail(`${name}: ${lines[at + 1]}`);
      assert.match(code, /^[EW]\d{4}$/);
      assert.match(severity, /^(Error|Warning)$/);
      assert.ok(message && file && Number(line) > 0 && Number(column) > 0, name);
      found += 1;
    }
  }
  assert.ok(found > 100, `${found} reports`);
});

test("snippets are models when their places are filled", async () => {
  const grammar = await load();
  for (const [name, { body }] of Object.entries(json("snippets/sim.json"))) {
    const source = body.join("\n").replace(/\$\{(\d+)\|([^,|]*)[^}]*\}/g, "${$1:$2}");
    const places = Object.fromEntries([...source.matchAll(/\$\{(\d+):([^}]*)\}/g)].map((found) => found.slice(1)));
    const mirrored = (text) => text.replace(/\$(\d+)/g, (_, number) => places[number] ?? "");
    const text = mirrored(source.replace(/\$\{\d+:([^}]*)\}/g, "$1"));
    assert.ok(!/\$/.test(text), `${name}: ${text}`);
    const bare = tokenize(grammar, text).filter((token) => token.scopes.length < 2);
    assert.deepEqual(bare, [], name);
  }
});

test("lines are indented and continued", () => {
  const { indentationRules, onEnterRules } = json("language-configuration.json");
  const increase = new RegExp(indentationRules.increaseIndentPattern);
  const decrease = new RegExp(indentationRules.decreaseIndentPattern);
  for (const line of ["step {", "    if a > b {  // why", "    let a = [", "    x = f(a,", "} else {"]) {
    assert.ok(increase.test(line), line);
  }
  for (const line of ["step { x = 1.0 }", "// a {", "    let a = [1, 2]", "}", "    x' = v"]) {
    assert.ok(!increase.test(line), line);
  }
  for (const line of ["}", "    ]", "  })", "} else {"]) assert.ok(decrease.test(line), line);
  const continued = (line) => onEnterRules.find((rule) => new RegExp(rule.beforeText).test(line))?.action.appendText;
  assert.equal(continued("    /// A rate."), "/// ");
  assert.equal(continued("//! A model."), "//! ");
  assert.equal(continued("// A note."), undefined);
  assert.equal(continued("//// A rule."), undefined);
});

test("the path of simc is filled in", () => {
  assert.equal(resolvePath("simc", "/project"), "simc");
  assert.equal(resolvePath("  ", "/project"), "simc");
  assert.equal(resolvePath("~/bin/simc", "/project", "/home/me"), "/home/me/bin/simc");
  assert.equal(resolvePath("${workspaceFolder}/target/simc", "/project"), "/project/target/simc");
  assert.equal(resolvePath("target/simc", "/project"), "/project/target/simc");
  assert.equal(resolvePath("target/simc", undefined), "target/simc");
});

/** An editor with nothing in it that writes down what an extension does. */
function stub(log) {
  const disposable = { dispose() {} };
  class Emitter { constructor() { this.event = () => disposable; } fire(x) { log.fired.push(x); } dispose() {} }
  const nothing = new Proxy(function () {}, { get: () => nothing, apply: () => disposable, construct: () => disposable });
  const uri = (text) => ({ path: text, query: text, toString: () => text });
  return new Proxy(
    {
      EventEmitter: Emitter,
      ThemeColor: class {},
      Range: class { constructor(first, _a, last) { Object.assign(this, { first, last }); } },
      Uri: { from: (parts) => uri(`${parts.scheme}:${parts.query}`), parse: uri },
      ViewColumn: { Beside: -2 },
      TextEditorRevealType: {},
      commands: { registerCommand: (name, run) => { log.commands.set(name, run); return disposable; }, executeCommand() {} },
      tasks: { registerTaskProvider: (type) => { log.tasks.push(type); return disposable; } },
      languages: { setTextDocumentLanguage: async (document) => document },
      workspace: {
        getConfiguration: () => ({ get: (_name, fallback) => fallback }),
        registerTextDocumentContentProvider: () => disposable,
        onDidChangeTextDocument: () => disposable,
        onDidCloseTextDocument: () => disposable,
        onDidChangeConfiguration: () => disposable,
        openTextDocument: async (uri) => ({ uri }),
      },
      window: {
        createTextEditorDecorationType: () => disposable,
        onDidChangeTextEditorSelection: () => disposable,
        showTextDocument: async (document) => {
          log.shown.push(document.uri.toString());
          log.visible.push({
            document,
            setDecorations: (_type, ranges) => log.marked.push(...ranges),
            revealRange: () => {},
          });
        },
        showErrorMessage: async (text) => { log.errors.push(text); },
        showInformationMessage: async () => {},
        get visibleTextEditors() { return log.visible; },
      },
    },
    { get: (known, name) => (name in known ? known[name] : nothing) },
  );
}

function withStub(replies) {
  const log = { commands: new Map(), tasks: [], shown: [], marked: [], visible: [], errors: [], fired: [], calls: [] };
  class LanguageClient {
    constructor(...args) { log.calls.push(["new", args[2]]); }
    async start() { if (replies.refuse) throw new Error("no such file"); log.calls.push(["start"]); }
    async stop() { log.calls.push(["stop"]); }
    async sendRequest(method, params) { log.calls.push([method, params]); return replies.wgsl; }
  }
  const load = Module._load;
  Module._load = (name, ...rest) =>
    name === "vscode" ? log.vscode : name === "vscode-languageclient/node" ? { LanguageClient } : load(name, ...rest);
  log.vscode = stub(log);
  for (const file of ["extension", "kernels"]) delete require.cache[require.resolve(`../src/${file}`)];
  const extension = require("../src/extension");
  Module._load = load;
  return { log, extension };
}

test("the extension starts `simc lsp`, and restarts it", async () => {
  const { log, extension } = withStub({});
  await extension.activate({ subscriptions: [] });
  assert.deepEqual(log.calls, [["new", { command: "simc", args: ["lsp"] }], ["start"]]);
  assert.deepEqual([...log.commands.keys()].sort(), contributes.commands.map((row) => row.command).sort());
  assert.deepEqual(log.tasks, contributes.taskDefinitions.map((row) => row.type));
  await log.commands.get("sim.restart")();
  assert.deepEqual(log.calls.slice(2).map(([what]) => what), ["stop", "new", "start"]);
  await extension.deactivate();
});

test("a server that is missing is said with what to do", async () => {
  const { log, extension } = withStub({ refuse: true });
  await extension.activate({ subscriptions: [] });
  assert.match(log.errors[0], /simc lsp.*no such file.*simc\.path/);
});

test("the kernel opens beside the model and follows its cursor", async () => {
  const { log, extension } = withStub({ wgsl: { text: "fn main() {}", lines: [[3, 10, 12], [4, 13, 13]] } });
  await extension.activate({ subscriptions: [] });
  log.vscode.window.activeTextEditor = {
    document: { languageId: "sim", uri: { path: "/m.sim", toString: () => "file:///m.sim" } },
    selection: { active: { line: 3 } },
  };
  await log.commands.get("sim.showWgsl")();
  assert.deepEqual(log.errors, []);
  assert.deepEqual(log.calls.at(-1), [
    "workspace/executeCommand",
    { command: "simc.wgsl", arguments: ["file:///m.sim"] },
  ]);
  assert.deepEqual(log.shown, ["sim-wgsl:file:///m.sim"]);
  assert.deepEqual(log.marked.map(({ first, last }) => [first, last]), [[10, 12]]);
});
