// What the graph view and the map share: the page's theme, text on a canvas, small elements. Text from a memory only
// ever becomes textContent or canvas text.

function readTheme(view) {
  const style = getComputedStyle(view.box);
  const pick = (name, fallback) => style.getPropertyValue(name).trim() || fallback;
  const page = pick("--st-background-color", "#ffffff"), ink = pick("--st-text-color", "#31333f");
  const before = JSON.stringify(view.theme);
  view.theme = { page, ink, accent: pick("--st-primary-color", "#e0563b"), font: pick("--st-font", "system-ui, sans-serif"), dark: lightness(page) < 0.4 };
  view.box.classList.toggle("dark", view.theme.dark);
  return before !== JSON.stringify(view.theme);
}

const parsed = new Map();
let probe = null;

// Any CSS colour as [r, g, b]; a canvas reads the names and functions that hex is not.
function rgb(color) {
  if (!parsed.has(color)) {
    probe ??= document.createElement("canvas").getContext("2d");
    probe.fillStyle = color;
    const solid = probe.fillStyle;
    parsed.set(color, solid[0] === "#" ? [1, 3, 5].map((i) => parseInt(solid.slice(i, i + 2), 16)) : solid.match(/[\d.]+/g).slice(0, 3).map(Number));
  }
  return parsed.get(color);
}

function lightness(color) {
  const [r, g, b] = rgb(color);
  return (0.2126 * r + 0.7152 * g + 0.0722 * b) / 255;
}

const fade = (color, alpha) => `rgba(${rgb(color).join(",")},${alpha})`;

function write(view, ctx, words, x, y, strength) {
  ctx.strokeStyle = fade(view.theme.page, 0.92);
  ctx.lineWidth = 3.5;
  ctx.strokeText(words, x, y);
  ctx.fillStyle = fade(view.theme.ink, strength);
  ctx.fillText(words, x, y);
}

function clip(words, most) {
  const line = words.replace(/\s+/g, " ").trim(), letters = [...line];
  return letters.length > most ? letters.slice(0, most - 1).join("").trimEnd() + "…" : line;
}

// A coarse map of what is taken, in cells of 4 pixels.
function grid(width, height) {
  const cols = Math.ceil(width / 4) + 1, rows = Math.ceil(height / 4) + 1, cells = new Uint8Array(cols * rows);
  const span = (a, b, most) => [Math.max(0, Math.floor(a / 4)), Math.min(most - 1, Math.floor(b / 4))];
  return {
    fill(left, top, right, bottom) {
      const [a, b] = span(left, right, cols), [c, d] = span(top, bottom, rows);
      for (let row = c; row <= d; row++) for (let col = a; col <= b; col++) cells[row * cols + col] = 1;
    },
    free(left, top, right, bottom) {
      if (left < 0 || top < 0 || right > width || bottom > height) return false;
      const [a, b] = span(left, right, cols), [c, d] = span(top, bottom, rows);
      for (let row = c; row <= d; row++) for (let col = a; col <= b; col++) if (cells[row * cols + col]) return false;
      return true;
    },
  };
}

function element(tag, attributes = {}) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}

function text(tag, words, name) {
  const made = element(tag, name ? { class: name } : {});
  made.textContent = words;
  return made;
}

// A canvas on the processor: thousands of small paths are drawn in 20 ms there, and in seconds by a software GPU. The
// library gives no way to ask for it, and the first getContext decides.
function withPlainCanvas(make) {
  const owner = HTMLCanvasElement.prototype, own = owner.getContext;
  owner.getContext = function (kind, options) { return own.call(this, kind, { willReadFrequently: true, ...options }); };
  try { return make(); } finally { owner.getContext = own; }
}

function symbol(view, mark) {
  const space = "http://www.w3.org/2000/svg", svg = document.createElementNS(space, "svg"), path = document.createElementNS(space, "path");
  for (const [name, value] of Object.entries({ viewBox: "-1.6 -1.6 3.2 3.2", "aria-hidden": "true" })) svg.setAttribute(name, value);
  for (const [name, value] of Object.entries({ d: mark.path, fill: mark.color, stroke: view.theme.dark ? mark.onDark : mark.onLight, "stroke-width": 0.25 })) path.setAttribute(name, value);
  svg.append(path);
  return svg;
}
