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
  console.error(error);
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
      bends.set(e.id, lane === 0 ? false : { enabled: true, type: lane * side > 0 ? "curvedCW" : "curvedCCW", roundness: Math.min(0.2 * Math.abs(lane) + 0.08, 0.9) });
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
