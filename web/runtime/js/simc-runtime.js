// Runs models of Sim in a worker, so that the page stays alive.
import {
  LocalModel, SimError, argument, initialize, instructions, launchOf, memoryBytes, moduleFile, simError,
  useNodeGpu,
} from "./core.js";

export { LocalModel, SimError, initialize, memoryBytes, useNodeGpu };

const inNode = typeof process !== "undefined" && Boolean(process.versions?.node);

/** A worker with the module, and the answers that it owes. */
class Host {
  #worker;
  #waiting = new Map();
  #number = 0;
  dead = false;

  static async start(wasm, gpu, compiler) {
    const url = new URL("./worker.js", import.meta.url);
    const host = new Host();
    if (inNode) {
      const { Worker } = await import("node:worker_threads");
      host.#worker = new Worker(url);
      // A worker that waits must not keep the process alive.
      host.#worker.unref();
      host.#worker.on("message", (message) => host.#take(message));
      host.#worker.on("error", (error) => host.end(simError(error)));
    } else {
      host.#worker = new Worker(url, { type: "module" });
      host.#worker.onmessage = (event) => host.#take(event.data);
      host.#worker.onerror = (event) => {
        host.end(
          new SimError({
            code: "module",
            message: `the worker cannot run: ${event.message ?? "its script did not load"}`,
            help: "serve `worker.js`, `core.js` and `sim_web.js` beside this file, from the same origin",
          }),
        );
      };
    }
    host.backend = await host.ask({ action: "init", wasm, gpu, compiler });
    return host;
  }

  #take({ id, progress, result, error }) {
    const waiting = this.#waiting.get(id);
    if (!waiting) return;
    if (progress) {
      waiting.progress?.(...progress);
      return;
    }
    this.#waiting.delete(id);
    if (inNode && this.#waiting.size === 0) this.#worker.unref();
    if (error) {
      const failure = new SimError(error);
      // After a panic nothing in the module can be relied on.
      if (error.code === "internal" || error.code === "memory") this.end(failure);
      waiting.reject(failure);
    } else waiting.resolve(result);
  }

  ask(message, { progress, transfer = [] } = {}) {
    if (this.dead) return Promise.reject(new SimError({ code: "ended", message: "the worker has ended" }));
    const id = ++this.#number;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject, progress });
      if (inNode) this.#worker.ref();
      try {
        this.#worker.postMessage({ ...message, id }, transfer);
      } catch (error) {
        this.#waiting.delete(id);
        reject(argument(`a value of the launch cannot be sent to the worker: ${error.message}`));
      }
    });
  }

  /** Ends the worker; all that it owes fails. */
  end(error) {
    this.dead = true;
    this.#worker.terminate();
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
  }
}

/** The module, compiled once for all workers. */
let compiled;
function moduleOf(wasm) {
  compiled ??= fetched(wasm).catch((error) => {
    compiled = undefined;
    throw error;
  });
  return compiled;
}

async function fetched(wasm) {
  try {
    const given = await wasm;
    if (given instanceof WebAssembly.Module) return given;
    if (given instanceof ArrayBuffer || ArrayBuffer.isView(given)) return await WebAssembly.compile(given);
    const url = new URL(given ?? moduleFile, import.meta.url);
    if (url.protocol === "file:" && inNode) {
      const { readFile } = await import("node:fs/promises");
      return await WebAssembly.compile(await readFile(url));
    }
    const response = await fetch(url);
    if (!response.ok) throw new Error(`${url} answers ${response.status}`);
    // `compileStreaming` needs the type application/wasm, which not every file server gives.
    return await WebAssembly.compile(await response.arrayBuffer());
  } catch (error) {
    throw new SimError({
      code: "module",
      message: `the runtime cannot be loaded: ${error?.message ?? error}`,
      help:
        "serve the files `.wasm` beside the JavaScript; a content security policy needs 'wasm-unsafe-eval'",
    });
  }
}

/** A model, whose runs are done in a worker. */
class Model {
  /** Its program, or its text. */
  #source;
  #options;
  #host;
  #last = Promise.resolve();

  static async compile(source, options) {
    const model = new Model();
    model.#source = source;
    model.#options = options;
    await model.#start();
    return model;
  }

  async #start() {
    const { wasm, gpu, generator, precise, checks } = this.#options;
    const host = await Host.start(await moduleOf(wasm), gpu, typeof this.#source === "string");
    try {
      const options = { generator, precise, checks };
      const message = { action: "compile", model: 0, source: this.#source, options };
      ({ manifest: this.manifest } = await host.ask(message));
    } catch (error) {
      host.end(error);
      throw error;
    }
    this.#host = host;
    this.backend = host.backend;
    this.instructions = instructions;
  }

  /** The text of the kernel. */
  async wgsl() {
    await this.#alive();
    return this.#host.ask({ action: "wgsl", model: 0 });
  }

  /** Runs the model, after the runs that were asked for before. */
  run(asked = {}) {
    const run = this.#last.then(() => this.#run(asked));
    this.#last = run.catch(() => {});
    return run;
  }

  async #alive() {
    if (!this.#host || this.#host.dead) await this.#start();
  }

  async #run(asked) {
    const { signal, progress } = asked;
    const cancelled = () =>
      new SimError({ code: "E0714", message: "the run was cancelled", help: undefined });
    if (signal?.aborted) throw cancelled();
    const launch = launchOf(asked, this.manifest);
    await this.#alive();
    const host = this.#host;
    const message = { action: "run", model: 0, launch, progress: Boolean(progress) };
    // A run computes without a pause: only the end of its worker ends it. The next run starts another one.
    const abort = () => host.end(cancelled());
    signal?.addEventListener("abort", abort, { once: true });
    try {
      const run = await host.ask(message, { progress });
      this.backend = run.report.backend;
      return run;
    } finally {
      signal?.removeEventListener("abort", abort);
    }
  }

  /** Ends the worker and frees its memory. */
  free() {
    this.#host?.end(new SimError({ code: "ended", message: "the model was freed" }));
  }
}

/** Compiles a source text, with the compiler beside this file. */
export function compile(source, options = {}) {
  return Model.compile(String(source), options);
}

/** Loads a program that was compiled before: its bytes, or these in base64. */
export function load(program, options = {}) {
  const bytes = typeof program === "string" ? Uint8Array.from(atob(program), (it) => it.charCodeAt(0)) : program;
  return Model.compile(bytes, options);
}
