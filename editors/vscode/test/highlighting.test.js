// Every legal file of the repository, token by token: what the grammar calls a token is held against an
// independent reader of a few lines, which knows the language's words from its manual.

const test = require("node:test");
const assert = require("node:assert/strict");
const fs = require("node:fs");
const path = require("node:path");
const { ROOT, LEGAL, load, tokenize, models } = require("./grammar");

const manual = fs.readFileSync(path.join(ROOT, "docs/builtins.md"), "utf8");
const BUILTINS = new Set([...manual.matchAll(/^### `(\w+)\(/gm)].map((match) => match[1]));
// Besides those that are builtins, too.
const FOLDS_OF_AGENTS = new Set(["var", "sd", "quantiles", "histogram"]);
const TYPES = new Set(["f32", "i32", "u32", "bool", "vec2", "vec3", "vec4"]);
const DECLARATIONS = new Set(["const", "param", "data", "input", "state", "output", "record", "observe", "fn", "struct", "enum"]);
const PHASES = new Set(["init", "step", "finish"]);
const CONTROL = new Set(
  ["if", "else", "match", "for", "in", "while", "return", "break", "continue", "stop", "integrate", "assert"],
);

/** The text with spaces in place of its block comments, which nest. */
function withoutBlockComments(text) {
  let [result, at] = ["", 0];
  while (at < text.length) {
    const rest = text.slice(at);
    let [part] = /^(?:\/\/.*|"(?:[^"\\\n]|\\.)*"|[^])/.exec(rest);
    if (rest.startsWith("/*")) {
      let [open, end] = [0, 0];
      do {
        const sign = rest.slice(end, end + 2);
        open += sign === "/*" ? 1 : sign === "*/" ? -1 : 0;
        end += sign === "/*" || sign === "*/" ? 2 : 1;
      } while (open > 0 && end < rest.length);
      part = rest.slice(0, end).replace(/[^\n]/g, " ");
      at += end;
    } else {
      at += part.length;
    }
    result += part;
  }
  return result;
}

/** The tokens of a text as the manual has them: `{ line, column, text, kind }`, comments included. */
function read(text) {
  const sign = "\\.\\.|->|=>|<<=|>>=|[-+*/%=!<>&|^]=|\\*\\*|&&|\\|\\||<<|>>|[-+*/%=<>!&|^~'.,;:()[\\]{}]";
  const number = "0[xX][\\da-fA-F_]+u?|\\d[\\d_]*(?:\\.(?![.A-Za-z_])[\\d_]*)?(?:[eE][+-]?\\d+)?u?|\\.\\d[\\d_]*(?:[eE][+-]?\\d+)?";
  const pattern = new RegExp(`(?<comment>//.*)|(?<text>"(?:[^"\\\\]|\\\\.)*")|(?<number>${number})|(?<word>[A-Za-z_]\\w*)|(?<sign>${sign})`, "g");
  return withoutBlockComments(text).split(/\r?\n/).flatMap((content, index) =>
    [...content.matchAll(pattern)].map((match) => ({
      line: index + 1,
      column: match.index + 1,
      text: match[0],
      kind: Object.entries(match.groups).find(([, group]) => group !== undefined)[0],
    })),
  );
}

/** How the innermost scope of a token must begin, or `undefined` where only a parser could say. */
function expected(tokens, index) {
  const { kind, text, line } = tokens[index];
  const code = (step) => {
    let at = index + step;
    while (tokens[at]?.kind === "comment") at += step;
    return tokens[at]?.line === line ? tokens[at].text : undefined;
  };
  const [before, after] = [code(-1), code(1)];
  if (kind === "comment") {
    return /^\/\/(!|\/(?!\/))/.test(text) ? "comment.line.documentation" : "comment.line.double-slash";
  }
  if (kind === "text") return "string.quoted.double";
  if (kind === "number") {
    const float = !/^0[xX]/.test(text) && /[.eE]/.test(text);
    return float ? "constant.numeric.float" : "constant.numeric.integer";
  }
  if (kind === "sign") {
    return { "(": "punctuation.section", ")": "punctuation.section", ",": "punctuation.separator" }[text] ??
      (/^[[\]{}]$/.test(text) ? "punctuation.section" : /^[;:.]$/.test(text) ? "punctuation" : undefined) ??
      (/^[<>]$/.test(text) ? undefined : "keyword.operator");
  }
  return expectedOfWord(text, before, after);
}

function expectedOfWord(text, before, after) {
  if (before === "fn") return "entity.name.function.declaration";
  if (before === "struct" || before === "enum") return `entity.name.type.${before}.declaration`;
  if (before === "const") return "variable.other.constant.declaration";
  if (["param", "data", "input", "state", "output", "record", "observe"].includes(before)) return "entity.name.variable.declaration";
  if (before === "let" || before === "var") return "variable.other.readwrite.declaration";
  if (before === "for" || (before === "step" && text !== "{")) return "variable.other.index.declaration";
  if (before === "integrate") return "support.constant.method";
  if (before === ".") return /^[A-Z]/.test(text) ? "variable.other.enummember" : "variable.other";
  if (text === "true" || text === "false") return "constant.language.boolean";
  if (after === "(" && FOLDS_OF_AGENTS.has(text)) return "support.function.fold";
  if (text === "let" || text === "var") return "storage.type";
  if (text === "bitcast") return "support.function.bitcast";
  if (text === "_") return "variable.language.wildcard";
  if (TYPES.has(text)) return "support.type.builtin";
  if (after === "(" && BUILTINS.has(text)) return "support.function";
  if (CONTROL.has(text)) return "keyword.control";
  if (DECLARATIONS.has(text)) return "keyword.declaration";
  if (PHASES.has(text)) return "keyword.declaration.phase";
  if (text === "agent" || text === "member") return "variable.language";
  // `world 1_000` and `world state`, as opposed to `in world {`, `in world if` and `world[k]`.
  if (text === "world") return /^\w/.test(after) && after !== "if" ? "keyword.declaration" : "variable.language";
  if (text === "agents" || text === "steps") return undefined;
  if (after === "(" && text !== "limit") return /^[A-Z]/.test(text) ? "entity.name.type.constructor" : "entity.name.function.call";
  return /^(variable|entity)\./;
}

test("legal files: no token without a scope, and each kind told apart", async () => {
  const grammar = await load();
  const wrong = [];
  const seen = new Set();
  let count = 0;
  for (const { name, text } of models(...LEGAL)) {
    const tokens = tokenize(grammar, text);
    const wanted = read(text);
    for (const token of tokens) {
      if (token.scopes.length < 2) wrong.push(`${name}:${token.line}:${token.column} ${token.text}: no scope`);
      if (token.scopes.some((scope) => scope.startsWith("invalid"))) {
        wrong.push(`${name}:${token.line}:${token.column} ${token.text}: taken for a mistake`);
      }
    }
    const at = new Map();
    for (const token of tokens) {
      for (let k = 0; k < token.text.length; k++) at.set(`${token.line}:${token.column + k}`, token);
    }
    wanted.forEach((want, index) => {
      count += 1;
      const token = at.get(`${want.line}:${want.column}`);
      const own = token.scopes.filter((scope) => !scope.startsWith("punctuation.definition.comment"));
      const scope = own[own.length - 1];
      seen.add(scope);
      const start = expected(wanted, index);
      const fits =
        start === undefined || (start instanceof RegExp ? start.test(scope) : scope.startsWith(start)) ||
        (want.text === "limit" && scope.startsWith("keyword.control.loop")) ||
        (want.text === "every" && scope.startsWith("keyword.declaration"));
      if (!fits) wrong.push(`${name}:${want.line}:${want.column} ${want.text}: ${scope}, not ${start}`);
    });
  }
  assert.deepEqual(wrong.slice(0, 40), [], `${wrong.length} tokens are wrong`);
  assert.ok(count > 10_000, `${count} tokens were looked at`);
  for (const scope of ["support.function.draw.sim", "support.function.fold.sim", "variable.other.enummember.sim",
    "variable.parameter.declaration.sim", "entity.name.type.sim", "keyword.operator.derivative.sim"]) {
    assert.ok(seen.has(scope), `${scope} is nowhere`);
  }
});

test("files with mistakes are read to the end", async () => {
  const grammar = await load();
  for (const { name, text } of models("tests/errors")) {
    const read = tokenize(grammar, text).reduce((sum, token) => sum + token.text.trim().length, 0);
    assert.ok(text.trim() === "" || read > 0, name);
  }
});

/** The innermost scope of the token of a line that begins with a text. */
async function scope(line, text, before = "") {
  const grammar = await load();
  const tokens = tokenize(grammar, before + line);
  const last = Math.max(...tokens.map((token) => token.line));
  const token = tokens.find((token) => token.line === last && token.text.trim() === text);
  assert.ok(token, `\`${text}\` is no token of \`${line}\`: ${tokens.map((token) => token.text).join(" ")}`);
  return token.scopes.at(-1).replace(/\.sim$/, "");
}

const CASES = [
  ["agents 1_000", "agents", "keyword.declaration"],
  ["output x = agents * 2", "agents", "variable.language"],
  ["output x = step(0.5, y)", "step", "support.function.builtin"],
  ["step {", "step", "keyword.declaration.phase"],
  ["step t {", "t", "variable.other.index.declaration"],
  ["fn f(x: f32, o: Order) -> Order {", "x", "variable.parameter.declaration"],
  ["fn f(x: f32, o: Order) -> Order {", "Order", "entity.name.type"],
  ["struct order { price: f32 }", "price", "variable.other.property.declaration"],
  ["enum Light { Red, Green }", "Red", "variable.other.enummember.declaration"],
  ["state grid: [[order; 3]; N] = y", "order", "entity.name.type"],
  ["state grid: [[order; 3]; N] = y", "N", "variable.other.constant"],
  ["output ill = health == Health.Infected", "Health", "entity.name.type.enum"],
  ["output ill = health == Health.Infected", "Infected", "variable.other.enummember"],
  ["output x = order.price", "price", "variable.other.property"],
  ["output x = Order(1.0)", "Order", "entity.name.type.constructor"],
  ["output x = [for i in 0..3: first]", "first", "variable.other.readwrite"],
  ["output x = [for i in 0..3: first]", "..", "keyword.operator.range"],
  ["output x = 7u", "u", "keyword.other.unit"],
  ["output x = 0xffu", "0xff", "constant.numeric.integer.hexadecimal"],
  ["output x = f32(n)", "f32", "support.type.builtin"],
  ["output x = bitcast<u32>(y)", "bitcast", "support.function.bitcast"],
  ["output x = normal()", "normal", "support.function.draw"],
  ["output x = sum(for i in 0..3: i)", "sum", "support.function.fold"],
  ["output x = sum + 1", "sum", "variable.other.readwrite"],
  ["output x = double(y)", "double", "entity.name.function.call"],
  ["    while a > b limit 8 {", "limit", "keyword.control.loop"],
  ["    limit = limit + 1", "limit", "variable.other.readwrite"],
  ["    theta' = omega", "'", "keyword.operator.derivative"],
  ["    theta' = omega", "theta", "variable.other.readwrite"],
  ["    integrate rk4(DT) {", "rk4", "support.constant.method"],
  ["input w: [f32; 3] ~ normal(0.0, 1.0)", "~", "keyword.operator.bitwise"],
  ["world 1_000", "world", "keyword.declaration"],
  ["world state price = 1.0", "world", "keyword.declaration"],
  ["world state price = 1.0", "price", "entity.name.variable.declaration"],
  ["world step t {", "step", "keyword.declaration.phase"],
  ["    for other in world {", "world", "variable.language"],
  ["    for other in world {", "other", "variable.other.index.declaration"],
  ["    x = world[k].price", "world", "variable.language"],
  ["    x = world[k].price", "price", "variable.other.property"],
  ["    x = len(world)", "world", "variable.language"],
  ["    x = other.member", "member", "variable.other.property"],
  ["    x = member", "member", "variable.language"],
  ["record price every 21", "record", "keyword.declaration"],
  ["record price every 21", "price", "entity.name.variable.declaration"],
  ["record price: f32 every 21", "f32", "support.type.builtin"],
  ["record price: f32 every 21", "every", "keyword.declaration"],
  ["world observe spread = var(price) every 5", "world", "keyword.declaration"],
  ["world observe spread = var(price) every 5", "var", "support.function.fold"],
  ["world observe spread = var(price) every 5", "every", "keyword.declaration"],
  ["observe median = quantiles(price, 0.5)", "quantiles", "support.function.fold"],
  ["    every = every + 1", "every", "variable.other.readwrite"],
  ["    var sd = 1.0", "var", "storage.type"],
  ["    var sd = 1.0", "sd", "variable.other.readwrite.declaration"],
  ["near", "near", "invalid.illegal.reserved"],
  ["//! The model.", "The model.", "comment.line.documentation"],
  ["/// A rate.", "A rate.", "comment.line.documentation"],
  ["//// A rule.", "// A rule.", "comment.line.double-slash"],
  ["/* a /* b */if*/ x", "if", "comment.block"],
  ["/* a // b */ if x", "if", "keyword.control.conditional"],
];

test("single tokens", async () => {
  for (const [line, text, wanted] of CASES) {
    assert.equal(await scope(line, text), wanted, `\`${text}\` in \`${line}\``);
  }
});

test("a type that spans lines ends where its declaration ends", async () => {
  assert.equal(await scope("    3]", "3", "data x: [f32;\n"), "constant.numeric.integer.decimal");
  assert.equal(await scope("state y = x", "state", "data x: [f32;\n 3]\n"), "keyword.declaration");
});

test("code blocks of Markdown files are models", async () => {
  const markdown = await load("markdown.sim.codeblock");
  const tokens = tokenize(markdown, "Text\n\n```sim\nstate x = 1.0\n```\n\nstate of the art");
  const word = tokens.filter((token) => token.text === "state");
  assert.equal(word.length, 1);
  assert.equal(word[0].scopes.at(-1), "keyword.declaration.sim");
});
