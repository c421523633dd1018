// The page: it joins the editor, the compiler, runs and links.

import { CompilerClient } from "./compiler-client.js";
import { ModelEditor } from "./editor.js";
import { Gallery } from "./gallery.js";
import { wgsl } from "./language.js";
import { LaunchForm } from "./launch.js";
import { Listing } from "./listing.js";
import { element } from "./markdown.js";
import { pageOf } from "./page.js";
import { Parameters } from "./parameters.js";
import { PlaneView } from "./plane-view.js";
import { describe, show as showResults } from "./results.js";
import { Runner } from "./runner.js";
import { decode, encode, LinkError } from "./share.js";
import { draggable, Tabs, themed } from "./shell.js";

const get = (id) => document.getElementById(id);
const compiler = new CompilerClient(new URL("compiler-worker.js", document.baseURI));
const runner = new Runner();
/** Shown first, and where a link is broken. */
const FIRST = "gbm";

/** Saves a file of the user's. */
function download(name, blob) {
    const url = URL.createObjectURL(blob);
    element("a", { href: url, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

class Playground {
    built;
    files;
    pending = { given: undefined, files: undefined };
    running;
    /** The text that the compiler has read, and who waits for it to read another. */
    known;
    waiting = [];
    again = false;
    hasRun = false;

    constructor() {
        this.editor = new ModelEditor({
            parent: get("editor"),
            compiler,
            onChange: (source, found) => this.#checked(source, found),
            onCursor: () => this.#follow(),
            onTyping: () => get("verdict").setAttribute("data-stale", ""),
        });
        const listing = (id, label, more) =>
            new Listing({ parent: get(id).querySelector(".listing"), label, ...more });
        this.listings = {
            wgsl: listing("wgsl", "Kernel in WGSL", { language: wgsl, onLine: (line) => this.#back(line) }),
            ir: listing("ir", "Optimised program"),
            manifest: listing("manifest", "Manifest"),
        };
        this.parameters = new Parameters({ parent: get("params"), onChange: () => this.#moved() });
        const fields = Object.fromEntries(
            ["agents", "steps", "world", "seed", "backend"].map((id) => [id, get(id)]),
        );
        this.launch = new LaunchForm({
            fields,
            note: get("size-note"),
            tables: get("tables"),
            onChange: () => this.#moved(),
        });
        this.plane = new PlaneView({ root: get("plane"), run: (...what) => this.#runPlane(...what) });
        this.tabs = new Tabs(document.querySelector("nav"), () => this.#shown());
        this.gallery = new Gallery(get("examples"), (example) => this.#openExample(example));
        this.#buttons();
    }

    #buttons() {
        get("open-examples").onclick = () => this.gallery.open();
        get("format").onclick = () => this.#format();
        get("share").onclick = () => this.#share();
        get("save").onclick = () => download(`${this.#name()}.sim`, new Blob([this.editor.source]));
        get("page").onclick = () => this.#page();
        get("launch").onsubmit = (event) => (event.preventDefault(), this.run());
        get("stop").onclick = () => this.running?.abort();
        document.addEventListener(
            "keydown",
            (event) => {
                if ((event.ctrlKey || event.metaKey) && event.key === "Enter") {
                    event.preventDefault();
                    this.run();
                }
            },
            true,
        );
        window.addEventListener("hashchange", () => this.#openLink());
        window.addEventListener("theme", () => this.results && this.#show(this.results));
    }

    async start() {
        await this.#openLink();
    }

    async #openLink() {
        if (location.hash === this.ownHash && this.ownHash) return;
        try {
            const found = await decode(location.hash);
            if (found) {
                this.notice();
                this.#open(found.source, found.launch);
                return;
            }
            if (this.editor.source !== "") return;
        } catch (error) {
            if (!(error instanceof LinkError) && !(error instanceof SyntaxError)) throw error;
            const why = error instanceof LinkError ? error.message : "its data cannot be read";
            this.notice(`This link is broken: ${why}. Ask for it again; an example is shown instead.`);
        }
        await this.#openExample(await this.gallery.find(FIRST));
    }

    async #openExample(example) {
        if (!example) return;
        if (location.hash && this.ownHash !== undefined)
            history.replaceState(null, "", location.pathname + location.search);
        const { source, files } = await this.gallery.load(example);
        this.#open(source, undefined, files);
        get("editor").dataset.example = example.name;
    }

    #open(source, launch, files) {
        this.stop();
        this.hasRun = false;
        this.pending = { given: launch, files };
        this.built = undefined;
        get("results").replaceChildren();
        get("status").replaceChildren();
        get("verdict").textContent = "";
        delete get("editor").dataset.example;
        this.results = undefined;
        this.plane.clear();
        this.editor.open(source);
    }

    notice(text) {
        const place = get("notice");
        place.hidden = !text;
        const close = element(
            "button",
            { type: "button", "aria-label": "Close", onclick: () => this.notice() },
            "✕",
        );
        place.replaceChildren(...(text ? [element("span", {}, text), close] : []));
    }

    async #checked(source, found) {
        await this.#take(source, found);
        if (this.editor.source !== source) return;
        this.known = source;
        get("verdict").removeAttribute("data-stale");
        for (const resolve of this.waiting.splice(0)) resolve();
    }

    /** Waits until the compiler has said what it thinks of the text as it is. */
    async #settled() {
        if (this.known !== this.editor.source) await new Promise((resolve) => this.waiting.push(resolve));
    }

    async #take(source, found) {
        this.#problems(found);
        if (found.some((one) => one.severity === "error")) {
            this.built = undefined;
            this.#verdict(found);
            return;
        }
        try {
            const started = performance.now();
            const built = await compiler.ask("build", source, { lines: true, ir: true });
            if (this.editor.source !== source) return;
            this.built = { ...built, source, milliseconds: performance.now() - started };
        } catch (error) {
            this.built = undefined;
            get("verdict").textContent = `${error.message}. ${error.help ?? ""}`;
            return;
        }
        this.#verdict(found);
        const { manifest } = this.built;
        this.launch.show(manifest, this.pending);
        this.parameters.show(manifest, this.pending.given?.params);
        this.plane.offer(manifest);
        this.pending = {};
        this.listings.wgsl.show(this.built.wgsl);
        this.listings.ir.show(this.built.ir);
        this.listings.manifest.show(JSON.stringify(manifest, null, 2));
        this.#follow();
    }

    #verdict(found) {
        const errors = found.filter((one) => one.severity === "error").length;
        const warnings = found.length - errors;
        const count = (number, word) => (number === 0 ? [] : [`${number} ${word}${number === 1 ? "" : "s"}`]);
        const said = [...count(errors, "mistake"), ...count(warnings, "warning")].join(", ");
        const place = get("verdict");
        place.textContent = this.built
            ? `${said || "No mistakes"}. Compiled in ${this.built.milliseconds.toFixed(1)} ms.`
            : `${said}.`;
    }

    #problems(found) {
        const line = (at) =>
            this.editor.view.state.doc.lineAt(Math.min(at, this.editor.view.state.doc.length)).number;
        const item = (one) => {
            const go = element(
                "button",
                { type: "button", class: "place", onclick: () => this.#goTo(one) },
                `line ${line(one.from)} `,
                this.editor.explanation(one),
            );
            const fixes = one.fixes.map((fix) =>
                element(
                    "button",
                    { type: "button", class: "fix", onclick: () => this.editor.apply(fix.edits) },
                    fix.title,
                ),
            );
            const explain = one.code
                ? element(
                      "button",
                      {
                          type: "button",
                          class: "fix",
                          onclick: (event) => this.#explain(one.code, event.target),
                      },
                      "Explain",
                  )
                : null;
            return element("li", { class: one.severity }, go, ...fixes, explain);
        };
        get("problems")
            .querySelector("ol")
            .replaceChildren(...found.slice(0, 50).map(item));
    }

    async #explain(code, button) {
        const { markdown } = await import("./markdown.js");
        const text = await compiler.ask("explain", code).catch((error) => error.message);
        button.replaceWith(element("div", { class: "quiet" }, markdown(text ?? "There is no explanation.")));
    }

    #goTo(one) {
        this.tabs.select("model");
        this.editor.go(one.from, one.to);
    }

    /** Marks the lines of the kernel that the cursor's line went to. */
    #follow() {
        if (!this.built || this.built.source !== this.editor.source) return;
        const { line } = this.editor;
        const rows = (this.built.lines ?? []).filter((row) => row.model === line);
        this.listings.wgsl.mark(rows.map((row) => [row.first, row.last]));
    }

    #back(line) {
        const row = this.built?.lines.find(({ first, last }) => first <= line && line <= last);
        if (!row) return;
        this.editor.goToLine(row.model);
    }

    #shown() {
        for (const { view } of Object.values(this.listings)) view.requestMeasure();
        this.editor.view.requestMeasure();
        this.plane.redraw();
        this.#follow();
    }

    async #format() {
        try {
            await this.editor.format();
            this.notice();
        } catch (error) {
            this.notice(`${error.message}: ${error.help ?? ""}`);
        }
    }

    /** What a link holds beside the model; throws where a field is wrong. */
    #launch() {
        const { params, wrong } = this.parameters.values();
        if (wrong.length > 0) throw new Error(wrong[0]);
        const { backend, ...size } = this.launch.values();
        return { size, backend, params };
    }

    async #share() {
        try {
            await this.#settled();
            const { size, params } = this.built ? this.#launch() : { size: {}, params: {} };
            const hash = await encode({ source: this.editor.source, launch: { ...size, params } });
            this.ownHash = hash;
            history.replaceState(null, "", hash);
            const copied = await navigator.clipboard?.writeText(location.href).then(
                () => true,
                () => false,
            );
            const tables = this.built?.manifest.data.length ? " Tables are not part of it." : "";
            const length = `${location.href.length.toLocaleString("en")} characters`;
            const where = copied ? "The link is copied" : "The link is in the address bar";
            this.notice(`${where} (${length}).${tables}`);
        } catch (error) {
            this.notice(`There is no link: ${error.message}.`);
        }
    }

    /** The name of the model's files. */
    #name() {
        return get("editor").dataset.example ?? "model";
    }

    async #page() {
        try {
            await this.#settled();
            if (!this.built) throw new Error("the model has mistakes");
            const name = this.#name();
            const { program } = await compiler.ask("pack", this.built.source);
            download(`${name}.zip`, await pageOf(name, { ...this.built, program }));
            this.notice("The page is saved: unpack it, and serve the folder with any file server.");
        } catch (error) {
            this.notice(`There is no page: ${error.message}.`);
        }
    }

    /** A control was moved: what has run once runs again. */
    #moved() {
        // What was animated is of other values.
        this.plane.clear();
        if (this.hasRun) this.run();
    }

    stop() {
        this.again = false;
        this.running?.abort();
    }

    /** Runs the model; asked again while a run is on, the newest wish follows it. */
    async run() {
        if (this.running) {
            this.again = true;
            if (performance.now() - this.running.started > 400) this.running.abort();
            return;
        }
        this.tabs.selectIfPhone("run");
        if (get("status").querySelector(".failure")) get("status").replaceChildren();
        const running = (this.running = new AbortController());
        running.started = performance.now();
        try {
            await this.#settled();
            if (!this.built || this.built.source !== this.editor.source) {
                throw new Error("the model has mistakes, which are listed below it");
            }
            const { manifest, source } = this.built;
            const { size, backend, params } = this.#launch();
            const data = this.launch.tablesOf(manifest);
            this.hasRun = true;
            const timer = setTimeout(() => this.#progress(0), 200);
            const launch = {
                ...size,
                backend,
                params,
                data,
                keepStates: false,
                signal: running.signal,
                progress: (done, all) => this.#progress(all > 0 ? done / all : 0),
            };
            const run = await runner.run(source, launch).finally(() => clearTimeout(timer));
            this.results = { run, manifest };
            this.#show(this.results);
        } catch (error) {
            this.#failed(error);
        } finally {
            this.running = undefined;
            get("progress").hidden = true;
            get("stop").hidden = true;
            if (this.again) {
                this.again = false;
                this.run();
            }
        }
    }

    #progress(fraction) {
        if (!this.running) return;
        get("progress").hidden = false;
        get("stop").hidden = false;
        get("progress").value = fraction;
    }

    #show({ run, manifest }) {
        get("status").replaceChildren(element("span", {}, describe(run)));
        const parent = get("results");
        // The height stays while the plots are made anew.
        parent.style.minHeight = `${parent.offsetHeight}px`;
        showResults(parent, run, manifest);
        parent.style.minHeight = "";
        this.plane.redraw();
    }

    #failed(error) {
        if (error.cancelled) {
            if (!this.again) get("status").replaceChildren(element("span", {}, "The run was stopped."));
            return;
        }
        const help = error.help ? element("div", { class: "quiet" }, error.help) : null;
        get("status").replaceChildren(
            element("div", { class: "failure" }, element("pre", {}, error.message), help),
        );
    }

    async #runPlane(source, launch, signal) {
        if (!this.built || this.built.source !== this.editor.source)
            throw new Error("the model has mistakes, which are listed below it");
        const { size, backend, params } = this.#launch();
        const data = this.launch.tablesOf(this.built.manifest);
        const own = source(this.editor.source, this.built.manifest, size);
        return runner.runOnce(own.source, {
            ...size,
            ...own.size,
            backend,
            params,
            data,
            keepOutputs: false,
            statistics: false,
            signal,
        });
    }
}

themed(get("theme"));
draggable(get("divider"));
const playground = new Playground();
const started = playground.start();
if ("serviceWorker" in navigator && location.protocol !== "file:") {
    started.then(() => navigator.serviceWorker.register("sw.js")).catch(() => {});
}
