// Choosing and finding on the map: pointer, wheel, keyboard, search box, tooltip.

function nearest(view, px, py, most = 12) {
  const { geo, camera: { x, y, k }, width, height } = view, gx = (px - width / 2) / k + x, gy = (py - height / 2) / k + y;
  let best = null, least = (most / k) ** 2;
  for (let i = 0; i < geo.n; i++) {
    const dx = geo.xy[2 * i] - gx, dy = geo.xy[2 * i + 1] - gy, d = dx * dx + dy * dy;
    if (d < least && !hiddenAt(view, i)) { least = d; best = i; }
  }
  return best;
}

function choosePlace(view, place, tell = true) {
  const changed = view.selected !== place;
  view.selected = place;
  view.neighbours = [];
  if (view.width) drawPoints(view);
  if (tell && changed) view.send(place);
}

function wirePointer(view) {
  const { canvas } = view;
  let hold = null;
  canvas.addEventListener("pointerdown", (event) => { hold = { x: event.offsetX, y: event.offsetY, moved: 0 }; canvas.setPointerCapture(event.pointerId); view.tip.hidden = true; });
  canvas.addEventListener("pointermove", (event) => {
    if (!hold) return hover(view, event);
    const dx = event.offsetX - hold.x, dy = event.offsetY - hold.y, { x, y, k } = view.camera;
    hold = { x: event.offsetX, y: event.offsetY, moved: hold.moved + Math.abs(dx) + Math.abs(dy) };
    look(view, { x: x - dx / k, y: y - dy / k, k });
  });
  canvas.addEventListener("pointerup", (event) => { if (hold && hold.moved < 4) choosePlace(view, nearest(view, event.offsetX, event.offsetY)); hold = null; });
  canvas.addEventListener("pointercancel", () => { hold = null; });
  canvas.addEventListener("pointerleave", () => { view.tip.hidden = true; });
  canvas.addEventListener("wheel", (event) => { event.preventDefault(); zoomAt(view, Math.exp(-Math.max(-60, Math.min(60, event.deltaY)) / 240), event.offsetX, event.offsetY); }, { passive: false });
}

function hover(view, event) {
  const i = view.geo ? nearest(view, event.offsetX, event.offsetY, 9) : null;
  view.canvas.style.cursor = i == null ? "grab" : "pointer";
  view.tip.hidden = i == null;
  if (i == null) return;
  const mark = view.marks[view.geo.labels[i]], head = element("div", { class: "head" }), d = view.geo.degree[i];
  head.append(symbol(view, mark), text("span", mark.label), text("span", d === 255 ? "255 edges or more" : d === 1 ? "1 edge" : `${d} edges`));
  const { legend } = view.head, parts = [head, text("strong", view.geo.titles[i])];
  if (legend.kind === "score") parts.push(text("p", view.values[i] > legend.steps ? "no score" : `score ${(legend.low + (view.values[i] / legend.steps) * (legend.high - legend.low)).toFixed(2)}`));
  if (legend.kind === "fate") parts.push(text("p", legend.entries[view.values[i]].name));
  view.tip.replaceChildren(...parts);
  view.tip.style.left = Math.max(4, Math.min(event.offsetX + 14, view.width - view.tip.offsetWidth - 8)) + "px";
  view.tip.style.top = Math.max(4, Math.min(event.offsetY + 16, view.height - view.tip.offsetHeight - 8)) + "px";
}

function wireControls(view) {
  const doing = { fit: () => look(view, whole(view)), closer: () => zoomAt(view, 1.4), farther: () => zoomAt(view, 1 / 1.4), full: () => (document.fullscreenElement ? document.exitFullscreen() : view.box.requestFullscreen?.()), png: () => saveMap(view) };
  for (const button of view.box.querySelectorAll("button[data-do]")) button.addEventListener("click", () => view.geo && doing[button.dataset.do]?.());
  const moves = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
  view.box.addEventListener("keydown", (event) => {
    if (!view.geo || event.ctrlKey || event.metaKey || event.altKey || event.target === view.find) return;
    const { x, y, k } = view.camera;
    if (event.key === "/") view.find.focus();
    else if (event.key === "Escape") choosePlace(view, null);
    else if (event.target !== view.stage) return;
    else if (moves[event.key]) look(view, { x: x + moves[event.key][0] * 60 / k, y: y + moves[event.key][1] * 60 / k, k });
    else if (event.key === "+" || event.key === "=") doing.closer();
    else if (event.key === "-") doing.farther();
    else if (event.key === "0") doing.fit();
    else return;
    event.preventDefault();
  });
  view.find.addEventListener("input", () => showPlaces(view));
  view.find.addEventListener("blur", () => setTimeout(() => { view.hits.hidden = true; }, 150));
  view.find.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && view.found?.length) { view.hits.hidden = true; lookAt(view, view.found[0]); }
    if (event.key === "Escape") { view.find.value = ""; view.hits.hidden = true; view.stage.focus(); }
  });
}

function showPlaces(view) {
  const want = view.find.value.normalize("NFKC").toLowerCase().trim(), found = [];
  view.lower ??= new WeakMap();
  if (!view.lower.has(view.geo)) view.lower.set(view.geo, view.geo.titles.map((t) => t.normalize("NFKC").toLowerCase()));
  const titles = view.lower.get(view.geo);
  if (want) for (const i of view.geo.order) if (titles[i].includes(want)) { found.push(i); if (found.length === 8) break; }
  view.found = found;
  view.hits.replaceChildren(...found.map((i) => {
    const item = element("li", { role: "option" }), mark = view.marks[view.geo.labels[i]];
    item.append(symbol(view, mark), text("span", view.geo.titles[i]), text("small", mark.label));
    item.addEventListener("mousedown", (event) => { event.preventDefault(); view.hits.hidden = true; lookAt(view, i); });
    return item;
  }));
  if (want && !found.length) view.hits.replaceChildren(text("li", "no such node", "none"));
  view.hits.hidden = !want;
  view.find.setAttribute("aria-expanded", String(!view.hits.hidden));
}

function saveMap(view) {
  const picture = document.createElement("canvas"), ctx = picture.getContext("2d");
  picture.width = view.canvas.width;
  picture.height = view.canvas.height;
  ctx.fillStyle = view.theme.page;
  ctx.fillRect(0, 0, picture.width, picture.height);
  ctx.drawImage(view.canvas, 0, 0);
  picture.toBlob((blob) => {
    const link = element("a", { href: URL.createObjectURL(blob), download: view.head.filename });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 5000);
  });
}
