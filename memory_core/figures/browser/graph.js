// The graph view: vis-network mounted once, differences applied by id. Text from a memory only ever becomes textContent
// or canvas text. The same file runs as the app's component and inside the picture one downloads.

const views = new WeakMap(); // root -> view
const kept = new Map(); // key -> what outlives a remount: positions, filters, selection, camera
const calm = globalThis.matchMedia?.("(prefers-reduced-motion: reduce)").matches ?? false;
const GLOW_MS = 2000, MOVE_MS = 450, EDGE_LABELS = 40;

export default function graphView({ parentElement, data, setStateValue, setTriggerValue }) {
  let view = views.get(parentElement);
  if (!view) views.set(parentElement, (view = createView(parentElement, data)));
  view.send = (selection) => setStateValue("selected", selection);
  view.expand = (id) => setTriggerValue("expand", id);
  view.ready = view.ready.then(() => update(view, data)).catch((error) => fail(view, error));
  return () => { destroy(view); views.delete(parentElement); };
}

function createView(root, data) {
  const box = root.querySelector(".graph");
  if (!kept.has(data.key)) kept.set(data.key, { at: new Map(), hidden: new Set(), selected: null, states: new Map(), camera: null, focus: null });
  const view = { root, box, keep: kept.get(data.key), nodes: new Map(), edges: new Map(), glow: new Map(), moves: new Map(), started: performance.now() };
  for (const name of ["stage", "find", "hits", "count", "legend", "tip", "note"]) view[name] = box.querySelector("." + name);
  box.style.height = data.height + "px";
  box.view = view;
  view.ready = loadVis(data.library).then((vis) => startNetwork(view, vis));
  wireBar(view);
  wireKeys(view);
  return view;
}

async function loadVis(library) {
  if (!globalThis.vis?.Network) await import(new URL(library, document.baseURI).href);
  return globalThis.vis;
}

function fail(view, error) {
  view.note.hidden = false;
  view.note.textContent = "The picture could not be drawn: " + error.message + ". The table beside it shows the same nodes.";
  throw error;
}

function startNetwork(view, vis) {
  view.visNodes = new vis.DataSet();
  view.visEdges = new vis.DataSet();
  readTheme(view);
  view.net = withPlainCanvas(() => new vis.Network(view.stage, { nodes: view.visNodes, edges: view.visEdges }, {
    autoResize: true,
    layout: { improvedLayout: false },
    physics: { enabled: false },
    nodes: { shape: "custom", ctxRenderer: (args) => drawNode(view, args), chosen: false },
    edges: { smooth: false, width: 1, selectionWidth: 1.2, hoverWidth: 0.6, arrows: { to: { enabled: true, scaleFactor: 0.34 } }, color: edgeColors(view) },
    interaction: { hover: true, tooltipDelay: 1e9, keyboard: false, multiselect: false, selectConnectedEdges: true, hideEdgesOnDrag: false, zoomSpeed: 0.7 },
  }));
  const net = view.net;
  net.on("click", (p) => select(view, p.nodes.length ? { kind: "node", id: p.nodes[0] } : p.edges.length ? { kind: "edge", id: p.edges[0] } : null));
  net.on("doubleClick", (p) => { if (p.nodes.length) view.expand(p.nodes[0]); });
  net.on("hoverNode", (p) => { view.hover = p.node; showTip(view, nodeTip(view, p.node), p.pointer.DOM); });
  net.on("hoverEdge", (p) => { view.hoverEdge = p.edge; showTip(view, edgeTip(view, p.edge), p.pointer.DOM); });
  net.on("blurNode", () => { view.hover = null; hideTip(view); });
  net.on("blurEdge", () => { view.hoverEdge = null; hideTip(view); });
  net.on("dragStart", () => { hideTip(view); view.touched = true; });
  net.on("zoom", () => { hideTip(view); view.touched = true; rememberCamera(view); });
  net.on("dragEnd", (p) => { if (p.nodes.length) rememberPositions(view, p.nodes); rememberCamera(view); });
  net.on("beforeDrawing", (ctx) => drawRings(view, ctx));
  net.on("afterDrawing", (ctx) => drawLabels(view, ctx));
  view.resize = new ResizeObserver(() => onResize(view));
  view.resize.observe(view.stage);
}

function destroy(view) {
  rememberCamera(view);
  view.resize?.disconnect();
  view.net?.destroy();
  view.net = null;
}

// ---- data -------------------------------------------------------------------------------------------------------

