// The size of a run, its seed, its backend, and files for the tables that a model needs.

import { element } from "./markdown.js";
import { readTable } from "./table.js";

/** Agent-steps that a page computes at once without being asked for more. */
const COMFORT = 5_000_000;
const grouped = (value) => value.toLocaleString("en").replaceAll(",", "_");

/** As many agents as a page computes at once: a round number, or whole worlds. */
function comfortable(steps, world) {
    const fits = COMFORT / Math.max(steps, 1);
    if (world) return Math.max(1, Math.floor(fits / world)) * world;
    const unit = 10 ** Math.floor(Math.log10(fits));
    return Math.max(1000, Math.floor(fits / unit) * unit);
}

function whole(field, name, least, most) {
    const value = Number(field.value.replaceAll("_", "").trim());
    const right = field.value.trim() !== "" && Number.isInteger(value) && value >= least && value <= most;
    field.setAttribute("aria-invalid", right ? "false" : "true");
    if (!right)
        throw new Error(`\`${name}\` must be a whole number from ${grouped(least)} to ${grouped(most)}`);
    return value;
}

export class LaunchForm {
    constructor({ fields, note, tables, onChange }) {
        this.fields = fields;
        this.note = note;
        this.tables = tables;
        this.onChange = onChange;
        this.data = new Map();
        for (const field of Object.values(fields)) field.addEventListener("change", () => onChange());
    }

    /** Shows a model's own size; what a user has set stays. */
    show(manifest, { given, files } = {}) {
        const world = manifest.world?.members ?? (manifest.world ? 100 : undefined);
        const own = {
            agents: manifest.agents ?? 10_000,
            steps: manifest.steps ?? (manifest.has_step ? 100 : 0),
            world,
        };
        const signature = JSON.stringify([manifest.agents, manifest.steps, world, manifest.data]);
        if (signature === this.signature && !given && !files) return;
        const fresh = signature !== this.signature || given;
        this.signature = signature;
        this.hasWorld = Boolean(manifest.world);
        this.hasStep = manifest.has_step;
        if (fresh) {
            const agents = given?.agents ?? Math.min(own.agents, comfortable(own.steps, world));
            this.fields.agents.value = grouped(agents);
            this.fields.steps.value = grouped(given?.steps ?? own.steps);
            this.fields.world.value = world === undefined ? "" : grouped(given?.world ?? world);
            if (given) this.fields.seed.value = String(given.seed ?? 0);
            const all = manifest.agents?.toLocaleString("en");
            const fewer = all !== undefined && agents < manifest.agents;
            this.note.textContent = fewer ? `The model has ${all} agents; here it begins with fewer.` : "";
        }
        this.fields.world.parentElement.hidden = !this.hasWorld;
        this.fields.steps.parentElement.hidden = !manifest.has_step;
        this.#tables(manifest, files);
    }

    #tables(manifest, files) {
        const names = new Set(manifest.data.map((table) => table.name));
        for (const name of [...this.data.keys()]) if (!names.has(name)) this.data.delete(name);
        for (const [name, text] of Object.entries(files ?? {})) {
            if (names.has(name))
                this.#take(
                    manifest.data.find((table) => table.name === name),
                    text,
                );
        }
        this.tables.replaceChildren(...manifest.data.map((table) => this.#table(table)));
    }

    #table(table) {
        const shape = table.shape.map((length) => (length === 0 ? "rows" : length)).join(" × ");
        const known = this.data.get(table.name);
        const say = element(
            "span",
            { class: known ? "quiet" : "problem", role: "status" },
            known ? `${grouped(known.rows)} rows` : "a CSV file is needed",
        );
        const input = element("input", {
            type: "file",
            accept: ".csv,text/csv,text/plain",
            "aria-label": `Table ${table.name}`,
        });
        input.addEventListener("change", async () => {
            const [file] = input.files;
            if (!file) return;
            try {
                const { rows } = this.#take(table, await file.text());
                [say.className, say.textContent] = ["quiet", `${grouped(rows)} rows`];
                this.onChange();
            } catch (error) {
                this.data.delete(table.name);
                [say.className, say.textContent] = ["problem", error.message];
            }
        });
        return element(
            "div",
            { class: "table" },
            element("span", { title: table.doc || null }, `table ${table.name}: ${table.scalar} [${shape}]`),
            input,
            say,
        );
    }

    #take(table, text) {
        const found = readTable(table, text);
        this.data.set(table.name, found);
        return found;
    }

    /** What was asked for; throws where a field is wrong. */
    values() {
        const { agents, steps, world, seed, backend } = this.fields;
        const found = {
            agents: whole(agents, "agents", 1, 2_147_483_647),
            seed: whole(seed, "seed", 0, Number.MAX_SAFE_INTEGER),
            backend: backend.value,
        };
        if (this.hasStep) found.steps = whole(steps, "steps", 0, 1_073_741_823);
        if (this.hasWorld) found.world = whole(world, "world", 1, 2_147_483_647);
        return found;
    }

    /** The tables by name. */
    tablesOf(manifest) {
        const missing = manifest.data.filter((table) => !this.data.has(table.name));
        if (missing.length > 0) {
            throw new Error(`the table \`${missing[0].name}\` is missing: choose a CSV file for it`);
        }
        return Object.fromEntries([...this.data].map(([name, table]) => [name, table.values]));
    }
}
