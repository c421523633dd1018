// The worker: owns the module, and answers one message after the other.
import { LocalModel, SimError, initialize, simError, useNodeGpu } from "./core.js";

const inNode = typeof process !== "undefined" && Boolean(process.versions?.node);
const port = inNode ? (await import("node:worker_threads")).parentPort : globalThis;
const post = (message, transfer = []) => port.postMessage(message, transfer);

const models = new Map();

/** Whether there is a GPU that is no software. */
async function hasGpu() {
  try {
    const adapter = await globalThis.navigator?.gpu?.requestAdapter();
    return Boolean(adapter) && !adapter.info?.isFallbackAdapter;
  } catch {
    return false;
  }
}

/** The buffers of results, which move to the caller. */
function buffers(value, found = []) {
  if (ArrayBuffer.isView(value)) found.push(value.buffer);
  else if (value && typeof value === "object") for (const part of Object.values(value)) buffers(part, found);
  return found;
}

const actions = {
  async init({ wasm, gpu, compiler }) {
    if (inNode && gpu !== false) await useNodeGpu(gpu);
    await initialize(wasm, compiler);
    return (await hasGpu()) ? "gpu" : "cpu";
  },
  compile({ model, source, options }) {
    const local = new LocalModel(source, options);
    models.set(model, local);
    return { manifest: local.manifest };
  },
  wgsl({ model }) {
    return models.get(model).wgsl();
  },
  run({ id, model, launch, progress }) {
    const report = progress ? (done, all) => post({ id, progress: [done, all] }) : undefined;
    return models.get(model).run(launch, report);
  },
  free({ model }) {
    models.get(model)?.free();
    models.delete(model);
  },
};

async function answer(message) {
  const { id, action } = message;
  try {
    const result = await actions[action](message);
    post({ id, result }, buffers(result));
  } catch (error) {
    const failure = error instanceof SimError ? error : simError(error);
    post({ id, error: failure.plain() });
  }
}

if (inNode) port.on("message", answer);
else port.onmessage = (event) => answer(event.data);
