// The map of a whole memory: points drawn afresh each frame, edges kept as a picture that moves along and is redrawn
// when the hand rests. Geometry arrives once for each revision; a recolouring is one byte a node.

const maps = new WeakMap(); // root -> view
const geometries = new Map(); // key -> the last geometry, kept across remounts
const cameras = new Map(); // key -> where the person looked
const REST_MS = 140;

export default function mapView({ parentElement, data, setStateValue }) {
  const { head, part } = unpack(data);
  let view = maps.get(parentElement);
  if (!view) maps.set(parentElement, (view = createMap(parentElement, head)));
  view.send = (place) => setStateValue("selected", place == null ? null : { revision: view.geo.revision, place });
  readTheme(view);
  view.box.style.height = head.height + "px";
  if (head.parts.xy) geometries.set(head.key, readGeometry(head, part));
  view.geo = geometries.get(head.key);
  if (!view.geo || view.geo.revision !== head.revision) return setStateValue("have", null), () => {};
  if (head.parts.xy) setStateValue("have", head.revision);
  recolor(view, head, part);
  return () => { view.resize.disconnect(); maps.delete(parentElement); };
}

function unpack(data) {
  const length = new DataView(data.buffer, data.byteOffset).getUint32(0, true);
  const head = JSON.parse(new TextDecoder().decode(data.subarray(4, 4 + length)));
  const part = (name) => { const [at, size] = head.parts[name]; return data.slice(4 + length + at, 4 + length + at + size); };
  return { head, part };
}

function readGeometry(head, part) {
  const xy = new Float32Array(part("xy").buffer), degree = part("degree"), n = degree.length;
  const geo = { revision: head.revision, n, xy, degree, edges: new Uint32Array(part("edges").buffer), labels: part("labels"), community: new Int32Array(part("community").buffer), titles: new TextDecoder().decode(part("titles")).split("\n") };
  geo.order = Uint32Array.from({ length: n }, (_, i) => i).sort((a, b) => degree[b] - degree[a] || a - b);
  geo.reach = 1;
  for (let i = 0; i < 2 * n; i++) geo.reach = Math.max(geo.reach, Math.abs(xy[i]));
  return geo;
}

function createMap(root, head) {
  const box = root.querySelector(".graph"), view = { root, box, key: head.key, hidden: new Set(), selected: null, started: performance.now() };
  for (const name of ["stage", "find", "hits", "count", "legend", "tip", "note"]) view[name] = box.querySelector("." + name);
  const plain = (canvas) => canvas.getContext("2d", { willReadFrequently: true });
  view.canvas = element("canvas");
  view.ctx = plain(view.canvas);
  view.lines = plain(document.createElement("canvas"));
  view.stage.append(view.canvas);
  view.stage.setAttribute("aria-label", "Map of the whole memory. Arrow keys move, plus and minus zoom, zero shows all, slash searches, Escape clears.");
  box.view = view;
  box.dataset.version = 0;
  view.resize = new ResizeObserver(() => view.geo && sizeUp(view));
  view.resize.observe(view.stage);
  wirePointer(view);
  wireControls(view);
  return view;
}

// ---- colours ----------------------------------------------------------------------------------------------------

function recolor(view, head, part) {
  const began = performance.now(), first = !view.values;
  view.head = head;
  view.marks = head.marks.map((mark) => ({ ...mark, shape: new Path2D(mark.path) }));
  if (view.legendKind !== head.legend.kind) view.hidden.clear();
  view.legendKind = head.legend.kind;
  view.values = part("values");
  view.colors = colorsOf(head.legend);
  sortByColor(view);
  drawMapLegend(view);
  view.count.textContent = head.text;
  view.note.hidden = view.geo.n > 0;
  view.note.textContent = view.geo.n ? "" : head.empty;
  if (head.selected !== undefined && head.selected !== view.told) { view.told = head.selected; if (head.selected != null) lookAt(view, head.selected, false); }
  sizeUp(view, true);
  view.box.dataset.version = Number(view.box.dataset.version) + 1;
  view.box.dataset.colorMs = Math.round(performance.now() - began);
  if (first) view.box.dataset.firstMs = Math.round(performance.now() - view.started);
}