function update(view, data) {
  if (!view.net) return;
  const began = performance.now();
  view.box.style.height = data.height + "px";
  view.data = data;
  styleEdges(view, data.nodes.length);
  view.marks = new Map(data.marks.map((mark) => [mark.label, { ...mark, shape: new Path2D(mark.path) }]));
  const nodes = data.nodes.map((node) => ({ ...node, size: sizeOf(node) }));
  const edges = data.edges;
  const first = view.nodes.size === 0;
  noteStates(view, nodes);
  const moves = arrange(view, nodes, edges);
  view.nodes = new Map(nodes.map((node) => [node.id, node]));
  view.edges = new Map(edges.map((edge) => [edge.id, edge]));
  applyDifferences(view, nodes, edges);
  startMoves(view, moves);
  drawLegend(view);
  view.count.textContent = data.text;
  view.note.hidden = nodes.length > 0;
  view.note.textContent = nodes.length ? "" : data.empty;
  view.stage.setAttribute("aria-label", `Memory graph: ${data.text}. Arrow keys move, plus and minus zoom, slash searches, Escape clears.`);
  restoreSelection(view);
  if (first) firstView(view); else followGrowth(view);
  applyFocus(view, data.focus);
  view.box.dataset.nodes = nodes.length;
  view.box.dataset.applyMs = Math.round(performance.now() - began);
  view.box.dataset.version = Number(view.box.dataset.version ?? 0) + 1;
  view.net.redraw();
  if (first) view.box.dataset.firstMs = Math.round(performance.now() - view.started);
}

// Lines keep about one pixel on the screen: a large graph is seen from far, so its lines are wider in the drawing.
function styleEdges(view, count) {
  const width = count > 600 ? 2.4 : count > 150 ? 1.5 : 1;
  if (!readTheme(view) && view.edgeWidth === width) return;
  view.edgeWidth = width;
  view.net.setOptions({ edges: { width, color: edgeColors(view) } });
}

const sizeOf = (node) => Math.min(5.5 + 1.5 * Math.sqrt(node.degree), 16) + (node.state === "root" ? 2 : 0);

// A glow or pulse plays once for each change: when the state, or its stamp, is not the one seen last.
function noteStates(view, nodes) {
  const seen = view.keep.states, now = performance.now(), quiet = seen.size === 0 && nodes.length > 60;
  for (const node of nodes) {
    const mark = node.state + "|" + (node.stamp ?? "");
    if (!quiet && seen.get(node.id) !== mark && (node.state === "new" || node.state === "merged")) view.glow.set(node.id, now);
    seen.set(node.id, mark);
  }
  if (view.glow.size) animate(view);
}

function arrange(view, nodes, edges) {
  const keep = view.keep, aspect = aspectOf(view);
  view.rings = null;
  if (nodes.length && nodes.every((node) => node.hop != null)) {
    const { at, radii } = rings(nodes, edges, aspect);
    view.rings = radii;
    const moves = new Map([...at].map(([id, p]) => [id, { from: keep.at.get(id) ?? p, to: p }]));
    keep.at = new Map(at);
    return moves;
  }
  const known = new Map(nodes.filter((node) => keep.at.has(node.id)).map((node) => [node.id, keep.at.get(node.id)]));
  if (known.size < 0.3 * nodes.length) {
    layOut(view, nodes, edges);
    return new Map(nodes.map((node) => [node.id, { from: keep.at.get(node.id), to: keep.at.get(node.id) }]));
  }
  const { at, from } = placeNew(nodes, edges, known);
  for (const node of nodes) keep.at.set(node.id, at.get(node.id));
  return new Map([...from].map(([id, p]) => [id, { from: p, to: at.get(id) }]));
}

function layOut(view, nodes, edges) {
  const index = new Map(nodes.map((node, i) => [node.id, i]));
  const links = edges.map((e) => [index.get(e.source), index.get(e.target)]).filter(([a, b]) => a !== b);
  const rounds = nodes.length > 600 ? 220 : 320;
  settle(nodes, links, aspectOf(view), rounds).forEach((p, i) => view.keep.at.set(nodes[i].id, p));
}

const aspectOf = (view) => (view.stage.clientWidth || 900) / (view.stage.clientHeight || 560);

