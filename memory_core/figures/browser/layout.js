// Where nodes go: a whole drawing once, then new nodes beside their neighbours. Deterministic; nothing here draws.

const SPACING = 58; // world units between neighbours
const GOLDEN = Math.PI * (3 - Math.sqrt(5));

// ForceAtlas2 (Jacomy et al. 2014) without approximation: a picture is capped far below where n^2 hurts. Gravity grows
// with distance, so that loose nodes stay near, and pulls harder across the short side, so that the frame is filled.
function settle(nodes, links, aspect, rounds) {
  const n = nodes.length, own = new Float64Array(n).fill(1);
  for (const [a, b] of links) { own[a]++; own[b]++; }
  const order = [...nodes.keys()].sort((a, b) => own[b] - own[a] || a - b);
  const x = new Float64Array(n), y = new Float64Array(n), mass = own.map(Math.sqrt);
  order.forEach((i, rank) => {
    x[i] = 10 * Math.sqrt(rank) * Math.cos(rank * GOLDEN);
    y[i] = 10 * Math.sqrt(rank) * Math.sin(rank * GOLDEN);
  });
  const fx = new Float64Array(n), fy = new Float64Array(n), px = new Float64Array(n), py = new Float64Array(n);
  const wide = Math.sqrt(Math.max(0.5, Math.min(aspect, 2.2))), gravity = 0.35;
  let speed = 1;
  for (let round = 0; round < rounds; round++) {
    fx.fill(0); fy.fill(0);
    repel(x, y, mass, fx, fy);
    for (const [a, b] of links) {
      const dx = x[b] - x[a], dy = y[b] - y[a], d = Math.hypot(dx, dy) + 1e-9;
      const pull = 0.5 * Math.sqrt(d) / d * 8 / Math.sqrt(Math.min(own[a], own[b]));
      fx[a] += dx * pull; fy[a] += dy * pull; fx[b] -= dx * pull; fy[b] -= dy * pull;
    }
    let swing = 0, traction = 0;
    for (let i = 0; i < n; i++) {
      fx[i] -= x[i] * gravity * mass[i] / wide; fy[i] -= y[i] * gravity * mass[i] * wide;
      swing += mass[i] * Math.hypot(fx[i] - px[i], fy[i] - py[i]);
      traction += mass[i] * Math.hypot(fx[i] + px[i], fy[i] + py[i]) / 2;
    }
    speed = Math.min(traction / (swing + 1e-9), speed * 1.5);
    for (let i = 0; i < n; i++) {
      const jump = Math.hypot(fx[i] - px[i], fy[i] - py[i]);
      const step = Math.min(speed / (1 + Math.sqrt(speed * jump)), 30 / (Math.hypot(fx[i], fy[i]) + 1e-9));
      x[i] += fx[i] * step; y[i] += fy[i] * step;
      px[i] = fx[i]; py[i] = fy[i];
    }
  }
  rescale(x, y);
  separate(nodes, x, y, 40);
  return nodes.map((_, i) => ({ x: x[i], y: y[i] }));
}

function repel(x, y, mass, fx, fy) {
  const n = x.length;
  for (let i = 0; i < n; i++) {
    for (let j = i + 1; j < n; j++) {
      const dx = x[i] - x[j], dy = y[i] - y[j];
      const f = 60 * mass[i] * mass[j] / (dx * dx + dy * dy + 0.01);
      fx[i] += dx * f; fy[i] += dy * f; fx[j] -= dx * f; fy[j] -= dy * f;
    }
  }
}

// The typical distance to the nearest other node becomes SPACING.
function rescale(x, y) {
  const n = x.length, nearest = new Float64Array(n).fill(Infinity);
  for (let i = 0; i < n; i++) for (let j = i + 1; j < n; j++) {
    const d = Math.hypot(x[i] - x[j], y[i] - y[j]);
    nearest[i] = Math.min(nearest[i], d); nearest[j] = Math.min(nearest[j], d);
  }
  const typical = nearest.sort()[n >> 1];
  if (!(typical > 0 && typical < Infinity)) return;
  const grow = (SPACING * (1 + 2 / n)) / typical; // a handful of nodes leaves room for the words on its edges
  for (let i = 0; i < n; i++) { x[i] *= grow; y[i] *= grow; }
}

function separate(nodes, x, y, rounds) {
  for (let round = 0, moved = true; round < rounds && moved; round++) {
    moved = false;
    for (let i = 0; i < x.length; i++) {
      for (let j = i + 1; j < x.length; j++) {
        const want = nodes[i].size + nodes[j].size + 18;
        let dx = x[i] - x[j], dy = y[i] - y[j];
        if (Math.abs(dx) > want || Math.abs(dy) > want) continue;
        let d = Math.hypot(dx, dy);
        if (d >= want) continue;
        if (d < 1e-6) { dx = Math.cos(i * GOLDEN); dy = Math.sin(i * GOLDEN); d = 1; }
        const push = (want - d) / d / 2;
        x[i] += dx * push; y[i] += dy * push; x[j] -= dx * push; y[j] -= dy * push;
        moved = true;
      }
    }
  }
}

