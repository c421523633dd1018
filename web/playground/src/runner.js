// Runs of a model by the runtime's module, which has a worker of its own.

const RUNTIME = new URL("runtime/", document.baseURI);

export class RunError extends Error {
    constructor(message, help, rendered) {
        super(message);
        this.help = help;
        this.rendered = rendered;
    }
}

/** Has this error, of whatever kind, as one with a cause and a fix. */
function explained(error) {
    if (error instanceof RunError || error?.name === "AbortError") return error;
    return new RunError(error?.message ?? String(error), error?.help, error?.rendered);
}

export class Runner {
    #parts;
    #model;
    #source;

    /** The runtime and its module, loaded once. */
    async #load() {
        this.#parts ??= Promise.all([
            import(new URL("simc-runtime.js", RUNTIME).href),
            fetch(new URL("sim_web_bg.wasm", RUNTIME))
                .then((response) => {
                    if (!response.ok) throw new Error(`${response.status} ${response.statusText}`);
                    return response.arrayBuffer();
                })
                .then((bytes) => WebAssembly.compile(bytes)),
        ]).catch((error) => {
            this.#parts = undefined;
            throw new RunError(`the runtime cannot be loaded: ${error.message}`, "reload the page; offline, visit it once with a network first");
        });
        return this.#parts;
    }

    /** The model compiled for runs. */
    async model(source) {
        if (this.#source === source && this.#model) return this.#model;
        const [{ compile }, wasm] = await this.#load();
        const model = await compile(source, { wasm }).catch((error) => {
            throw explained(error);
        });
        this.drop();
        this.#model = model;
        this.#source = source;
        return model;
    }

    /** Frees the model: the next run compiles it again. */
    drop() {
        this.#model?.free();
        this.#model = undefined;
        this.#source = undefined;
    }

    async run(source, launch) {
        try {
            const model = await this.model(source);
            return await model.run(launch);
        } catch (error) {
            // Whatever happened to its worker or its device, the next run begins afresh.
            if (error?.name !== "AbortError") this.drop();
            throw explained(error);
        }
    }

    /** A run of a model that is used once. */
    async runOnce(source, launch) {
        const [{ compile }, wasm] = await this.#load();
        let model;
        try {
            model = await compile(source, { wasm });
            return await model.run(launch);
        } catch (error) {
            throw explained(error);
        } finally {
            model?.free();
        }
    }
}
