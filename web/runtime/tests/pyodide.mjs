// What the tests of Pyodide do in Node and in Chromium alike: the texts of Python, and what they must give.

/** Registers the runtime as Python's module `simc`. */
export async function start(loadPyodide, core, options) {
  await core.initialize();
  const python = await loadPyodide(options);
  python.registerJsModule("simc", core);
  return python;
}

/** Six lines of a user; `backend` is set before. Gives the values and where they were computed. */
export const DOUBLING = `
import simc
from array import array
model = simc.LocalModel.new("agents 4\\ninput x: f32\\noutput y = 2.0 * x\\n")
run = await model.run(x=array("f", [1, 2, 3, 4]), backend=backend)
[list(memoryview(run.outputs.y.to_py())), run.report.backend]
`;

/** Runs a text of Python with some globals; gives what it gives, as JavaScript has it. */
export async function evaluate(python, text, globals = {}) {
  for (const [name, value] of Object.entries(globals)) python.globals.set(name, value);
  const found = await python.runPythonAsync(text);
  if (typeof found?.toJs !== "function") return found;
  const plain = found.toJs();
  found.destroy();
  return plain;
}

/** So many runs with a buffer of Python; afterwards no view of it may be left. */
export const RUNS = `
import simc, gc
from array import array
values = array("f", range(20_000))
model = simc.LocalModel.new("""
agents 20_000
steps 3
input x: f32
state y = x
step { y += 1.0 }
output y
""")
async def runs(count):
    for _ in range(count):
        run = await model.run(x=values, backend=backend)
        last = run.outputs.y.to_py()
        assert last[-1] == 20_002.0
    gc.collect()
await runs(20)
before = measured()
await runs(200)
after = measured()
values.append(1.0)  # raises a BufferError where anybody still has a view
[before, after]
`;
