// The controls of a launch: a slider and a number per param, the size of the run, its seed.

import { element } from "./markdown.js";

const words = new DataView(new ArrayBuffer(4));
const decode = {
    f32: (bits) => (words.setUint32(0, bits), words.getFloat32(0)),
    i32: (bits) => bits | 0,
    u32: (bits) => bits >>> 0,
    bool: (bits) => bits !== 0,
};

/** A float of 32 bits with the fewest digits that say it. */
export function short(value) {
    if (!Number.isFinite(value)) return String(value);
    for (let digits = 1; digits < 9; digits += 1) {
        const text = Number(value.toPrecision(digits));
        if (Math.fround(text) === Math.fround(value)) return String(text);
    }
    return String(value);
}

/** The default of a param as values; none if the launch must give it. */
export function defaults(param) {
    return param.default?.map((bits) => {
        const value = decode[param.scalar](bits);
        return param.scalar === "f32" ? Number(short(value)) : value;
    });
}

const isSingle = (param) => param.shape.length === 0 && param.components === 1;
const isWhole = (param) => param.scalar === "i32" || param.scalar === "u32";

/** Where a slider goes: the param's range, else around its default. */
function span(param, value) {
    if (param.range && param.range.every(Number.isFinite) && param.range[1] - param.range[0] < 1e7)
        return param.range;
    if (isWhole(param)) return [Math.min(0, 2 * value), Math.max(10, 2 * Math.abs(value))];
    return value === 0 ? [-1, 1] : [Math.min(0, 2 * value), Math.max(0, 2 * value)];
}

/** Reads what was typed into the field of a param: values, or why not. */
export function read(param, text) {
    const parts = text.split(/[\s,[\]()]+/).filter((part) => part !== "");
    const count = param.shape.reduce((product, length) => product * length, 1) * param.components;
    if (parts.length !== count)
        return { why: count === 1 ? "a number is missing" : `${count} numbers are needed` };
    const values = [];
    for (const part of parts) {
        if (param.variants.length > 0) {
            const variant = param.variants.indexOf(part);
            if (variant < 0) return { why: `one of ${param.variants.join(", ")} is needed` };
            values.push(variant);
            continue;
        }
        if (param.scalar === "bool") {
            if (part !== "true" && part !== "false") return { why: "true or false is needed" };
            values.push(part === "true");
            continue;
        }
        const value = Number(part.replaceAll("_", ""));
        if (!Number.isFinite(value)) return { why: `\`${part}\` is no number` };
        if (isWhole(param) && !Number.isInteger(value)) return { why: `\`${part}\` is no whole number` };
        if (param.scalar === "f32" && !Number.isFinite(Math.fround(value)))
            return { why: `\`${part}\` is too large` };
        if (param.scalar === "u32" && (value < 0 || value > 0xffffffff)) return { why: "0 to 4,294,967,295" };
        if (param.scalar === "i32" && value !== (value | 0))
            return { why: "-2,147,483,648 to 2,147,483,647" };
        if (param.range && (value < param.range[0] || value > param.range[1])) {
            return { why: `${short(param.range[0])} to ${short(param.range[1])}` };
        }
        values.push(value);
    }
    return { values };
}

const shown = (param, values) => {
    if (param.variants.length > 0) return values.map((value) => param.variants[value]).join(", ");
    return values
        .map((value) => (typeof value === "number" && param.scalar === "f32" ? short(value) : value))
        .join(", ");
};

export class Parameters {
    /** `onChange(dragged)` is called when a control was moved. */
    constructor({ parent, onChange }) {
        this.parent = parent;
        this.onChange = onChange;
        this.rows = new Map();
    }

