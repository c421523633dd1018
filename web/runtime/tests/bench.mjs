// Times a model on one core: natively, in wasm, and as loops by hand in JavaScript and in Rust compiled to wasm.
import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { core, root, source } from "./support.mjs";

const [name = "gbm", population = "50000"] = process.argv.slice(2);
const agents = Number(population);
const worker = process.env.BENCH_WORKER ?? join(root, "target/release/examples/bench_worker");
const ROUNDS = 8;

/** Agent-steps a second of the fastest of some runs. */
function best(run) {
  let most = 0;
  for (let k = 0; k < ROUNDS; k++) most = Math.max(most, run());
  return most;
}

/** Clock ticks of the processor that a process has taken, of which a second has a hundred. */
const ticks = (pid) => Number(readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1].split(" ")[11]);

/** Agent-steps a second of the fastest native run on one thread with AVX2, as other instruction sets differ. */
async function native() {
  const model = join(root, "lang-examples", `${name}.sim`);
  const args = [model, tmpdir(), "--agents", `${20 * agents}`, "--instruction-set", "avx2"];
  const env = { ...process.env, RAYON_NUM_THREADS: "1" };
  const child = spawn(worker, args, { env, stdio: ["pipe", "pipe", "inherit"] });
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  await lines.next();
  let most = 0;
  for (let k = 0; k < ROUNDS; k++) {
    const before = ticks(child.pid);
    child.stdin.write(`run ${steps}\n`);
    await lines.next();
    most = Math.max(most, (20 * agents * steps * 100) / (ticks(child.pid) - before));
  }
  child.stdin.end();
  return most;
}

await core.initialize();
const model = new core.LocalModel(source(name));
const { steps } = model.manifest;

/** Agent-steps a second of this thread's own time, as other work on the machine takes some of it. */
function timed(run) {
  const before = process.cpuUsage();
  const agentSteps = run();
  const { user, system } = process.cpuUsage(before);
  return (agentSteps / (user + system)) * 1e6;
}

function wasm() {
  const launch = { agents, statistics: false, keepStates: false };
  return timed(() => model.runNow(launch).report.agentSteps);
}

/** Normal numbers by Box and Muller, from a generator of 32 bits. */
function draws() {
  let state = 12345;
  let spare;
  const uniform = () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
  return () => {
    if (spare !== undefined) {
      const value = spare;
      spare = undefined;
      return value;
    }
    const radius = Math.sqrt(-2 * Math.log(1 - uniform()));
    const angle = 2 * Math.PI * uniform();
    spare = radius * Math.sin(angle);
    return radius * Math.cos(angle);
  };
}

const byHand = {
  gbm(count, steps) {
    const price = new Float32Array(count).fill(100);
    const normal = draws();
    const [dt, sigma, rate] = [1 / 252, 0.2, 0.05];
    const [drift, spread] = [(rate - 0.5 * sigma * sigma) * dt, sigma * Math.sqrt(dt)];
    for (let agent = 0; agent < count; agent++) {
      let value = price[agent];
      for (let step = 0; step < steps; step++) value = Math.fround(value * Math.exp(drift + spread * normal()));
      price[agent] = value;
    }
    return price;
  },
  lorenz(count, steps) {
    const [x, y, z] = [1, 1, 1].map((it) => new Float32Array(count).fill(it));
    const h = 0.01;
    const slope = (a, b, c, out) => {
      out[0] = 10 * (b - a);
      out[1] = a * (28 - c) - b;
      out[2] = a * b - (8 / 3) * c;
    };
    const [k1, k2, k3, k4] = [0, 0, 0, 0].map(() => new Float64Array(3));
    for (let agent = 0; agent < count; agent++) {
      let [a, b, c] = [x[agent], y[agent], z[agent]];
      for (let step = 0; step < steps; step++) {
        slope(a, b, c, k1);
        slope(a + (h / 2) * k1[0], b + (h / 2) * k1[1], c + (h / 2) * k1[2], k2);
        slope(a + (h / 2) * k2[0], b + (h / 2) * k2[1], c + (h / 2) * k2[2], k3);
        slope(a + h * k3[0], b + h * k3[1], c + h * k3[2], k4);
        a += (h / 6) * (k1[0] + 2 * k2[0] + 2 * k3[0] + k4[0]);
        b += (h / 6) * (k1[1] + 2 * k2[1] + 2 * k3[1] + k4[1]);
        c += (h / 6) * (k1[2] + 2 * k2[2] + 2 * k3[2] + k4[2]);
      }
      [x[agent], y[agent], z[agent]] = [a, b, c];
    }
    return x;
  },
};

function javascript() {
  const count = Math.ceil(agents / 10);
  return timed(() => {
    byHand[name](count, steps);
    return count * steps;
  });
}

/** The same loop in Rust, if `scripts/web/bench.sh` could compile it. */
async function rust() {
  const path = join(root, "target/web/scalar.wasm");
  if (!existsSync(path)) return undefined;
  const { instance } = await WebAssembly.instantiate(readFileSync(path));
  const count = Math.ceil(agents / 10);
  return best(() => timed(() => (instance.exports[name](count, steps), count * steps)));
}

const rates = {
  native: await native(),
  wasm: best(wasm),
  ...(byHand[name] && { javascript: best(javascript), "wasm of a scalar loop": await rust() }),
};
for (const [what, rate] of Object.entries(rates)) {
  if (rate === undefined) continue;
  const part = (rate / rates.native).toFixed(3);
  const how = what === "wasm" ? `wasm (${core.instructions})` : what;
  console.log(`${name} ${how.padEnd(21)} ${(rate / 1e6).toFixed(1).padStart(8)} M agent-steps/s ${part} of native`);
}
