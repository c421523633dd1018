import { LocalModel, initialize } from "../../../target/web/runtime/core.js";
import { readFileSync } from "node:fs";
await initialize();
const [name = "gbm", agents = "50000"] = process.argv.slice(2);
const m = new LocalModel(readFileSync(`lang-examples/${name}.sim`, "utf8"));
for (let i = 0; i < 4; i++) {
  const r = await m.run({ agents: Number(agents), statistics: false, backend: "cpu" });
  console.log(name, (r.report.agentSteps / r.report.runSeconds / 1e6).toFixed(2), "M agent-steps/s");
}
