// Models given as texts: compiles them with the package `simc` beside this file. Built pages have no use for it.
import { load } from "./index.js";

/** How many bytes a text has up to a place. */
const bytes = (text) => new TextEncoder().encode(text).length;

/** The errors of the compiler as those of the runtime. */
function failure({ message, help, diagnostics = [] }, source) {
  const found = diagnostics.filter(({ severity }) => severity === "error");
  const shown = found.map((it) => {
    const before = source.slice(0, it.from).split("\n");
    const place = `model.sim:${before.length}:${[...before.at(-1)].length + 1}`;
    return `error[${it.code}]: ${it.message}\n  --> ${place}${it.help ? `\nhelp: ${it.help}` : ""}`;
  });
  const plain = found.map(({ code, message, help, severity, from, to }) => {
    const start = bytes(source.slice(0, from));
    return { code, message, help: help ?? undefined, severity, start, end: start + bytes(source.slice(from, to)) };
  });
  const first = found[0] ?? { code: "compiler", message, help };
  return {
    code: first.code, message: first.message, help: first.help, diagnostics: plain,
    rendered: shown.join("\n\n") || undefined,
  };
}

/** Loads the compiler: a function that makes a program of a text, or throws what a `SimError` is made of. */
export async function compiler(wasm) {
  const simc = await load(wasm);
  return (source, options) => {
    try {
      return Uint8Array.from(atob(simc.pack(source, options).program), (it) => it.charCodeAt(0));
    } catch (error) {
      throw failure(error, source);
    }
  };
}