function colorsOf(legend) {
  if (legend.kind === "fate") return legend.entries.map((entry, value) => (value === 0 ? fade(entry.color, 0.55) : entry.color));
  if (legend.kind === "label") return legend.entries.map((entry) => entry.color);
  const stops = legend.ramp.map(rgb), mix = (t) => {
    const at = t * (stops.length - 1), i = Math.min(Math.floor(at), stops.length - 2);
    return `rgb(${stops[i].map((c, k) => Math.round(c + (stops[i + 1][k] - c) * (at - i))).join(",")})`;
  };
  return Array.from({ length: 256 }, (_, v) => (v > legend.steps ? "#8a8f98" : mix(v / legend.steps)));
}

function sortByColor(view) {
  const { n } = view.geo, start = new Uint32Array(257);
  for (let i = 0; i < n; i++) start[view.values[i] + 1]++;
  for (let v = 0; v < 256; v++) start[v + 1] += start[v];
  const next = start.slice(), sorted = new Uint32Array(n);
  for (const i of view.geo.order) sorted[next[view.values[i]]++] = i;
  Object.assign(view, { start, sorted });
}

function drawMapLegend(view) {
  const { legend } = view.head;
  if (legend.kind === "score") {
    const bar = element("span", { class: "ramp", role: "img", "aria-label": "orange is a low score, blue a high one" });
    bar.style.background = `linear-gradient(90deg, ${legend.ramp.join(",")})`;
    if (legend.cut != null) { const line = element("i"); line.style.left = 100 * Math.max(0, Math.min(1, (legend.cut - legend.low) / (legend.high - legend.low))) + "%"; bar.append(line); }
    const words = [text("span", `score ${legend.low.toFixed(2)}`), bar, text("span", legend.high.toFixed(2))];
    if (legend.cut != null) words.push(text("span", `cut ${legend.cut.toFixed(2)}`, "quiet"));
    if (legend.none) words.push(text("span", `${legend.none.toLocaleString("en")} without a score`, "quiet"));
    view.legend.replaceChildren(...words);
    return;
  }
  view.legend.replaceChildren(...legend.entries.map((entry, value) => {
    const button = element("button", { type: "button", "aria-pressed": String(!view.hidden.has(value)), "data-value": value });
    const mark = legend.kind === "label" ? view.marks[value] : { ...view.marks[0], color: entry.color, onLight: entry.color, onDark: entry.color };
    button.append(symbol(view, mark), text("span", entry.name), text("b", entry.count.toLocaleString("en")));
    button.hidden = entry.count === 0 && entry.name === "Other";
    button.addEventListener("click", () => { if (!view.hidden.delete(value)) view.hidden.add(value); drawMapLegend(view); redrawAll(view); view.legend.querySelector(`[data-value="${value}"]`)?.focus(); });
    return button;
  }));
}

// ---- camera -----------------------------------------------------------------------------------------------------

function sizeUp(view, force = false) {
  const width = view.stage.clientWidth, height = view.stage.clientHeight, ratio = Math.min(devicePixelRatio || 1, 2);
  if (!width || !height) return;
  if (view.width !== width || view.height !== height || view.ratio !== ratio) {
    Object.assign(view, { width, height, ratio });
    for (const ctx of [view.ctx, view.lines]) { ctx.canvas.width = width * ratio; ctx.canvas.height = height * ratio; }
    view.canvas.style.cssText = `width:${width}px;height:${height}px;display:block;cursor:grab`;
    view.camera = view.touched ? view.camera : cameras.get(view.key) ?? whole(view);
  } else if (!force) return;
  redrawAll(view);
}

