// The TextMate grammar in its real engine: lines to tokens with scopes.

const fs = require("node:fs");
const path = require("node:path");
const textmate = require("vscode-textmate");
const oniguruma = require("vscode-oniguruma");

const HOME = path.join(__dirname, "..");
const ROOT = path.join(HOME, "..", "..");

const GRAMMARS = {
  "source.sim": "syntaxes/sim.tmLanguage.json",
  "markdown.sim.codeblock": "syntaxes/markdown.tmLanguage.json",
};

const loaded = new Map();

/** A grammar by its scope, read once. */
function load(scope = "source.sim") {
  if (!loaded.has(scope)) loaded.set(scope, read(scope));
  return loaded.get(scope);
}

async function read(scope) {
  const wasm = fs.readFileSync(require.resolve("vscode-oniguruma/release/onig.wasm"));
  await oniguruma.loadWASM(wasm.buffer.slice(wasm.byteOffset, wasm.byteOffset + wasm.byteLength));
  const registry = new textmate.Registry({
    onigLib: Promise.resolve({
      createOnigScanner: (patterns) => new oniguruma.OnigScanner(patterns),
      createOnigString: (text) => new oniguruma.OnigString(text),
    }),
    loadGrammar: async (name) => {
      const file = GRAMMARS[name];
      if (!file) return null;
      return textmate.parseRawGrammar(fs.readFileSync(path.join(HOME, file), "utf8"), file);
    },
  });
  return registry.loadGrammar(scope);
}

/** All tokens of a text that are no white space: `{ line, column, text, scopes }`, counted from 1. */
function tokenize(grammar, text) {
  const tokens = [];
  let stack = textmate.INITIAL;
  text.split(/\r?\n/).forEach((content, index) => {
    const result = grammar.tokenizeLine(content, stack);
    stack = result.ruleStack;
    for (const { startIndex, endIndex, scopes } of result.tokens) {
      const piece = content.slice(startIndex, endIndex);
      if (piece.trim() !== "") {
        tokens.push({ line: index + 1, column: startIndex + 1, text: piece, scopes });
      }
    }
  });
  return tokens;
}

/** Every `.sim` file of folders of the repository: `{ name, text }`. */
function models(...folders) {
  return folders.flatMap((folder) =>
    fs
      .readdirSync(path.join(ROOT, folder))
      .filter((name) => name.endsWith(".sim"))
      .map((name) => ({
        name: `${folder}/${name}`,
        text: fs.readFileSync(path.join(ROOT, folder, name), "utf8"),
      })),
  );
}

const LEGAL = ["lang-examples", "tests/run", "tests/language"];

module.exports = { HOME, ROOT, LEGAL, load, tokenize, models };