function applyDifferences(view, nodes, edges) {
  const wanted = new Set(view.nodes.keys()), wantedEdges = new Set(view.edges.keys());
  view.visEdges.remove(view.visEdges.getIds().filter((id) => !wantedEdges.has(id)));
  view.visNodes.remove(view.visNodes.getIds().filter((id) => !wanted.has(id)));
  const fresh = [], changed = [];
  for (const node of nodes) {
    const hidden = isHidden(view, node), before = view.visNodes.get(node.id);
    if (!before) fresh.push({ id: node.id, ...view.keep.at.get(node.id), size: node.size, hidden });
    else if (before.size !== node.size || before.hidden !== hidden) changed.push({ id: node.id, ...view.keep.at.get(node.id), size: node.size, hidden });
  }
  view.visNodes.update(changed);
  view.visNodes.add(fresh);
  const bends = bendOf(edges);
  const newEdges = [], bent = [];
  for (const edge of edges) {
    const smooth = bends.get(edge.id), before = view.visEdges.get(edge.id);
    if (!before) newEdges.push({ id: edge.id, from: edge.source, to: edge.target, smooth, bend: JSON.stringify(smooth) });
    else if (before.bend !== JSON.stringify(smooth)) bent.push({ id: edge.id, smooth, bend: JSON.stringify(smooth) });
  }
  view.visEdges.update(bent);
  view.visEdges.add(newEdges);
}

// Edges between the same two nodes fan out, so that each can be seen and clicked.
function bendOf(edges) {
  const groups = new Map(), bends = new Map();
  for (const e of edges) {
    const key = JSON.stringify([e.source, e.target].sort());
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(e);
  }
  for (const group of groups.values()) {
    group.forEach((e, i) => {
      const lane = i - (group.length - 1) / 2, side = e.source <= e.target ? 1 : -1;
      bends.set(e.id, lane === 0 ? false : { enabled: true, type: lane * side > 0 ? "curvedCW" : "curvedCCW", roundness: Math.min(0.18 * Math.abs(lane) + 0.06, 0.9) });
    });
  }
  return bends;
}

// ---- movement ---------------------------------------------------------------------------------------------------

function startMoves(view, moves) {
  const now = performance.now();
  for (const [id, move] of moves) {
    const still = Math.hypot(move.from.x - move.to.x, move.from.y - move.to.y) < 0.5;
    const moving = !(calm || still || document.hidden);
    moveTo(view, id, moving ? move.from : move.to);
    if (moving) view.moves.set(id, { ...move, began: now });
  }
  if (view.moves.size) animate(view);
}

// Network.moveNode redraws everything for each node, so the place is set directly and drawn once.
function moveTo(view, id, at) {
  const drawn = view.net.body.nodes[id];
  if (drawn) { drawn.x = at.x; drawn.y = at.y; }
}

function animate(view) {
  if (view.frame) return;
  const step = () => {
    view.frame = null;
    if (!view.net) return;
    const now = performance.now();
    for (const [id, m] of view.moves) {
      const t = Math.min(1, (now - m.began) / MOVE_MS), ease = 1 - (1 - t) ** 3;
      moveTo(view, id, { x: m.from.x + (m.to.x - m.from.x) * ease, y: m.from.y + (m.to.y - m.from.y) * ease });
      if (t === 1 || !view.nodes.has(id)) view.moves.delete(id);
    }
    for (const [id, began] of view.glow) if (now - began > GLOW_MS) view.glow.delete(id);
    view.net.redraw();
    if (view.moves.size || view.glow.size) view.frame = requestAnimationFrame(step);
  };
  view.frame = requestAnimationFrame(step);
}

function tidy(view) {
  const before = new Map(view.keep.at), nodes = [...view.nodes.values()];
  if (!nodes.length || view.rings) return;
  layOut(view, nodes, [...view.edges.values()]);
  startMoves(view, new Map(nodes.map((node) => [node.id, { from: before.get(node.id), to: view.keep.at.get(node.id) }])));
  setTimeout(() => fit(view), calm ? 0 : MOVE_MS + 60);
}

function rememberPositions(view, ids) {
  for (const [id, p] of Object.entries(view.net.getPositions(ids))) view.keep.at.set(id, p);
}

function rememberCamera(view) {
  if (view.net && view.touched) view.keep.camera = { position: view.net.getViewPosition(), scale: view.net.getScale() };
}

function onResize(view) {
  if (!view.net || !view.stage.clientWidth) return;
  view.net.redraw();
  if (!view.touched) fit(view, false);
}

function firstView(view) {
  if (view.keep.camera) { view.touched = true; view.net.moveTo({ ...view.keep.camera, animation: false }); } else fit(view, false);
}

function bounds(view) {
  let left = Infinity, right = -Infinity, top = Infinity, bottom = -Infinity;
  for (const node of view.nodes.values()) {
    if (isHidden(view, node)) continue;
    const p = view.keep.at.get(node.id), r = node.size + 6;
    left = Math.min(left, p.x - r - 24); right = Math.max(right, p.x + r + 24);
    top = Math.min(top, p.y - r); bottom = Math.max(bottom, p.y + r + 14);
  }
  return left < right ? { left, right, top, bottom } : null;
}