const whole = (view) => ({ x: 0, y: 0, k: Math.min(view.width, view.height) * 0.485 / view.geo.reach });

function look(view, camera) {
  const limit = whole(view).k;
  view.camera = { ...camera, k: Math.max(limit * 0.5, Math.min(camera.k, limit * 90)) };
  view.touched = true;
  cameras.set(view.key, view.camera);
  drawPoints(view);
  clearTimeout(view.rest);
  view.rest = setTimeout(() => redrawAll(view), REST_MS);
}

function zoomAt(view, factor, px = view.width / 2, py = view.height / 2) {
  const { x, y, k } = view.camera, limit = whole(view).k, to = Math.max(limit * 0.5, Math.min(k * factor, limit * 90));
  look(view, { x: x + (px - view.width / 2) * (1 / k - 1 / to), y: y + (py - view.height / 2) * (1 / k - 1 / to), k: to });
}

function lookAt(view, place, tell = true) {
  const { xy } = view.geo;
  choosePlace(view, place, tell);
  if (view.width) look(view, { x: xy[2 * place], y: xy[2 * place + 1], k: Math.max(view.camera.k, whole(view).k * 14) });
}

function redrawAll(view) {
  drawLines(view);
  drawPoints(view);
}

// ---- drawing ----------------------------------------------------------------------------------------------------

const hiddenAt = (view, i) => view.hidden.size > 0 && view.hidden.has(view.values[i]);

function drawLines(view) {
  const began = performance.now(), { lines: ctx, geo: { edges, xy, community }, camera: { x, y, k }, width, height, ratio } = view;
  const left = x - width / 2 / k, right = x + width / 2 / k, top = y - height / 2 / k, bottom = y + height / 2 / k;
  const near = k / whole(view).k, strength = Math.min(0.2, (view.theme.dark ? 0.1 : 0.08) * Math.sqrt(near));
  ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
  ctx.clearRect(0, 0, width, height);
  ctx.lineWidth = near > 8 ? 1 : 0.6;
  for (const within of [false, true]) { // edges between communities lie below and are quieter
    ctx.strokeStyle = fade(view.theme.ink, within ? strength * 1.7 : strength * 0.55);
    ctx.beginPath();
    for (let e = 0; e < edges.length; e += 2) {
      const a = edges[e], b = edges[e + 1];
      if ((community[a] === community[b]) !== within || hiddenAt(view, a) || hiddenAt(view, b)) continue;
      const ax = xy[2 * a], ay = xy[2 * a + 1], bx = xy[2 * b], by = xy[2 * b + 1];
      if ((ax < left && bx < left) || (ax > right && bx > right) || (ay < top && by < top) || (ay > bottom && by > bottom)) continue;
      ctx.moveTo((ax - x) * k + width / 2, (ay - y) * k + height / 2);
      ctx.lineTo((bx - x) * k + width / 2, (by - y) * k + height / 2);
      if (e % 4000 < 2) { ctx.stroke(); ctx.beginPath(); }
    }
    ctx.stroke();
  }
  view.linesCamera = { x, y, k };
  view.box.dataset.linesMs = Math.round(performance.now() - began);
}