// A new node goes to the freest of 24 places around its neighbour, pointing away from what the neighbour already has.
function beside(anchor, placed, size) {
  let best = null;
  for (let ring = 1; ring <= 3; ring++) {
    for (let k = 0; k < 24; k++) {
      const a = k * Math.PI / 12 + ring * 0.13, r = SPACING * (0.45 + 0.4 * ring);
      const at = { x: anchor.x + r * Math.cos(a), y: anchor.y + r * Math.sin(a) };
      let nearest = Infinity;
      for (const p of placed) nearest = Math.min(nearest, Math.hypot(p.x - at.x, p.y - at.y) - p.size);
      const room = Math.min(nearest, SPACING * 0.9) - ring * 9;
      if (!best || room > best.room + 1e-9) best = { ...at, room };
    }
    if (best.room > size + 26) break;
  }
  return { x: best.x, y: best.y };
}

function outside(placed) {
  if (!placed.length) return { x: 0, y: 0 };
  const cx = placed.reduce((s, p) => s + p.x, 0) / placed.length, cy = placed.reduce((s, p) => s + p.y, 0) / placed.length;
  for (let k = 1; k < 4000; k++) {
    const r = SPACING * 0.5 * Math.sqrt(k), at = { x: cx + 1.5 * r * Math.cos(k * GOLDEN), y: cy + r * Math.sin(k * GOLDEN) };
    if (placed.every((p) => Math.hypot(p.x - at.x, p.y - at.y) > SPACING * 0.9 + p.size)) return at;
  }
  return { x: cx, y: cy };
}

// Places for the ids that have none; `known` (id -> {x, y}) is not touched.
function placeNew(nodes, edges, known) {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const touching = new Map();
  for (const e of edges) for (const [a, b] of [[e.source, e.target], [e.target, e.source]]) {
    if (!touching.has(a)) touching.set(a, []);
    touching.get(a).push(b);
  }
  const at = new Map(known), placed = [...known].map(([id, p]) => ({ ...p, size: byId.get(id)?.size ?? 8 })), from = new Map();
  let waiting = nodes.filter((node) => !at.has(node.id));
  while (waiting.length) {
    const next = waiting.find((node) => anchorOf(node, at, touching)) ?? waiting[0];
    const anchor = anchorOf(next, at, touching);
    const spot = anchor ? beside(at.get(anchor), placed, next.size) : outside(placed);
    from.set(next.id, anchor ? { ...at.get(anchor) } : spot);
    at.set(next.id, spot);
    placed.push({ ...spot, size: next.size });
    waiting = waiting.filter((node) => node !== next);
  }
  return { at, from };
}

function anchorOf(node, at, touching) {
  if (node.near != null && at.has(node.near)) return node.near;
  return touching.get(node.id)?.find((id) => id !== node.id && at.has(id));
}

// Rings by hop: roots in the middle, each further node at the angle of the node it was reached from.
function rings(nodes, edges, aspect) {
  const byHop = new Map(), angle = new Map(), at = new Map(), radii = [];
  for (const node of nodes) {
    const hop = node.hop ?? 0;
    if (!byHop.has(hop)) byHop.set(hop, []);
    byHop.get(hop).push(node);
  }
  const parent = (node) => {
    if (node.near != null && angle.has(node.near)) return node.near;
    for (const e of edges) {
      const other = e.source === node.id ? e.target : e.target === node.id ? e.source : null;
      if (other != null && angle.has(other)) return other;
    }
    return null;
  };
  let radius = 0;
  for (const hop of [...byHop.keys()].sort((a, b) => a - b)) {
    const members = byHop.get(hop);
    const wish = new Map(members.map((m, i) => [m, angle.get(parent(m)) ?? (2 * Math.PI * i) / members.length - Math.PI / 2]));
    members.sort((a, b) => wish.get(a) - wish.get(b) || (a.id < b.id ? -1 : 1));
    radius = members.length === 1 && radius === 0 ? 0 : Math.max(radius + SPACING * 1.7, (members.length * SPACING * 0.8) / (2 * Math.PI));
    const turn = members.reduce((s, m, i) => s + wish.get(m) - (2 * Math.PI * i) / members.length, 0) / members.length;
    members.forEach((m, i) => {
      const even = turn + (2 * Math.PI * i) / members.length;
      const a = members.length > 6 ? even : (wish.get(m) + even) / 2;
      angle.set(m.id, a);
      at.set(m.id, { x: radius * Math.cos(a) * Math.min(aspect, 1.5), y: radius * Math.sin(a) });
    });
    radii.push({ hop, radius, stretch: Math.min(aspect, 1.5) });
  }
  return { at, radii };
}