    /** Shows the params of a manifest; values that were set stay where a param still takes them. */
    show(manifest, given) {
        const signature = JSON.stringify(manifest.params);
        if (signature === this.signature && given === undefined) return;
        given ??= this.values().params;
        this.signature = signature;
        this.rows.clear();
        this.parent.replaceChildren(...manifest.params.map((param) => this.#row(param, given?.[param.name])));
        if (manifest.params.length === 0) {
            this.parent.append(element("p", { class: "quiet" }, "This model has no params."));
        }
    }

    #row(param, given) {
        const normal = defaults(param);
        const text = given === undefined ? undefined : [given].flat().join(", ");
        const kept = text !== undefined && read(param, text).values;
        const values = kept || normal;
        const name = `param-${param.name}`;
        const field = element("input", {
            id: name,
            type: "text",
            inputmode: "decimal",
            autocomplete: "off",
            spellcheck: "false",
            "aria-describedby": `${name}-error`,
        });
        field.value = values ? shown(param, values) : "";
        const problem = element("span", { class: "problem", id: `${name}-error`, role: "status" });
        const row = { param, field, problem, normal };
        const label = element("label", { for: name, title: param.doc || null }, param.name);
        const reset = element(
            "button",
            {
                type: "button",
                class: "reset",
                title: "Back to the model's default",
                "aria-label": `Reset ${param.name}`,
                onclick: () => {
                    field.value = normal ? shown(param, normal) : "";
                    this.#moved(row, false);
                },
            },
            "↺",
        );
        field.addEventListener("input", () => this.#moved(row, false));
        const control = this.#control(row, values);
        row.reset = reset;
        this.rows.set(param.name, row);
        this.#judge(row);
        const doc = param.doc ? element("div", { class: "doc" }, param.doc) : null;
        const variants = param.variants.length > 0 || param.scalar === "bool";
        return element(
            "div",
            { class: variants ? "param choice" : "param" },
            label,
            control,
            field,
            reset,
            problem,
            doc,
        );
    }

    #control(row, values) {
        const { param, field } = row;
        if (!isSingle(param)) return null;
        if (param.variants.length > 0 || param.scalar === "bool") {
            const options = param.variants.length > 0 ? param.variants : ["false", "true"];
            const select = element(
                "select",
                { "aria-label": param.name },
                ...options.map((one) => element("option", {}, one)),
            );
            select.value = field.value;
            field.hidden = true;
            select.addEventListener("change", () => {
                field.value = select.value;
                this.#moved(row, false);
            });
            row.follow = () => (select.value = field.value);
            return select;
        }
        const [least, most] = span(param, row.normal?.[0] ?? values?.[0] ?? 1);
        const step = isWhole(param) ? 1 : (most - least) / 400;
        const slider = element("input", {
            type: "range",
            min: least,
            max: most,
            step,
            "aria-label": param.name,
        });
        slider.value = values?.[0] ?? least;
        slider.addEventListener("input", () => {
            const value = Number(slider.value);
            field.value = isWhole(param) ? String(value) : short(Number(value.toPrecision(4)));
            this.#moved(row, true);
        });
        slider.addEventListener("change", () => this.#moved(row, false));
        row.follow = () => (slider.value = read(param, field.value).values?.[0] ?? slider.value);
        return slider;
    }

    #moved(row, dragged) {
        if (!dragged) row.follow?.();
        if (this.#judge(row)) this.onChange(dragged);
    }

    #judge(row) {
        const { values, why } = read(row.param, row.field.value);
        row.values = values;
        row.problem.textContent = why ?? "";
        row.field.setAttribute("aria-invalid", why ? "true" : "false");
        const changed = values && row.normal && values.some((value, k) => value !== row.normal[k]);
        row.reset.disabled = !changed;
        row.changed = changed || !row.normal;
        return !why;
    }

    /** What differs from the defaults, and what is wrong. */
    values() {
        const params = {};
        const wrong = [];
        for (const [name, row] of this.rows) {
            if (!row.values) wrong.push(`\`${name}\`: ${row.problem.textContent}`);
            else if (row.changed) {
                const { variants } = row.param;
                const values = variants.length > 0 ? row.values.map((value) => variants[value]) : row.values;
                params[name] = isSingle(row.param) ? values[0] : values;
            }
        }
        return { params, wrong };
    }
}
