// The runtime on this thread: runs models, and blocks while it does. `simc-runtime.js` moves it to a worker.
import init, { Model, initSync, outOfMemory, version } from "./sim_web.js";

/** An error of the compiler, a launch or a device. */
export class SimError extends Error {
  constructor({ code, message, help, rendered, diagnostics }) {
    super(message);
    this.name = "SimError";
    this.code = code;
    this.help = help ?? undefined;
    this.rendered = rendered ?? `error[${code}]: ${message}`;
    this.diagnostics = diagnostics ?? [];
  }

  /** What `postMessage` can carry. */
  plain() {
    const { code, message, help, rendered, diagnostics } = this;
    return { code, message, help, rendered, diagnostics };
  }
}

/** Any error as a `SimError`. */
export function simError(error) {
  if (error instanceof SimError) return error;
  if (error && typeof error === "object" && typeof error.code === "string" && "rendered" in error) {
    return new SimError(error);
  }
  if (error instanceof RangeError || (error instanceof WebAssembly.RuntimeError && outOfMemory())) {
    return new SimError({
      code: "memory",
      message: "the run needs more memory than a module of WebAssembly can have",
      help: "run fewer agents, sample less often, or leave out outputs with `keepOutputs: false`",
    });
  }
  return new SimError({
    code: "internal",
    message: String(error?.message ?? error),
    help: "this is a bug of the runtime: please report the model and this message",
  });
}

/** A failure of the call itself. */
export function argument(message, help) {
  return new SimError({ code: "argument", message, help });
}

let ready;
/** What the module exports. */
let exports;
/** Makes a program of a text, if the compiler was loaded. */
let compiler;

/** A module that returns whether a product is fused with a sum in relaxed vector instructions. */
const PROBE =
  "AGFzbQEAAAABBQFgAAF/AwIBAAcFAQFmAAAKHwEdAEMACIA//RNDAAiAP/0TQwAQgL/9E/2FAv0bAAs=";

function fuses() {
  const bytes = Uint8Array.from(atob(PROBE), (it) => it.charCodeAt(0));
  if (!WebAssembly.validate(bytes)) return false;
  return new WebAssembly.Instance(new WebAssembly.Module(bytes)).exports.f() !== 0;
}

/** The vector instructions of this host that the CPU backend takes, and the file of the module for them. */
export const instructions = fuses() ? "relaxed-simd" : "simd128";
export const moduleFile = instructions === "simd128" ? "./sim_web_bg.wasm" : "./sim_web_relaxed_bg.wasm";

/**
 * Loads the module once: `wasm` is a URL, a `Response`, bytes or a `WebAssembly.Module`; by default a file
 * beside this one. Then it loads the compiler, if that is here: `false` leaves it out.
 */
export async function initialize(wasm, withCompiler = true) {
  ready ??= start(wasm);
  try {
    await ready;
    if (withCompiler && !compiler) {
      compiler = await import("./compiler/source.js").then((it) => it.compiler(), () => undefined);
    }
  } catch (error) {
    ready = undefined;
    throw new SimError({
      code: "module",
      message: `the runtime cannot be loaded: ${error?.message ?? error}`,
      help:
        "serve the files `.wasm` beside the JavaScript; a content security policy needs 'wasm-unsafe-eval'",
    });
  }
}

async function start(wasm) {
  const given = await wasm;
  if (given instanceof WebAssembly.Module || given instanceof ArrayBuffer || ArrayBuffer.isView(given)) {
    exports = initSync({ module: given });
    return;
  }
  const url = new URL(given ?? moduleFile, import.meta.url);
  if (url.protocol === "file:" && typeof process !== "undefined" && process.versions?.node) {
    const { readFile } = await import("node:fs/promises");
    exports = initSync({ module: await readFile(url) });
    return;
  }
  exports = await init({ module_or_path: url });
}

/**
 * Gives Node a WebGPU: that of the npm package `webgpu` (Dawn), if it is installed or its URL is given.
 * Returns whether there is one now.
 */
export async function useNodeGpu(from = "webgpu", options = []) {
  if (globalThis.navigator?.gpu) return true;
  let dawn;
  try {
    dawn = await import(from);
  } catch {
    return false;
  }
  Object.assign(globalThis, dawn.globals);
  const gpu = dawn.create(options);
  if (globalThis.navigator) Object.defineProperty(globalThis.navigator, "gpu", { value: gpu });
  else Object.defineProperty(globalThis, "navigator", { value: { gpu }, configurable: true });
  // The runtime takes a place with this name for a worker of a browser.
  globalThis.WorkerGlobalScope ??= class WorkerGlobalScope {};
  return true;
}

