// What the page asks of the compiler's worker.

/** Longest time that a request may take: a worker that is busy for longer is replaced. */
const PATIENCE = 20_000;

export class CompilerError extends Error {
    constructor({ message, help, diagnostics }) {
        super(message);
        this.help = help;
        this.diagnostics = diagnostics;
    }
}

export class CompilerClient {
    #address;
    #worker;
    #waiting = new Map();
    #number = 0;
    #timer;

    constructor(address) {
        this.#address = address;
    }

    /** Asks for `method`; a method of the package `simc`. */
    ask(method, ...parameters) {
        this.#worker ??= this.#start();
        const id = ++this.#number;
        const answer = new Promise((resolve, reject) => this.#waiting.set(id, { resolve, reject }));
        this.#worker.postMessage({ id, method, parameters });
        this.#watch();
        return answer;
    }

    #start() {
        const worker = new Worker(this.#address, { type: "module" });
        worker.onmessage = ({ data: { id, value, error } }) => {
            const waiting = this.#waiting.get(id);
            this.#waiting.delete(id);
            this.#watch();
            if (error) waiting?.reject(new CompilerError(error));
            else waiting?.resolve(value);
        };
        worker.onerror = (event) => {
            event.preventDefault?.();
            this.#replace(`the compiler's worker failed: ${event.message ?? "it could not be loaded"}`);
        };
        return worker;
    }

    #watch() {
        clearTimeout(this.#timer);
        if (this.#waiting.size === 0) return;
        const why = `the compiler took more than ${PATIENCE / 1000} s`;
        this.#timer = setTimeout(() => this.#replace(why), PATIENCE);
    }

    #replace(message) {
        this.#worker?.terminate();
        this.#worker = undefined;
        const help = "make the model smaller, or compile it with the command `simc`";
        for (const { reject } of this.#waiting.values()) reject(new CompilerError({ message, help }));
        this.#waiting.clear();
    }
}
