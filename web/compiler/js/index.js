// The compiler as a module: each function sends one request into the wasm module and reads one reply, JSON.

/** A refusal of the compiler: `help` says what to do, `diagnostics` what is wrong with the model. */
export class SimcError extends Error {
    constructor({ message, help, diagnostics }) {
        super(message);
        this.name = "SimcError";
        this.help = help;
        this.diagnostics = diagnostics;
    }
}

const utf8 = { to: new TextEncoder(), from: new TextDecoder() };

/** Loads the compiler. `wasm` is its address, its bytes, or its compiled module. */
export async function load(wasm = new URL("./simc.wasm", import.meta.url)) {
    const explanations = new URL("./explanations.json", import.meta.url);
    if (wasm instanceof WebAssembly.Module) return new Compiler(wasm, explanations);
    if (ArrayBuffer.isView(wasm) || wasm instanceof ArrayBuffer) {
        return new Compiler(await WebAssembly.compile(wasm), explanations);
    }
    const address = new URL(wasm, import.meta.url);
    const module = await WebAssembly.compile(await read(address, "give its address to `load`"));
    return new Compiler(module, new URL("./explanations.json", address));
}

/** The bytes of a file of the package. */
async function read(address, otherwise) {
    if (address.protocol === "file:") {
        const { readFile } = await import(/* a bundler for browsers leaves it out */ "node:fs/promises");
        return readFile(address);
    }
    const response = await fetch(address);
    if (!response.ok) {
        const file = address.pathname.split("/").pop();
        throw new SimcError({
            message: `there is no ${address.href}: ${response.status} ${response.statusText}`,
            help: `put \`${file}\` of the package \`simc\` there, or ${otherwise}`,
        });
    }
    return response.arrayBuffer();
}

class Compiler {
    #module;
    #instance;
    #explanations;

    constructor(module, explanations) {
        this.#module = module;
        this.#explanations = explanations;
    }

    get version() {
        return this.#ask({ ask: "version" });
    }

    get memory() {
        return this.#instance?.exports.memory.buffer.byteLength ?? 0;
    }

    check(source, { fixes } = {}) {
        return this.#ask({ ask: "check", source, fixes });
    }

    build(source, options = {}) {
        const built = this.#ask({ ask: "build", source, options });
        // A text, so that its names keep their order.
        built.manifest = JSON.parse(built.manifest);
        built.lines &&= built.lines.map(([model, first, last]) => ({ model, first, last }));
        return built;
    }

    pack(source, options = {}) {
        return this.#ask({ ask: "pack", source, options });
    }

    format(source) {
        const edit = this.#ask({ ask: "format", source });
        return edit === null ? source : source.slice(0, edit.from) + edit.insert + source.slice(edit.to);
    }

    hover(source, at) {
        return this.#ask({ ask: "hover", source, at });
    }

    signature(source, at) {
        return this.#ask({ ask: "signature", source, at });
    }

    complete(source, at) {
        return this.#ask({ ask: "complete", source, at });
    }

    definition(source, at) {
        return this.#ask({ ask: "definition", source, at });
    }

    references(source, at) {
        return this.#ask({ ask: "references", source, at });
    }

    rename(source, at, name) {
        return this.#ask({ ask: "rename", source, at, name });
    }

    codeActions(source, from, to = from) {
        return this.#ask({ ask: "actions", source, from, to });
    }

    outline(source) {
        return this.#ask({ ask: "outline", source });
    }

    tokens(source) {
        return this.#ask({ ask: "tokens", source });
    }

    async explain(code) {
        if (this.#explanations instanceof URL) {
            const bytes = await read(this.#explanations, "load the module from beside it");
            this.#explanations = Object.entries(JSON.parse(utf8.from.decode(bytes)));
        }
        const meant = code.toLowerCase();
        const means = ([code, [name]]) => code.toLowerCase() === meant || name === meant;
        return this.#explanations.find(means)?.[1][1] ?? null;
    }

    #ask(request) {
        const bytes = utf8.to.encode(written(request));
        this.#instance ??= new WebAssembly.Instance(this.#module);
        const { memory, request: room, answer, reply } = this.#instance.exports;
        let text;
        try {
            const at = room(bytes.length);
            new Uint8Array(memory.buffer, at, bytes.length).set(bytes);
            const length = answer();
            text = utf8.from.decode(new Uint8Array(memory.buffer, reply(), length));
        } catch (error) {
            // The instance is in an unknown state: the next request gets a new one.
            this.#instance = undefined;
            throw crashed(error, request);
        }
        const { ok, error } = JSON.parse(text);
        if (error) throw new SimcError(error);
        return ok;
    }
}

/** A request as the module reads it: names and values in turn, a zero behind each, and the source last. */
function written({ options, source, ...fields }) {
    for (const [name, value] of Object.entries(options ?? {})) fields[`options.${name}`] = value;
    const given = Object.entries(fields)
        .filter(([, value]) => value !== undefined && value !== null)
        // A zero ends a value: no name or option has one.
        .map(([name, value]) => [name, String(value).replaceAll("\0", "\ufffd")]);
    // Half a surrogate pair is no character: the same length stays.
    if (source !== undefined) given.push(["source", String(source).toWellFormed()]);
    return given.flat().join("\0");
}

function crashed(error, { ask }) {
    const deep = error instanceof RangeError || /stack|out of bounds/.test(error.message);
    const refusal = new SimcError(
        deep
            ? {
                  message: "the model is nested too deeply, or too large, for the compiler in WebAssembly",
                  help: "split long or nested expressions with `let`, or use the command `simc`",
              }
            : {
                  message: `the compiler failed at \`${ask}\`: ${error.message}`,
                  help: "report it with the model: a bug in simc",
              },
    );
    refusal.cause = error;
    return refusal;
}