function fit(view, glide = true) {
  const b = bounds(view);
  if (!b || !view.stage.clientWidth) return;
  const scale = Math.min(view.stage.clientWidth * 0.94 / (b.right - b.left), view.stage.clientHeight * 0.94 / (b.bottom - b.top), 1.6);
  view.net.moveTo({ position: { x: (b.left + b.right) / 2, y: (b.top + b.bottom) / 2 }, scale, animation: glide && !calm ? { duration: 350, easingFunction: "easeInOutQuad" } : false });
}

// The camera follows growth only until the person takes it.
function followGrowth(view) {
  const b = bounds(view);
  if (view.touched || !b) return;
  const a = view.net.DOMtoCanvas({ x: 0, y: 0 }), z = view.net.DOMtoCanvas({ x: view.stage.clientWidth, y: view.stage.clientHeight });
  if (b.left < a.x || b.right > z.x || b.top < a.y || b.bottom > z.y) fit(view);
}

// ---- selection, search, legend ----------------------------------------------------------------------------------

function select(view, selection, tell = true) {
  const before = JSON.stringify(view.keep.selected), after = JSON.stringify(selection);
  view.keep.selected = selection;
  restoreSelection(view);
  view.net.redraw();
  if (tell && before !== after) view.send(selection);
}

function restoreSelection(view) {
  const s = view.keep.selected;
  if (!s) view.net.unselectAll();
  else if (s.kind === "node" && view.nodes.has(s.id)) view.net.selectNodes([s.id]);
  else if (s.kind === "edge" && view.edges.has(s.id)) view.net.setSelection({ nodes: [], edges: [s.id] });
}

function goTo(view, id, tell = true) {
  const node = view.nodes.get(id);
  if (!node) return;
  if (view.keep.hidden.delete(markOf(view, node.label).label)) { applyFilter(view); drawLegend(view); }
  view.touched = true;
  view.net.moveTo({ position: view.keep.at.get(id), scale: Math.max(1.1, view.net.getScale()), animation: calm ? false : { duration: 400, easingFunction: "easeInOutQuad" } });
  select(view, { kind: "node", id }, tell);
  setTimeout(() => rememberCamera(view), 450);
}

function applyFocus(view, focus) {
  if (focus != null && focus !== view.keep.focus && view.nodes.has(focus)) goTo(view, focus, false);
  view.keep.focus = focus;
}

function wireBar(view) {
  const press = { fit: () => { view.touched = false; view.keep.camera = null; fit(view); }, tidy: () => tidy(view), png: () => savePicture(view), full: () => fullScreen(view), closer: () => zoom(view, 1.3), farther: () => zoom(view, 1 / 1.3) };
  for (const button of view.box.querySelectorAll("button[data-do]")) button.addEventListener("click", () => view.net && press[button.dataset.do]());
  view.find.addEventListener("input", () => showHits(view));
  view.find.addEventListener("keydown", (event) => onFindKey(view, event));
  view.find.addEventListener("blur", () => setTimeout(() => { view.hits.hidden = true; }, 150));
}

function matches(view, words) {
  const want = words.normalize("NFKC").toLowerCase().trim();
  if (!want) return [];
  const rank = (node) => { const t = node.title.normalize("NFKC").toLowerCase(); return t === want ? 0 : t.startsWith(want) ? 1 : t.includes(want) ? 2 : 9; };
  return [...view.nodes.values()].map((node) => [rank(node), node]).filter(([r]) => r < 9)
    .sort((a, b) => a[0] - b[0] || b[1].degree - a[1].degree).slice(0, 8).map(([, node]) => node);
}

function showHits(view, active = 0) {
  const found = matches(view, view.find.value);
  view.hits.replaceChildren(...found.map((node, i) => {
    const item = element("li", { role: "option", id: `hit-${i}`, "aria-selected": String(i === active) });
    item.append(glyph(view, node.label), text("span", node.title), text("small", node.label));
    item.addEventListener("mousedown", (event) => { event.preventDefault(); choose(view, node.id); });
    return item;
  }));
  if (!found.length && view.find.value.trim()) view.hits.replaceChildren(text("li", "no such node in this picture", "none"));
  view.hits.hidden = !view.find.value.trim();
  view.find.setAttribute("aria-expanded", String(!view.hits.hidden));
  view.active = Math.min(active, Math.max(found.length - 1, 0));
  view.find.setAttribute("aria-activedescendant", found.length ? `hit-${view.active}` : "");
  return found;
}

function choose(view, id) {
  view.hits.hidden = true;
  goTo(view, id);
}

