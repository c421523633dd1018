// The benchmark page: verifies each model's mean score, then times it, fused and with one dispatch per step.
const $ = (id) => document.getElementById(id);
const options = new URLSearchParams(location.search);
/** Those of the address (`?models=gbm,pi`), or all. */
const asked = options.get("models")?.split(",");
const known = await (await fetch("models.json")).json();
const models = known.filter(({ name }) => asked?.includes(name) ?? true);

/** A run that is timed takes at least so many seconds (`?seconds=2`), if its model has enough agents. */
const LONG_ENOUGH = Number(options.get("seconds")) || 0.5;
const REPEATS = 3;

const rounded = (value) => Number(value.toPrecision(3)).toLocaleString("en-US", { maximumFractionDigits: 6 });
const rate = (perSecond) => {
  const [unit, name] = perSecond >= 1e9 ? [1e9, "G"] : [1e6, "M"];
  return `${rounded(perSecond / unit)} ${name}`;
};

function rowOf({ name, about, mean, steps }) {
  const row = $("results").tBodies[0].insertRow();
  const head = document.createElement("th");
  head.scope = "row";
  head.textContent = name;
  head.title = about;
  row.append(head);
  const cells = {};
  for (const column of ["rate", "dispatched", "fraction", "where", "mean", "native", "agents", "steps"]) {
    cells[column] = row.insertCell();
    cells[column].dataset.column = column;
  }
  cells.native.textContent = mean.toPrecision(6);
  cells.steps.textContent = (steps ?? "–").toLocaleString("en-US");
  row.dataset.model = name;
  return { row, cells };
}

/** Numbers of a text file of numbers. */
async function table(address) {
  const response = await fetch(address);
  if (!response.ok) throw new Error(`${address}: ${response.status}`);
  const [first, ...rest] = (await response.text()).trim().split("\n");
  const lines = /[a-z]/i.test(first) ? rest : [first, ...rest];
  return Float64Array.from(lines.flatMap((line) => line.split(",").map(Number)));
}

let stop;

/** Runs, and gives agent-steps a second by the whole time of the call, and the report. */
async function timed(model, launch) {
  const started = performance.now();
  const { report } = await model.run({
    ...launch, keepStates: false, keepOutputs: false, statistics: false, signal: stop.signal,
  });
  const seconds = (performance.now() - started) / 1000;
  return { seconds, rate: Math.max(report.agentSteps, report.agents) / seconds, report };
}

async function fastest(model, launch) {
  let best = await timed(model, launch);
  for (let k = 1; k < REPEATS; k++) {
    const next = await timed(model, launch);
    if (next.rate > best.rate) best = next;
  }
  return best;
}

/** As many agents as make a run long enough, or the most. */
async function enoughAgents(model, launch, { agents, most }) {
  let count = agents;
  for (;;) {
    const { seconds } = await timed(model, { ...launch, agents: count });
    if (seconds >= LONG_ENOUGH || count === most) return count;
    const factor = Math.min(8, Math.max(2, Math.ceil((1.2 * LONG_ENOUGH) / seconds)));
    count = Math.min(most, count * factor);
  }
}

/** Verifies and times one model. */
async function measure(asked, backend, { row, cells }) {
  const { load } = await import(`./models/${asked.name}.js`);
  const model = await load();
  try {
    const launch = { seed: 0, backend };
    if (asked.steps) launch.steps = asked.steps;
    const tables = Object.entries(asked.tables).map(async ([name, address]) => [name, await table(address)]);
    launch.data = Object.fromEntries(await Promise.all(tables));
    const verified = await model.run({ ...launch, agents: asked.agents, signal: stop.signal });
    const { mean } = verified.statistics.score[0];
    cells.mean.textContent = mean.toPrecision(6);
    const off = Math.abs(mean - asked.mean) / Math.abs(asked.mean);
    if (!(off <= asked.tolerance)) {
      row.dataset.state = "wrong";
      cells.where.textContent = `off by ${(100 * off).toPrecision(2)} %: not timed`;
      return;
    }
    const agents = await enoughAgents(model, launch, asked);
    const fused = await fastest(model, { ...launch, agents });
    cells.where.textContent = fused.report.backend === "gpu" ? "GPU" : "CPU";
    cells.where.title = fused.report.device;
    cells.agents.textContent = agents.toLocaleString("en-US");
    cells.rate.textContent = rate(fused.rate);
    row.dataset.rate = fused.rate;
    if (fused.report.backend === "gpu" && asked.steps) {
      const single = await timed(model, { ...launch, agents, backend: "gpu", stepsPerDispatch: 1 });
      cells.dispatched.textContent = rate(single.rate);
      cells.fraction.textContent = rounded(single.rate / fused.rate);
      row.dataset.dispatches = single.report.dispatches;
    } else cells.dispatched.textContent = cells.fraction.textContent = "–";
    row.dataset.state = "timed";
  } finally {
    model.free();
  }
}

async function run() {
  const [started, backend] = [performance.now(), $("backend").value];
  stop = new AbortController();
  $("error").hidden = true;
  $("run").disabled = true;
  $("stop").disabled = false;
  $("results").tBodies[0].replaceChildren();
  delete document.body.dataset.done;
  const rows = models.map(rowOf);
  try {
    for (const [number, model] of models.entries()) {
      $("status").textContent = `Running ${model.name}…`;
      $("progress").value = number / models.length;
      await measure(model, backend, rows[number]);
    }
    $("progress").value = 1;
    const seconds = (performance.now() - started) / 1000;
    const processors = navigator.hardwareConcurrency;
    $("status").textContent = `Done in ${rounded(seconds)} s, on a machine with ${processors} processors.`;
    document.body.dataset.done = "1";
  } catch (error) {
    $("error").textContent = error.rendered ?? error.message;
    $("error").hidden = false;
    $("status").textContent = "Ended.";
    document.body.dataset.failed = error.code ?? "page";
  } finally {
    $("run").disabled = false;
    $("stop").disabled = true;
  }
}

models.forEach(rowOf);
$("status").textContent = "Ready.";
$("launch").addEventListener("submit", (event) => {
  event.preventDefault();
  run();
});
$("stop").addEventListener("click", () => stop?.abort());
