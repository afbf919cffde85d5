// What the canvas shows: marks, glow, ring guides, and labels that never overlap. Colours come from the page's theme.

const HUB_LABELS = 18; // these are written even over other marks

function edgeColors(view) {
  return { color: fade(view.theme.ink, view.theme.dark ? 0.26 : 0.24), highlight: fade(view.theme.accent, 0.8), hover: fade(view.theme.ink, 0.7), inherit: false };
}

function drawNode(view, { ctx, id, x, y, state }) {
  const node = view.nodes.get(id);
  if (!node) return { nodeDimensions: { width: 1, height: 1 } };
  const mark = markOf(view, node.label), r = drawnSize(node, view.net.getScale());
  return {
    drawNode() {
      const gone = node.state === "forgotten", chosen = view.keep.selected?.kind === "node" && view.keep.selected.id === id;
      drawGlow(view, ctx, node, mark, x, y, r);
      if (node.state === "root" || chosen) circle(ctx, x, y, r * 1.5 + 3.5, chosen ? view.theme.accent : view.theme.ink, chosen ? 2.4 : 1.6);
      ctx.save();
      ctx.translate(x, y);
      ctx.scale(r, r);
      ctx.globalAlpha = gone ? 0.55 : 1;
      ctx.fillStyle = gone ? view.theme.page : mark.color;
      ctx.strokeStyle = view.theme.dark ? mark.onDark : mark.onLight;
      ctx.lineWidth = (state.hover ? 2.6 : 1.4) / r;
      ctx.lineJoin = "round";
      if (gone) ctx.setLineDash([3 / r, 2.4 / r]);
      ctx.fill(mark.shape);
      ctx.stroke(mark.shape);
      ctx.restore();
    },
    nodeDimensions: { width: r * 2.2, height: r * 2.2 },
  };
}

// A mark never shrinks below what the eye can tell apart, however far one zooms out.
const drawnSize = (node, scale) => Math.max(node.size, (2.2 + node.size * 0.18) / scale);

function circle(ctx, x, y, r, color, width) {
  ctx.save();
  ctx.beginPath();
  ctx.arc(x, y, r, 0, 2 * Math.PI);
  ctx.strokeStyle = color;
  ctx.lineWidth = width;
  ctx.stroke();
  ctx.restore();
}

function drawGlow(view, ctx, node, mark, x, y, r) {
  const began = view.glow.get(node.id);
  if (began == null) return;
  const t = Math.min(1, (performance.now() - began) / GLOW_MS);
  if (node.state === "merged") {
    for (const lag of [0, 0.35]) {
      const phase = calm ? 0.4 : (t - lag) / 0.6;
      if (phase > 0 && phase < 1) circle(ctx, x, y, r * 1.2 + 26 * phase, fade(mark.color, 0.85 * (1 - phase)), 3.2 * (1 - phase) + 0.6);
    }
    return;
  }
  const strength = calm ? 0.6 : 1 - t * t, reach = r * 1.3 + 22;
  const halo = ctx.createRadialGradient(x, y, r * 0.6, x, y, reach);
  halo.addColorStop(0, fade(mark.color, 0.75 * strength));
  halo.addColorStop(1, fade(mark.color, 0));
  ctx.save();
  ctx.fillStyle = halo;
  ctx.beginPath();
  ctx.arc(x, y, reach, 0, 2 * Math.PI);
  ctx.fill();
  ctx.restore();
}

function drawRings(view, ctx) {
  for (const { hop, radius, stretch } of view.rings ?? []) {
    ctx.save();
    ctx.strokeStyle = fade(view.theme.ink, 0.16);
    ctx.fillStyle = fade(view.theme.ink, 0.55);
    ctx.setLineDash([3, 5]);
    ctx.beginPath();
    ctx.ellipse(0, 0, Math.max(radius, 1) * stretch, Math.max(radius, 1), 0, 0, 2 * Math.PI);
    if (radius) ctx.stroke();
    ctx.font = `11px ${view.theme.font}`;
    ctx.textAlign = "center";
    if (radius) ctx.fillText(hop === 1 ? "1 hop" : `${hop} hops`, radius * stretch * 0.62, -radius * 0.8 - 6);
    ctx.restore();
  }
}

// Labels in screen pixels, the important first; each takes the first of four places that is free, or stays away.
function drawLabels(view, ctx) {
  const scale = view.net.getScale(), centre = view.net.getViewPosition(), ratio = ctx.canvas.width / (view.stage.clientWidth || 1);
  const width = view.stage.clientWidth, height = view.stage.clientHeight;
  if (!width || !height) return;
  const project = (p) => ({ x: (p.x - centre.x) * scale + width / 2, y: (p.y - centre.y) * scale + height / 2 });
  const positions = view.net.getPositions(), taken = grid(width, height), marks = grid(width, height);
  ctx.save();
  ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
  ctx.lineJoin = "round";
  const shown = [];
  for (const node of view.nodes.values()) {
    if (isHidden(view, node) || !positions[node.id]) continue;
    const at = project(positions[node.id]), r = drawnSize(node, scale) * scale;
    if (at.x < -80 || at.x > width + 80 || at.y < -20 || at.y > height + 20) continue;
    marks.fill(at.x - r, at.y - r, at.x + r, at.y + r);
    shown.push({ node, at, r, rank: rankOf(view, node) });
  }
  shown.sort((a, b) => b.rank - a.rank || (a.node.id < b.node.id ? -1 : 1));
  shown.forEach((item, i) => nodeLabel(view, ctx, taken, i < HUB_LABELS ? null : marks, item, scale));
  edgeLabels(view, ctx, taken, marks, positions, project);
  ctx.restore();
}