function onFindKey(view, event) {
  const found = matches(view, view.find.value);
  if (event.key === "Enter" && found.length) choose(view, found[view.active ?? 0].id);
  else if (event.key === "ArrowDown") showHits(view, Math.min((view.active ?? 0) + 1, found.length - 1));
  else if (event.key === "ArrowUp") showHits(view, Math.max((view.active ?? 0) - 1, 0));
  else if (event.key === "Escape") { view.find.value = ""; view.hits.hidden = true; view.stage.focus(); }
  else return;
  event.preventDefault();
  event.stopPropagation();
}

function drawLegend(view) {
  const counts = new Map();
  for (const node of view.nodes.values()) { const l = markOf(view, node.label).label; counts.set(l, (counts.get(l) ?? 0) + 1); }
  const focused = view.root.activeElement?.dataset?.label;
  const buttons = view.data.marks.filter((m) => counts.has(m.label) || (m.label !== "Other" && view.data.nodes.length === 0)).map((m) => {
    const shown = !view.keep.hidden.has(m.label);
    const button = element("button", { type: "button", "aria-pressed": String(shown), "data-label": m.label, title: shown ? `Hide ${m.label}` : `Show ${m.label}` });
    button.append(glyph(view, m.label), text("span", m.label), text("b", (counts.get(m.label) ?? 0).toLocaleString("en")));
    button.addEventListener("click", () => { shown ? view.keep.hidden.add(m.label) : view.keep.hidden.delete(m.label); applyFilter(view); drawLegend(view); });
    return button;
  });
  view.legend.replaceChildren(...buttons);
  if (focused) buttons.find((b) => b.dataset.label === focused)?.focus();
}

function applyFilter(view) {
  view.visNodes.update([...view.nodes.values()].map((node) => ({ id: node.id, ...view.keep.at.get(node.id), hidden: isHidden(view, node) })));
  view.net.redraw();
}

const markOf = (view, label) => view.marks.get(label) ?? view.marks.get("Other");
const isHidden = (view, node) => view.keep.hidden.has(markOf(view, node.label).label);

function wireKeys(view) {
  const moves = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
  view.box.addEventListener("keydown", (event) => {
    if (!view.net || event.ctrlKey || event.metaKey || event.altKey || event.target === view.find) return;
    if (event.key === "/") view.find.focus();
    else if (event.key === "Escape") { hideTip(view); select(view, null); }
    else if (event.target !== view.stage) return;
    else if (moves[event.key]) pan(view, ...moves[event.key]);
    else if (event.key === "+" || event.key === "=") zoom(view, 1.3);
    else if (event.key === "-") zoom(view, 1 / 1.3);
    else if (event.key === "0") fit(view);
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
}

function pan(view, dx, dy) {
  const at = view.net.getViewPosition(), step = 60 / view.net.getScale();
  view.touched = true;
  view.net.moveTo({ position: { x: at.x + dx * step, y: at.y + dy * step } });
  rememberCamera(view);
}

function zoom(view, factor) {
  view.touched = true;
  view.net.moveTo({ scale: view.net.getScale() * factor });
  rememberCamera(view);
}

function fullScreen(view) {
  if (document.fullscreenElement) document.exitFullscreen();
  else view.box.requestFullscreen?.();
}

// ---- small elements ---------------------------------------------------------------------------------------------

const glyph = (view, label) => symbol(view, markOf(view, label));

function nodeTip(view, id) {
  const node = view.nodes.get(id);
  if (!node) return null;
  const head = element("div", { class: "head" });
  head.append(glyph(view, node.label), text("span", node.label), text("span", node.degree === 1 ? "1 edge" : `${node.degree} edges`));
  return [head, text("strong", node.title), text("p", node.content)];
}

function edgeTip(view, id) {
  const edge = view.edges.get(id);
  if (!edge) return null;
  const end = (nodeId) => view.nodes.get(nodeId)?.title ?? nodeId;
  return [text("p", `${end(edge.source)}  →  ${end(edge.target)}`), text("strong", edge.relationship)];
}

function showTip(view, parts, at) {
  if (!parts) return;
  view.tip.replaceChildren(...parts);
  view.tip.hidden = false;
  const room = view.stage.clientWidth - view.tip.offsetWidth - 8, low = view.stage.clientHeight - view.tip.offsetHeight - 8;
  view.tip.style.left = Math.max(4, Math.min(at.x + 16, room)) + "px";
  view.tip.style.top = Math.max(4, at.y + 18 > low ? at.y - view.tip.offsetHeight - 14 : at.y + 18) + "px";
}

function hideTip(view) { view.tip.hidden = true; }
