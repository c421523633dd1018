// Functions of corner cases and of random numbers have the native bits.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { core, difference, npy, simc } from "./support.mjs";

await core.initialize();

const CORNERS = [
  0, -0, 1, -1, NaN, Infinity, -Infinity, 1e-40, -1e-40, 3e38, -3e38, 0.5, 88.7, -87.4, 100_000.5, 2 ** -126,
];
const FUNCTIONS = [
  "abs(a)", "acos(a)", "acosh(a)", "asin(a)", "asinh(a)", "atan(a)", "atan2(a, b)", "atanh(a)", "ceil(a)",
  "clamp(a, -1.0, 2.0)", "cos(a)", "cosh(a)", "erf(a)", "erfc(a)", "exp(a)", "exp2(a)", "floor(a)",
  "fma(a, b, a)", "fma(a, b, -a * b)", "fract(a)", "gamma(a)", "inverseSqrt(a)", "lgamma(a)", "log(a)",
  "log2(a)", "max(a, b)", "min(a, b)", "mix(a, b, 0.3)", "normal_cdf(a)", "normal_quantile(a)", "pow(a, b)",
  "relu(a)", "round(a)", "saturate(a)", "sigmoid(a)", "sign(a)", "sin(a)", "sinh(a)", "smoothstep(0.0, 1.0, a)",
  "softplus(a)", "sqrt(a)", "step(a, b)", "tan(a)", "tanh(a)", "trunc(a)", "a % b", "a / b",
];
const AGENTS = 8192;

/** Bits of numbers: corner cases, and numbers of all sizes. */
function numbers(seed) {
  let state = seed;
  const next = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
  return Float32Array.from({ length: AGENTS }, (_, k) => {
    if (k < CORNERS.length ** 2) return CORNERS[seed === 1 ? k % CORNERS.length : Math.floor(k / CORNERS.length)];
    return (next() - 0.5) * 10 ** (next() * 8 - 4);
  });
}

test(`functions have the native bits with ${core.instructions}`, () => {
  // Without a parameter that all agents share, each function is a loop over lanes.
  const outputs = FUNCTIONS.map((text, k) => `output f${k} = ${text}\n`).join("");
  const draws = "state n = normal()\nstate e = exponential(2.0)\noutput n\noutput e\n";
  const text = `agents ${AGENTS}\ninput a: f32\ninput b: f32\n${outputs}${draws}`;
  const [a, b] = [numbers(1), numbers(2)];
  const folder = mkdtempSync(join(tmpdir(), "sim-bits-"));
  try {
    writeFileSync(join(folder, "model.sim"), text);
    const shown = (value) => (Object.is(value, -0) ? "-0.0" : `${value}`.replace("Infinity", "inf"));
    const rows = Array.from(a, (value, k) => `${shown(value)},${shown(b[k])}`).join("\n");
    writeFileSync(join(folder, "inputs.csv"), `a,b\n${rows}\n`);
    const given = ["--input", `a=${join(folder, "inputs.csv")}`, "--input", `b=${join(folder, "inputs.csv")}`];
    const rest = ["--backend", "cpu", "--format", "npy", "-o", `${join(folder, "out")}/`, "-q"];
    const args = ["run", join(folder, "model.sim"), ...given, ...rest];
    execFileSync(simc, args, { stdio: ["ignore", "ignore", "inherit"] });
    const run = new core.LocalModel(text).runNow({ a, b, statistics: false });
    const differing = [...FUNCTIONS.keys()].map((k) => [`f${k}`, FUNCTIONS[k]]).concat([["n", "n"], ["e", "e"]])
      .map(([name, what]) => [what, difference(run.outputs[name], npy(join(folder, "out", `${name}.npy`)).values)])
      .filter(([, { count }]) => count > 0)
      .map(([what, { count }]) => `${what}: ${count}`);
    assert.deepEqual(differing, []);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
