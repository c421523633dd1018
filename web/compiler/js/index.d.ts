/** All places are UTF-16 offsets from the start of the text, as JavaScript's strings count. */
export interface Place {
    from: number;
    to: number;
}

export interface Edit extends Place {
    insert: string;
}

/** Edits that belong together, and what they do, as a command. */
export interface Change {
    title: string;
    edits: Edit[];
}

export interface Label extends Place {
    text: string;
}

export interface Diagnostic extends Place {
    /** What `explain` explains, such as `E0201`. */
    code: string;
    /** Its name, such as `unknown_name`. */
    name: string;
    severity: "error" | "warning";
    message: string;
    /** The places; the first is where the mistake stands, the others are its causes. */
    labels: Label[];
    help: string | null;
    /** Each mends the mistake by itself: the compiler has tried. */
    fixes: Change[];
}

export interface BuildOptions {
    generator?: "keyed-hash" | "philox4x32-10";
    math?: "fast" | "precise";
    /** Agents in a world, instead of the model's. */
    world?: number;
    /** Also give the map of lines. */
    lines?: boolean;
    /** Also give the optimised program as text. */
    ir?: boolean;
}

/** A line of the model and the first and last line of the kernel that it went to; they count from 0. */
export interface LineMap {
    model: number;
    first: number;
    last: number;
}

export type Scalar = "f32" | "i32" | "u32" | "bool";

/** A value of the manifest; see docs/manifest.md. */
export interface Field {
    name: string;
    doc: string;
    scalar: Scalar;
    shape: number[];
    components: number;
    variants: string[];
    word: number;
}

export interface Param extends Field {
    /** Its words; null if a run must give it. */
    default: number[] | null;
    range: [number, number] | null;
}

export interface Manifest {
    version: number;
    doc: string;
    generator: string;
    agents: number | null;
    steps: number | null;
    has_step: boolean;
    params: Param[];
    data: (Field & { binding: number; rows_word: number | null })[];
    inputs: (Field & { source: "required" | "default" | "drawn" })[];
    states: Field[];
    outputs: Field[];
    [other: string]: unknown;
}

export interface PackOptions {
    generator?: BuildOptions["generator"];
    math?: BuildOptions["math"];
    /** A message at the first bad index, division, NaN or failed `assert` of a run. */
    checks?: boolean;
}

export interface Build {
    wgsl: string;
    /** The lines of the kernel that each line of the model went to; null unless they were asked for. */
    lines: LineMap[] | null;
    manifest: Manifest;
    /** Null unless it was asked for. */
    ir: string | null;
}

export interface Hover extends Place {
    markdown: string;
}

export interface Signature {
    label: string;
    markdown: string | null;
    /** Texts, or places in `label`. */
    parameters: (string | [number, number])[];
    active: number | null;
}

export interface Completion extends Edit {
    label: string;
    kind:
        | "function"
        | "method"
        | "constant"
        | "variable"
        | "property"
        | "field"
        | "struct"
        | "enum"
        | "variant"
        | "keyword"
        | "snippet"
        | "type"
        | "text";
    detail: string | null;
    markdown: string | null;
    /** Is `insert` a snippet with places such as `${1:10}`? */
    snippet: boolean;
}

export interface OutlineItem {
    name: string;
    detail: string | null;
    kind:
        | "constant"
        | "launch"
        | "result"
        | "block"
        | "function"
        | "struct"
        | "enum"
        | "field"
        | "variant"
        | "variable";
    place: Place;
    name_place: Place;
    children: OutlineItem[];
}

/** A word and its class, named as semantic tokens of the Language Server Protocol. */
export interface Token extends Place {
    class: string;
    modifiers: string[];
}

/** Why the compiler refuses: `message` and `help`, and what is wrong with the model if that is the reason. */
export class SimcError extends Error {
    help: string;
    diagnostics?: Diagnostic[];
}

export interface Compiler {
    readonly version: string;
    /** Bytes of the module's memory. */
    readonly memory: number;
    /**
     * The mistakes of a model or, if it has none, its warnings. Each fix is tried, which costs a compilation:
     * `fixes` says how many of the diagnostics get theirs, all by default.
     */
    check(source: string, options?: { fixes?: number }): Diagnostic[];
    /** @throws {SimcError} with `diagnostics` if the model has mistakes. */
    build(source: string, options?: BuildOptions): Build;
    /** The model as the package `simc-runtime` runs it, in base64. */
    pack(source: string, options?: PackOptions): { program: string };
    /** The model in canonical style. @throws {SimcError} with `diagnostics` if it has syntax errors. */
    format(source: string): string;
    hover(source: string, at: number): Hover | null;
    signature(source: string, at: number): Signature | null;
    complete(source: string, at: number): Completion[];
    definition(source: string, at: number): Place | null;
    /** Where the name is declared and used. */
    references(source: string, at: number): Place[];
    /** @throws {SimcError} if it cannot be renamed. */
    rename(source: string, at: number, name: string): Edit[];
    /** The fixes of all diagnostics that touch a place. */
    codeActions(source: string, from: number, to?: number): Change[];
    outline(source: string): OutlineItem[];
    tokens(source: string): Token[];
    /**
     * The explanation of a code, as Markdown; null for one that does not exist. The first call loads
     * `explanations.json`, which is beside `simc.wasm`.
     */
    explain(code: string): Promise<string | null>;
}

/** Loads the compiler. `wasm` is its address, bytes or module; by default `simc.wasm` beside this file. */
export function load(wasm?: string | URL | BufferSource | WebAssembly.Module): Promise<Compiler>;