/** Names that a launch has beside params, tables and inputs. */
const OPTIONS = new Set([
  "agents", "steps", "world", "firstAgent", "population", "seed", "backend", "stepsPerDispatch",
  "keepStates", "keepOutputs", "statistics", "params", "data", "inputs", "signal", "progress",
]);

/** A value of Pyodide as one of JavaScript: a buffer is viewed where it lies, other values are copied. */
function fromPython(value, views) {
  if (typeof value?.getBuffer === "function") {
    const view = value.getBuffer();
    views.push(view);
    return view.c_contiguous ? view.data : value.toJs();
  }
  return typeof value?.toJs === "function" ? value.toJs() : value;
}

/**
 * The launch as the module takes it: each value under its kind. Views of buffers of Python are added to
 * `views`, whose owner releases them.
 */
export function launchOf(asked, manifest, views = []) {
  if (asked === null || typeof asked !== "object") throw argument("a launch is an object");
  const kinds = {
    params: new Set(manifest.params.map((it) => it.name)),
    data: new Set(manifest.data.map((it) => it.name)),
    inputs: new Set([...manifest.inputs, ...(manifest.world?.inputs ?? [])].map((it) => it.name)),
  };
  const launch = { params: {}, data: {}, inputs: {} };
  for (const [name, given] of Object.entries(asked)) {
    const value = fromPython(given, views);
    if (value === undefined || name === "signal" || name === "progress") continue;
    if (name in kinds) {
      if (value === null || typeof value !== "object") throw argument(`\`${name}\` must be an object`);
      Object.assign(launch[name], value);
    } else if (OPTIONS.has(name)) {
      launch[name] = value;
    } else {
      // One that nothing has goes to the params, whose error names what was meant.
      const kind = Object.keys(kinds).find((it) => kinds[it].has(name)) ?? "params";
      launch[kind][name] = value;
    }
  }
  return launch;
}

function programOf(source, { generator, precise, checks } = {}) {
  if (!compiler) {
    throw argument("a model's text needs the compiler, which is not here", "give what `simc build` made of it");
  }
  return compiler(source, { generator, checks, math: precise ? "precise" : "fast" });
}

/** A model on this thread, from its program or, with the compiler, its text. */
export class LocalModel {
  #model;
  /** Settled when the run that is under way has ended. */
  #running;
  #freed = false;
  constructor(model, options) {
    try {
      this.#model = new Model(typeof model === "string" ? programOf(model, options) : model);
    } catch (error) {
      throw simError(error);
    }
    this.manifest = JSON.parse(this.#model.manifest());
  }

  /** The module's model, for one call. */
  #own() {
    if (this.#freed) throw new SimError({ code: "ended", message: "the model was freed" });
    if (this.#running) throw argument("a run of this model is under way: await it first");
    return this.#model;
  }

  /** Begins a run, which `end` ends; `views` are those of buffers of Python that it reads. */
  #begin() {
    const model = this.#own();
    const views = [];
    let ended;
    this.#running = new Promise((resolve) => (ended = resolve));
    const end = () => {
      for (const view of views) view.release();
      this.#running = undefined;
      if (this.#freed) model.free();
      ended();
    };
    return { model, views, end };
  }

  /** The vector instructions that the CPU backend takes. */
  get instructions() {
    return instructions;
  }

  /** The text of the kernel. */
  wgsl() {
    return this.#own().wgsl();
  }

  /**
   * Runs, on a GPU if there is one and it pays, after the run that is under way. `progress(done, all)` may
   * return `false` to end the run.
   */
  async run(asked = {}, progress = asked.progress) {
    while (this.#running) await this.#running;
    const { model, views, end } = this.#begin();
    try {
      return await model.run(launchOf(asked, this.manifest, views), progress);
    } catch (error) {
      throw simError(error);
    } finally {
      end();
    }
  }

  /** Runs on the CPU, and returns the results when it is done. */
  runNow(asked = {}, progress = asked.progress) {
    const { model, views, end } = this.#begin();
    try {
      return model.runNow(launchOf(asked, this.manifest, views), progress);
    } catch (error) {
      throw simError(error);
    } finally {
      end();
    }
  }

  /** Frees the memory of the model, after the run that is under way. */
  free() {
    if (!this.#freed && !this.#running) this.#model.free();
    this.#freed = true;
  }
}

export { version };

/** Bytes of memory that the module has. */
export function memoryBytes() {
  return exports.memory.buffer.byteLength;
}
