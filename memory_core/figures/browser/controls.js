// Choosing, finding and filtering in the graph view: pointer, search box, legend, keyboard, tooltips.

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