function drawPoints(view) {
  const began = performance.now(), { ctx, geo, camera: { x, y, k }, width, height, ratio } = view;
  ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
  ctx.clearRect(0, 0, width, height);
  const old = view.linesCamera, grow = k / old.k;
  ctx.drawImage(view.lines.canvas, width / 2 + (old.x - x) * k - (width / 2) * grow, height / 2 + (old.y - y) * k - (height / 2) * grow, width * grow, height * grow);
  const near = k / whole(view).k, base = Math.min(0.85 * near ** 0.5, 6), shapes = base > 2.6;
  for (let turn = 255; turn >= 0; turn--) {
    const v = view.legendKind === "fate" ? 255 - turn : turn; // what leaves lies above what stays
    if (view.hidden.has(v) || view.start[v] === view.start[v + 1]) continue;
    ctx.fillStyle = view.colors[v];
    const leaves = view.legendKind === "fate" && v === 1, outline = shapes ? (view.theme.dark ? "onDark" : "onLight") : null;
    for (let s = view.start[v + 1] - 1; s >= view.start[v]; s--) {
      const i = view.sorted[s], px = (geo.xy[2 * i] - x) * k + width / 2, py = (geo.xy[2 * i + 1] - y) * k + height / 2;
      if (px < -12 || px > width + 12 || py < -12 || py > height + 12) continue;
      const r = base * (leaves ? 1.35 : 1) * (1 + 0.13 * Math.sqrt(Math.max(0, geo.degree[i] - 2)));
      if (!shapes) ctx.fillRect(px - r, py - r, 2 * r, 2 * r);
      else drawShape(view, ctx, view.marks[geo.labels[i]], px, py, r, outline);
    }
  }
  drawChosen(view, base);
  drawTitles(view, base);
  view.box.dataset.pointsMs = Math.round(performance.now() - began);
}

function drawShape(view, ctx, mark, px, py, r, outline) {
  ctx.save();
  ctx.translate(px, py);
  ctx.scale(r, r);
  ctx.fill(mark.shape);
  if (view.legendKind === "label") { ctx.lineWidth = 1 / r; ctx.strokeStyle = mark[outline]; ctx.stroke(mark.shape); }
  ctx.restore();
}

function screen(view, i) {
  const { camera: { x, y, k }, width, height, geo: { xy } } = view;
  return [(xy[2 * i] - x) * k + width / 2, (xy[2 * i + 1] - y) * k + height / 2];
}

function drawChosen(view, base) {
  const { ctx, selected, geo } = view;
  if (selected == null) return;
  const [px, py] = screen(view, selected);
  ctx.strokeStyle = fade(view.theme.accent, 0.8);
  ctx.lineWidth = 1.2;
  ctx.beginPath();
  view.neighbours = [];
  for (let e = 0; e < geo.edges.length; e += 2) {
    const other = geo.edges[e] === selected ? geo.edges[e + 1] : geo.edges[e + 1] === selected ? geo.edges[e] : -1;
    if (other < 0) continue;
    view.neighbours.push(other);
    ctx.moveTo(px, py);
    ctx.lineTo(...screen(view, other));
  }
  ctx.stroke();
  ctx.lineWidth = 2.4;
  ctx.strokeStyle = view.theme.accent;
  ctx.beginPath();
  ctx.arc(px, py, base * 2.2 + 6, 0, 2 * Math.PI);
  ctx.stroke();
}

// From far, the best-connected node names its community; near, titles come as room allows.
function drawTitles(view, base) {
  const { ctx, geo, width, height } = view, taken = grid(width, height), near = view.camera.k / whole(view).k, named = new Set();
  ctx.lineJoin = "round";
  let left = 70;
  const put = (i, weight, size) => {
    const [px, py] = screen(view, i);
    if (px < 0 || px > width || py < 0 || py > height || hiddenAt(view, i)) return;
    const words = clip(geo.titles[i], 28);
    ctx.font = `${weight} ${size}px ${view.theme.font}`;
    const w = ctx.measureText(words).width, x = px - w / 2, y = py + base + 4;
    if (!taken.free(x - 2, y, x + w + 2, y + size + 2)) return;
    taken.fill(x - 4, y - 2, x + w + 4, y + size + 4);
    write(view, ctx, words, x, y + size, 0.95);
    left--;
  };
  if (view.selected != null) { put(view.selected, 600, 13); for (const i of view.neighbours.slice(0, 40)) put(i, 400, 11.5); }
  for (const i of geo.order) {
    if (left <= 0) break;
    const c = geo.community[i];
    if (near > 5) put(i, geo.degree[i] > 7 ? 600 : 400, 11.5);
    else if (c >= 0 && !named.has(c)) { named.add(c); put(i, 600, 12); }
  }
}