function rankOf(view, node) {
  const chosen = view.keep.selected?.kind === "node" && view.keep.selected.id === node.id;
  return node.degree + (chosen || view.hover === node.id ? 1e6 : 0) + (view.glow.has(node.id) ? 1e5 : 0) + (node.state === "root" ? 1e4 : 0);
}

function nodeLabel(view, ctx, taken, marks, { node, at, r, rank }, scale) {
  const urgent = rank >= 1e4;
  if (!urgent && scale < 0.22 && node.degree < 12) return;
  const size = urgent ? 13 : node.degree >= 8 ? 12.5 : 11.5;
  ctx.font = `${urgent || node.degree >= 8 ? 600 : 400} ${size}px ${view.theme.font}`;
  const words = clip(node.title, rank >= 1e6 ? 60 : 26), w = ctx.measureText(words).width, h = size + 2;
  const places = [
    [at.x - w / 2, at.y + r * 1.25 + 3], [at.x + r * 1.3 + 4, at.y - h / 2], [at.x - w / 2, at.y - r * 1.25 - h - 2], [at.x - r * 1.3 - 4 - w, at.y - h / 2],
  ];
  const place = places.find(([x, y]) => taken.free(x, y, x + w, y + h) && (!marks || marks.free(x, y, x + w, y + h))) ?? (rank >= 1e6 ? places[0] : null);
  if (!place) return;
  taken.fill(place[0] - 2, place[1], place[0] + w + 2, place[1] + h);
  write(view, ctx, words, place[0], place[1] + size - 1, node.state === "forgotten" ? 0.55 : 0.95);
}

function edgeLabels(view, ctx, taken, marks, positions, project) {
  const chosen = view.keep.selected, few = view.edges.size < EDGE_LABELS;
  ctx.font = `10.5px ${view.theme.font}`;
  for (const edge of view.edges.values()) {
    const own = chosen?.kind === "edge" && chosen.id === edge.id, touched = view.hoverEdge === edge.id
      || [edge.source, edge.target].some((id) => id === view.hover || (chosen?.kind === "node" && chosen.id === id));
    if (!few && !own && !touched) continue;
    const drawn = view.net.body.edges[edge.id];
    if (!drawn?.connected || isHidden(view, view.nodes.get(edge.source)) || isHidden(view, view.nodes.get(edge.target))) continue;
    const words = clip(edge.relationship.replaceAll("_", " "), 26), w = ctx.measureText(words).width;
    const box = (p) => [p.x - w / 2, p.y - 6, p.x + w / 2, p.y + 6], spots = [0.5, 0.38, 0.62].map((t) => project(drawn.edgeType.getPoint(t)));
    const at = spots.find((p) => taken.free(...box(p)) && marks.free(...box(p))) ?? (own || view.hoverEdge === edge.id ? spots[0] : null);
    if (!at) continue;
    taken.fill(...box(at));
    write(view, ctx, words, at.x - w / 2, at.y + 3.5, own || touched ? 0.95 : 0.62);
  }
}

function savePicture(view) {
  const source = view.net.canvas.frame.canvas, ratio = source.width / (view.stage.clientWidth || 1), strip = 34 * ratio;
  const picture = document.createElement("canvas");
  picture.width = source.width;
  picture.height = source.height + strip;
  const ctx = picture.getContext("2d");
  ctx.fillStyle = view.theme.page;
  ctx.fillRect(0, 0, picture.width, picture.height);
  ctx.drawImage(source, 0, 0);
  ctx.scale(ratio, ratio);
  ctx.font = `12px ${view.theme.font}`;
  let x = 18;
  for (const mark of view.data.marks.filter((m) => view.data.nodes.some((n) => markOf(view, n.label).label === m.label && !isHidden(view, n)))) {
    ctx.save();
    ctx.translate(x, source.height / ratio + 16);
    ctx.scale(6, 6);
    ctx.fillStyle = mark.color;
    ctx.fill(new Path2D(mark.path));
    ctx.restore();
    ctx.fillStyle = view.theme.ink;
    ctx.fillText(mark.label, x + 13, source.height / ratio + 20);
    x += 32 + ctx.measureText(mark.label).width;
  }
  picture.toBlob((blob) => {
    const link = element("a", { href: URL.createObjectURL(blob), download: view.data.filename });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 5000);
  });
}
