// Agents that move in the plane: two states of a model over its steps, on a canvas.

const POSITION = /^(?:position|place|pos|xy|point|location)$/i;

/** The columns of states that can be an axis, and those that are a position, if there are any. */
export function axes(manifest) {
    const columns = [];
    let position;
    for (const state of manifest.states) {
        if (state.shape.length > 0 || state.scalar === "bool" || /[^\w]/.test(state.name)) continue;
        const parts = state.components > 1 ? ["x", "y", "z", "w"].slice(0, state.components) : [""];
        const own = parts.map((part, component) => ({
            label: part ? `${state.name}.${part}` : state.name,
            state: state.name,
            component,
            components: state.components,
        }));
        columns.push(...own);
        if (!position && own.length > 1 && POSITION.test(state.name)) position = [own[0], own[1]];
    }
    const named = (name) => columns.find((column) => column.label === name);
    if (!position && named("x") && named("y")) position = [named("x"), named("y")];
    return { columns, position };
}

/** The model with a record of states, which samples them every `every` steps. */
export function recording(source, states, every, records) {
    const missing = [...new Set(states)].filter((state) => !records.includes(`plane_${state}`));
    return (
        source + missing.map((state) => `\nrecord plane_${state} = ${state} every ${every}`).join("") + "\n"
    );
}

const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/** Ranges of the same length. */
function alike(ranges) {
    const length = Math.max(...Object.values(ranges).map(([least, most]) => most - least));
    const wider = ([least, most]) => [(least + most - length) / 2, (least + most + length) / 2];
    return { x: wider(ranges.x), y: wider(ranges.y) };
}

export class Plane {
    constructor(canvas, { onFrame }) {
        this.canvas = canvas;
        this.onFrame = onFrame;
        this.frame = 0;
        this.playing = false;
    }

    /** `x` and `y` are arrays of one Float32Array per frame; `equal` scales them alike, as in a plane. */
    show({ x, y, steps, equal }) {
        this.data = { x, y, steps };
        this.frame = 0;
        const range = (frames) => {
            let [least, most] = [Infinity, -Infinity];
            for (const values of frames) {
                for (const value of values) {
                    if (!Number.isFinite(value)) continue;
                    if (value < least) least = value;
                    if (value > most) most = value;
                }
            }
            if (least > most) return [0, 1];
            const margin = (most - least || 1) * 0.04;
            return [least - margin, most + margin];
        };
        this.range = { x: range(x), y: range(y) };
        if (equal) this.range = alike(this.range);
        this.canvas.style.aspectRatio = equal ? "1 / 0.95" : "";
        this.draw();
    }

    get frames() {
        return this.data?.steps.length ?? 0;
    }

    seek(frame) {
        this.frame = Math.max(0, Math.min(frame, this.frames - 1));
        this.draw();
    }

    play() {
        if (this.playing || this.frames === 0) return;
        this.playing = true;
        if (this.frame >= this.frames - 1) this.frame = 0;
        let last = performance.now();
        const rate = Math.min(30, Math.max(this.frames / 10, 12));
        const tick = (now) => {
            if (!this.playing) return;
            if (now - last >= 1000 / rate) {
                last = now;
                this.seek(this.frame + 1);
                if (this.frame >= this.frames - 1) this.playing = false;
            }
            this.onFrame(this);
            if (this.playing) requestAnimationFrame(tick);
        };
        requestAnimationFrame(tick);
        this.onFrame(this);
    }

    pause() {
        this.playing = false;
        this.onFrame(this);
    }

    draw() {
        if (!this.data) return;
        const { canvas } = this;
        const scale = window.devicePixelRatio || 1;
        const [width, height] = [canvas.clientWidth, canvas.clientHeight];
        canvas.width = width * scale;
        canvas.height = height * scale;
        const context = canvas.getContext("2d");
        context.scale(scale, scale);
        context.clearRect(0, 0, width, height);
        const [left, bottom, margin] = [44, 24, 8];
        const {
            x: [x0, x1],
            y: [y0, y1],
        } = this.range;
        const px = (value) => left + ((value - x0) / (x1 - x0)) * (width - left - margin);
        const py = (value) => height - bottom - ((value - y0) / (y1 - y0)) * (height - bottom - margin);
        context.font = "12px system-ui";
        context.fillStyle = css("--quiet");
        context.strokeStyle = css("--line");
        context.strokeRect(left, margin, width - left - margin, height - bottom - margin);
        const text = (value) => String(Number(value.toPrecision(3)));
        context.textAlign = "left";
        context.fillText(text(x0), left, height - 6);
        context.textAlign = "right";
        context.fillText(text(x1), width - margin, height - 6);
        context.fillText(text(y0), left - 4, height - bottom);
        context.fillText(text(y1), left - 4, margin + 10);
        const x = this.data.x[this.frame];
        const trail = 12;
        context.fillStyle = css("--accent");
        for (let back = Math.min(trail, this.frame); back >= 0; back -= 1) {
            const [ox, oy] = [this.data.x[this.frame - back], this.data.y[this.frame - back]];
            context.globalAlpha = back === 0 ? 0.9 : 0.18 * (1 - back / trail);
            const size = back === 0 ? (x.length > 1000 ? 2 : 3.5) : 1.5;
            for (let agent = 0; agent < x.length; agent += 1) {
                if (!Number.isFinite(ox[agent]) || !Number.isFinite(oy[agent])) continue;
                context.beginPath();
                context.arc(px(ox[agent]), py(oy[agent]), size, 0, 6.3);
                context.fill();
            }
        }
        context.globalAlpha = 1;
        canvas.setAttribute("aria-label", `${x.length} agents at step ${this.data.steps[this.frame]}`);
    }
}
