// Python in a worker, for the tests.
import * as core from "/runtime/core.js";
import { loadPyodide } from "/pyodide/pyodide.mjs";
import { evaluate, start } from "/tests/pyodide.mjs";

const python = await start(loadPyodide, core, { indexURL: "/pyodide/" });
const RUN = `
import simc
model = simc.LocalModel.new("""
agents 400_000
steps 100
state x = 0.0
step { x += normal() }
output x
""")
len(model.runNow(backend="cpu").outputs.x)
`;
onmessage = async () => postMessage(await evaluate(python, RUN));
postMessage("ready");
