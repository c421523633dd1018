/** Runs models of Sim in browsers and Node. */

/** A mistake in a model. */
export interface Diagnostic {
  code: string;
  message: string;
  help?: string;
  severity: "error" | "warning";
  /** The place in the source text, in bytes of UTF-8. */
  start?: number;
  end?: number;
}

/** An error of the compiler, a launch or a device. */
export class SimError extends Error {
  /** A code of the compiler or the runtime, or `argument`, `module`, `program`, `memory`, `internal`, `ended`. */
  readonly code: string;
  /** How to resolve it, if that is known. */
  readonly help?: string;
  /** Everything as text, with the place in the source of each mistake. */
  readonly rendered: string;
  /** The compiler's messages, if the model does not compile. */
  readonly diagnostics: Diagnostic[];
}

export type NumberArray =
  | Float32Array | Float64Array | Int32Array | Uint32Array | Int16Array | Uint16Array | Int8Array | Uint8Array
  | Uint8ClampedArray;

/** A value of a launch: rows lie one after the other; the name of an enum's variant stands for it. */
export type Value = number | boolean | string | NumberArray | Nested;
export type Nested = ReadonlyArray<number | boolean | string | Nested>;

/** What a run is asked for, beside values. */
export interface LaunchOptions {
  agents?: number;
  steps?: number;
  /** Agents in a world. */
  world?: number;
  firstAgent?: number;
  population?: number;
  /** 0 by default. A BigInt has all 64 bits. */
  seed?: number | bigint;
  /** `auto` by default: a GPU where there is one and the run is long enough. */
  backend?: "auto" | "gpu" | "cpu" | "reference";
  /** Most steps of a dispatch to a GPU; as many as its watchdog allows by default. */
  stepsPerDispatch?: number;
  /** Whether the results have the final states; true by default. */
  keepStates?: boolean;
  /** Whether the results have the outputs of each agent; true by default. */
  keepOutputs?: boolean;
  /** Whether the results have statistics of the outputs; true by default. */
  statistics?: boolean;
  /** Values by kind, for names that this object has for itself. */
  params?: Record<string, Value>;
  data?: Record<string, Value>;
  inputs?: Record<string, Value>;
  /** Ends the run. */
  signal?: AbortSignal;
  /** Called now and then with the agent-steps that are done, and all of them. */
  progress?: (done: number, all: number) => void;
}

/** A launch: options, and the values of params, tables and inputs by name. */
export type Launch = LaunchOptions & { [name: string]: unknown };

/** Values of each agent or world; a bool is 0 or 1, an enum the number of its variant. */
export type Column = Float32Array | Int32Array | Uint32Array | Uint8Array;

/** What was recorded or observed. */
export interface Series {
  of: "agents" | "worlds" | "population";
  /** By sample: the steps before it. */
  steps: Uint32Array;
  /** Sample by sample. */
  values: Column;
  shape: number[];
}

/** Statistics of some values; those that they do not have are undefined. */
export interface Statistics {
  count: number;
  nan: number;
  mean?: number;
  deviation?: number;
  standardError?: number;
  min?: number;
  q1?: number;
  median?: number;
  q3?: number;
  max?: number;
}

/** How a run was done. */
export interface Report {
  backend: "gpu" | "cpu" | "reference";
  device: string;
  /** Why it ran there. */
  reason: string;
  agents: number;
  firstAgent: number;
  population: number;
  steps: number;
  worlds: number;
  seed: bigint;
  agentSteps: number;
  stoppedAgents: number;
  setupSeconds: number;
  runSeconds: number;
  dispatches: number;
}

/** The results of a run. */
export interface Run {
  outputs: Record<string, Column>;
  states: Record<string, Column>;
  worldOutputs: Record<string, Column>;
  worldStates: Record<string, Column>;
  /** `[agents, dimensions…]` of each output and state. */
  shapes: Record<string, number[]>;
  records: Record<string, Series>;
  observed: Record<string, Series>;
  /** Of each output: an entry for each of its values, or one for all if an agent has more than 16. */
  statistics?: Record<string, Statistics[]>;
  report: Report;
}

/** Where the runtime is. */
export interface LoadOptions {
  /**
   * In Node: the package that has WebGPU, `webgpu` by default, which may be a URL; `false` for the CPU alone.
   */
  gpu?: string | false;
  /** The module: a URL, bytes or a compiled module. By default one of the files beside this one. */
  wasm?: string | URL | BufferSource | WebAssembly.Module;
}

/** How to compile. */
export interface CompileOptions extends LoadOptions {
  /** The random generator; `keyed-hash` by default. */
  generator?: "keyed-hash" | "philox4x32-10";
  /** Mathematical functions with the same bits on every GPU. */
  precise?: boolean;
  /** A message at the first bad index, division, NaN or failed `assert`. */
  checks?: boolean;
}

/** A compiled model, whose runs are done in a worker, one after the other. */
export interface Model {
  /** What the model takes and gives; see `docs/manifest.md`. */
  readonly manifest: any;
  /** Where the last run was done, or where a long one would be. */
  readonly backend: "gpu" | "cpu" | "reference";
  /** The vector instructions that the CPU backend takes: relaxed ones are faster where a model calls `exp`. */
  readonly instructions: "relaxed-simd" | "simd128";
  wgsl(): Promise<string>;
  run(launch?: Launch): Promise<Run>;
  /** Ends the worker and frees its memory. */
  free(): void;
}

/** Compiles a source text, with the compiler in the folder `compiler`, which built pages lack. */
export function compile(source: string, options?: CompileOptions): Promise<Model>;

/** Loads a program that was compiled before: its bytes, or these in base64. */
export function load(program: string | Uint8Array, options?: LoadOptions): Promise<Model>;

/** Loads the module for `LocalModel`, and the compiler, if it is there and not left out. */
export function initialize(wasm?: LoadOptions["wasm"], withCompiler?: boolean): Promise<void>;

/** A model on this thread, which a run blocks, from its program or its text. `initialize` comes before. */
export class LocalModel {
  constructor(model: string | Uint8Array, options?: Pick<CompileOptions, "generator" | "precise" | "checks">);
  readonly instructions: Model["instructions"];
  readonly manifest: any;
  wgsl(): string;
  /**
   * Runs, on a GPU if there is one and it pays, after the run that is under way. `progress` may return
   * `false` to end the run.
   */
  run(launch?: Omit<Launch, "signal">, progress?: (done: number, all: number) => unknown): Promise<Run>;
  /** Runs on the CPU. */
  runNow(launch?: Omit<Launch, "signal">, progress?: (done: number, all: number) => unknown): Run;
  /** Frees the memory of the model, after the run that is under way. */
  free(): void;
}

/** Gives Node a WebGPU for `LocalModel`: that of the package `webgpu`. Returns whether there is one. */
export function useNodeGpu(from?: string, options?: string[]): Promise<boolean>;

/** Bytes of memory that the module of `LocalModel` has. */
export function memoryBytes(): number;
