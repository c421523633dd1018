// Small charts as SVG: histograms and curves. Colours come from the style sheet.
const NS = "http://www.w3.org/2000/svg";
const WIDTH = 360;
const HEIGHT = 200;
const LEFT = 48;
const RIGHT = 12;
const TOP = 10;
const BOTTOM = 26;

function element(name, attributes, parent) {
  const made = document.createElementNS(NS, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  parent?.append(made);
  return made;
}

/** A number for people. */
export function shown(value, digits = 4) {
  if (value === undefined || value === null) return "";
  if (Number.isInteger(value) && Math.abs(value) < 1e15) return value.toLocaleString("en-US");
  if (!Number.isFinite(value)) return String(value);
  const size = Math.abs(value);
  if (size >= 1e-4 && size < 1e7) return Number(value.toPrecision(digits)).toString();
  return value.toExponential(digits - 1);
}

/** Round values within a range. */
function ticks(low, high, count) {
  const rough = (high - low) / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find((it) => it * power >= rough * 0.75);
  const all = [];
  for (let k = Math.ceil(low / step); k * step <= high + step * 1e-9; k++) all.push(k * step);
  return all;
}

function spread(low, high) {
  if (low < high) return [low, high];
  const around = Math.abs(low) * 0.1 || 1;
  return [low - around, high + around];
}

function frame(title, [left, right], [low, high]) {
  const svg = element("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", class: "chart" });
  element("title", {}, svg).textContent = title;
  const x = (value) => LEFT + ((value - left) / (right - left)) * (WIDTH - LEFT - RIGHT);
  const y = (value) => HEIGHT - BOTTOM - ((value - low) / (high - low)) * (HEIGHT - TOP - BOTTOM);
  for (const tick of ticks(low, high, 4)) {
    element("line", { x1: LEFT, x2: WIDTH - RIGHT, y1: y(tick), y2: y(tick), class: "grid" }, svg);
    const text = element("text", { x: LEFT - 5, y: y(tick) + 3.5, "text-anchor": "end" }, svg);
    text.textContent = shown(tick, 3);
  }
  for (const tick of ticks(left, right, 4)) {
    const text = element("text", { x: x(tick), y: HEIGHT - 8, "text-anchor": "middle" }, svg);
    text.textContent = shown(tick, 3);
  }
  const base = HEIGHT - BOTTOM;
  element("line", { x1: LEFT, x2: WIDTH - RIGHT, y1: base, y2: base, class: "axis" }, svg);
  return { svg, x, y };
}

function figure(svg, caption) {
  const made = document.createElement("figure");
  const text = document.createElement("figcaption");
  text.textContent = caption;
  made.append(text, svg);
  return made;
}

/** The distribution of values; those that are no finite numbers are left out. */
export function histogram(caption, values) {
  let [low, high, count] = [Infinity, -Infinity, 0];
  for (const value of values) {
    if (!Number.isFinite(value)) continue;
    count += 1;
    if (value < low) low = value;
    if (value > high) high = value;
  }
  if (count === 0) return undefined;
  const whole = !(values instanceof Float32Array) && high - low < 60;
  const bins = whole ? high - low + 1 : Math.max(5, Math.min(60, Math.ceil(Math.sqrt(count))));
  const [from, to] = whole ? [low - 0.5, high + 0.5] : spread(low, high);
  const counts = new Float64Array(bins);
  const scale = bins / (to - from);
  for (const value of values) {
    if (Number.isFinite(value)) counts[Math.min(bins - 1, Math.floor((value - from) * scale))] += 1;
  }
  const most = counts.reduce((a, b) => Math.max(a, b), 0);
  const label = `${caption}: ${count} values from ${shown(low)} to ${shown(high)}`;
  const { svg, x, y } = frame(label, [from, to], [0, most]);
  let path = "";
  counts.forEach((height, bin) => {
    if (height === 0) return;
    const [left, right] = [x(from + bin / scale), x(from + (bin + 1) / scale)];
    const gap = Math.min(0.6, (right - left) * 0.1);
    path += `M${(left + gap).toFixed(2)} ${y(0)}V${y(height).toFixed(2)}H${(right - gap).toFixed(2)}V${y(0)}Z`;
  });
  element("path", { d: path, class: "bar" }, svg);
  return figure(svg, caption);
}

/** Curves over steps: each is a list of values, and has a name if there are few. */
export function curves(caption, steps, lines, names = []) {
  let [low, high] = [Infinity, -Infinity];
  for (const line of lines) {
    for (const value of line) {
      if (value < low) low = value;
      if (value > high) high = value;
    }
  }
  if (!Number.isFinite(low) || !Number.isFinite(high)) return undefined;
  const across = spread(steps[0], steps[steps.length - 1]);
  const { svg, x, y } = frame(`${caption} by step`, across, spread(low, high));
  const many = lines.length > 8;
  // More points than pixels make no better picture.
  const stride = Math.max(1, Math.floor(steps.length / 800));
  lines.forEach((line, number) => {
    let path = "";
    let pen = "M";
    for (let at = 0; at < line.length; at += stride) {
      if (!Number.isFinite(line[at])) {
        pen = "M";
        continue;
      }
      path += `${pen}${x(steps[at]).toFixed(1)} ${y(line[at]).toFixed(1)}`;
      pen = "L";
    }
    element("path", { d: path, class: `curve c${many ? 0 : number % 6}${many ? " many" : ""}` }, svg);
  });
  const made = figure(svg, caption);
  if (names.length === lines.length && lines.length > 1 && !many) {
    const legend = document.createElement("ul");
    legend.className = "legend";
    names.forEach((name, number) => {
      const item = document.createElement("li");
      item.className = `c${number % 6}`;
      item.textContent = name;
      legend.append(item);
    });
    made.append(legend);
  }
  return made;
}
