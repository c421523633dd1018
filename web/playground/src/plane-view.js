// The controls of the animation: which states, and a run that records them.

import { axes, Plane, recording } from "./plane.js";
import { element } from "./markdown.js";

/** Most agents, and most frames, of an animation. */
const MOST_AGENTS = 2_000;
const MOST_FRAMES = 400;

export class PlaneView {
    constructor({ root, run }) {
        const get = (id) => root.querySelector(`#${id}`);
        this.root = root;
        this.runModel = run;
        this.controls = {
            x: get("plane-x"),
            y: get("plane-y"),
            button: get("animate"),
            frame: get("frame"),
            step: get("frame-step"),
            canvas: get("canvas"),
        };
        this.plane = new Plane(this.controls.canvas, { onFrame: () => this.#framed() });
        this.controls.button.onclick = () => this.#pressed();
        this.controls.frame.oninput = () => {
            this.plane.pause();
            this.plane.seek(Number(this.controls.frame.value));
            this.#framed();
        };
        for (const select of [this.controls.x, this.controls.y]) select.onchange = () => this.clear();
    }

    /** Offers the states of a model as axes. */
    offer(manifest) {
        const { columns, position } = axes(manifest);
        const signature = JSON.stringify(columns);
        this.root.hidden = columns.length < 2 || !manifest.has_step;
        if (signature === this.signature) return;
        this.signature = signature;
        this.columns = columns;
        this.clear();
        const [x, y] = position ?? columns;
        for (const [select, chosen] of [
            [this.controls.x, x],
            [this.controls.y, y],
        ]) {
            select.replaceChildren(...columns.map((column) => element("option", {}, column.label)));
            if (chosen) select.value = chosen.label;
        }
    }

    clear() {
        this.plane.pause();
        this.plane.data = undefined;
        this.controls.canvas.hidden = true;
        this.controls.frame.hidden = true;
        this.controls.step.textContent = "";
        this.controls.button.textContent = "Animate";
    }

    redraw() {
        this.plane.draw();
    }

    async #pressed() {
        if (this.plane.playing) {
            this.plane.pause();
            return;
        }
        if (!this.plane.data && !(await this.#record())) return;
        this.plane.play();
    }

    async #record() {
        const { button, step, canvas, frame } = this.controls;
        const find = (select) => this.columns.find((column) => column.label === select.value);
        const [x, y] = [find(this.controls.x), find(this.controls.y)];
        button.disabled = true;
        step.textContent = "running …";
        try {
            const run = await this.runModel((source, manifest, size) => {
                const steps = size.steps ?? manifest.steps ?? 0;
                const every = Math.max(1, Math.ceil(steps / MOST_FRAMES));
                const agents = fewer(size);
                return { source: recording(source, [x.state, y.state], every, []), size: { agents } };
            });
            const [xs, ys] = [framesOf(run, x), framesOf(run, y)];
            canvas.hidden = false;
            this.plane.show({ x: xs.frames, y: ys.frames, steps: xs.steps, equal: x.state === y.state });
            frame.hidden = false;
            frame.max = this.plane.frames - 1;
            return true;
        } catch (error) {
            step.textContent = `${error.message}${error.help ? ` (${error.help})` : ""}`;
            return false;
        } finally {
            button.disabled = false;
        }
    }

    #framed() {
        const { button, frame, step } = this.controls;
        button.textContent = this.plane.playing ? "Pause" : "Play";
        frame.value = this.plane.frame;
        if (this.plane.data)
            step.textContent = `step ${this.plane.data.steps[this.plane.frame].toLocaleString("en")}`;
    }
}

/** As many agents as one can see: whole worlds, at least one. */
function fewer({ agents, world }) {
    if (!world) return Math.min(agents, MOST_AGENTS);
    return Math.min(agents, world * Math.max(1, Math.floor(MOST_AGENTS / world)));
}

function framesOf(run, { state, component, components }) {
    const series = run.records[`plane_${state}`];
    const steps = Array.from(series.steps);
    const width = series.values.length / steps.length;
    const frames = steps.map((_, sample) => {
        const row = series.values.subarray(sample * width, (sample + 1) * width);
        return components === 1
            ? Float32Array.from(row)
            : Float32Array.from(row.filter((_, at) => at % components === component));
    });
    return { frames, steps };
}
