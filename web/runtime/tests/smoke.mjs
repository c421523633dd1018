import { compile } from "../../../target/web/runtime/simc-runtime.js";
import { readFileSync } from "node:fs";
const src = readFileSync("lang-examples/gbm.sim", "utf8");
const t0 = performance.now();
const m = await compile(src);
console.log("compiled", performance.now() - t0);
for (let i = 0; i < 2; i++) {
  const t = performance.now();
  const r = await m.run({ agents: 20000, seed: 0, progress: (d, a) => console.log(d, a) });
  console.log(performance.now() - t, r.statistics, r.report);
}
try { await m.run({ sigam: 1 }); } catch (e) { console.log(e.code, e.message, e.help, e.rendered); }
try { await compile("agents 5\nstate x = y\n"); } catch (e) { console.log(e.code, e.message, e.rendered); }
