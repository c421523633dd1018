// Runs of a model by the runtime's module, which has a worker of its own.

/** The runtime's code of a run that was cancelled. */
const CANCELLED = "E0714";
const RUNTIME = new URL("runtime/", document.baseURI);

export class RunError extends Error {
    constructor(message, help, code) {
        super(message);
        this.help = help;
        /** Was it the page that ended the run? */
        this.cancelled = code === CANCELLED;
    }
}

/** Has this error, of whatever kind, as one with a cause and a fix. */
function explained(error) {
    if (error instanceof RunError) return error;
    return new RunError(error?.message ?? String(error), error?.help, error?.code);
}

export class Runner {
    #parts;
    #model;
    #source;

    /** The runtime, loaded once; it compiles its module once. */
    async #load() {
        this.#parts ??= import(new URL("simc-runtime.js", RUNTIME).href).catch((error) => {
            this.#parts = undefined;
            const help = "reload the page; offline, it works after one visit with a network";
            throw new RunError(`the runtime cannot be loaded: ${error.message}`, help);
        });
        return this.#parts;
    }

    /** The model compiled for runs. */
    async model(source) {
        if (this.#source === source && this.#model) return this.#model;
        const { compile } = await this.#load();
        const model = await compile(source).catch((error) => {
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
            const found = explained(error);
            if (!found.cancelled) this.drop();
            throw found;
        }
    }

    /** A run of a model that is used once. */
    async runOnce(source, launch) {
        const { compile } = await this.#load();
        let model;
        try {
            model = await compile(source);
            return await model.run(launch);
        } catch (error) {
            throw explained(error);
        } finally {
            model?.free();
        }
    }
}
