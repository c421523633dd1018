// The compiler in a worker: one request after the other, each with its number.

import { load } from "../../compiler/js/index.js";

let compiler;
const ready = load(new URL("runtime/compiler/simc.wasm", self.location.href)).then((loaded) => (compiler = loaded));

self.onmessage = async ({ data: { id, method, parameters } }) => {
    try {
        await ready;
        const value = method === "version" ? compiler.version : await compiler[method](...parameters);
        self.postMessage({ id, value });
    } catch (error) {
        const { message, help, diagnostics } = error;
        self.postMessage({ id, error: { message, help: help ?? "", diagnostics } });
    }
};
