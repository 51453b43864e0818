// Lays out a picture of the docs from top to bottom, 360 units wide, so that its text is legible on a phone. The colors follow the
// color scheme of the page.

const width = 360;
const line = 18;
const pad = 12;

/** Who acts, with the color of its name: in a light and in a dark page. */
const actors = {
  you: ['#374151', '#d1d5db'],
  library: ['#374151', '#d1d5db'],
  reconciler: ['#1d4ed8', '#93c5fd'],
  gate: ['#15803d', '#86efac'],
  agent: ['#15803d', '#86efac'],
  etcd: ['#7e22ce', '#d8b4fe'],
  Job: ['#b45309', '#fcd34d'],
  store: ['#0f766e', '#5eead4'],
  Kubernetes: ['#be123c', '#fda4af'],
  client: ['#374151', '#d1d5db'],
};

const colors = {
  text: ['#1f2937', '#e5e7eb'],
  card: ['#ffffff', '#1f2430'],
  frame: ['#eef2f7', '#161a22'],
  edge: ['#9ca3af', '#6b7280'],
  ...actors,
};

/**
 * Items are cards `{ who, text }`, labelled arrows `{ arrow }`, frames `{ frame, items }`, and forks
 * `{ fork: [items, items] }`. Consecutive cards outside of a frame are joined by arrows.
 */
export function picture(title, items) {
  const { svg, height } = column(items, { x: 4, y: 4, w: width - 8, joined: true });
  const rules = (scheme) =>
    Object.entries(colors)
      .map(([name, pair]) => `--${name}:${pair[scheme]}`)
      .join(';');
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height + 8}" width="${width}" height="${height + 8}" font-family="system-ui,sans-serif" font-size="14">`,
    `<title>${escaped(title)}</title>`,
    `<style>svg{${rules(0)}}@media (prefers-color-scheme:dark){svg{${rules(1)}}}</style>`,
    ...svg,
    '</svg>',
    '',
  ].join('\n');
}

/** Returns the elements of the items below each other, and the height that they take. */
function column(items, { x, y, w, joined }) {
  const svg = [];
  let at = y;
  for (const [index, item] of items.entries()) {
    const before = items[index - 1];
    if (before && 'arrow' in item) {
      svg.push(...arrow(x + 2 * pad, at, 30, item.arrow));
      at += 30;
      continue;
    }
    if (before && !('arrow' in before)) {
      const bare = !joined || 'fork' in item || 'fork' in before;
      if (!bare) svg.push(...arrow(x + w / 2, at, 20));
      at += bare ? 10 : 20;
    }
    const part = partOf(item, { x, y: at, w });
    svg.push(...part.svg);
    at += part.height;
  }
  return { svg, height: at - y };
}

function partOf(item, box) {
  if (item.fork) return fork(item.fork, box);
  if (item.frame) return frame(item, box);
  return card(item, box);
}

function fork(branches, { x, y, w }) {
  const gap = 8;
  const each = (w - gap) / 2;
  const columns = branches.map((items, index) =>
    column(items, { x: x + index * (each + gap), y: y + 14, w: each, joined: true }),
  );
  const arrows = branches.flatMap((_, index) => arrow(x + index * (each + gap) + each / 2, y - 8, 22));
  return {
    svg: [...arrows, ...columns.flatMap(({ svg }) => svg)],
    height: 14 + Math.max(...columns.map((c) => c.height)),
  };
}

function frame({ frame: title, items }, { x, y, w }) {
  const inner = column(items, { x: x + pad, y: y + line + pad, w: w - 2 * pad, joined: false });
  const height = line + inner.height + 2 * pad;
  return {
    svg: [rectangle(x, y, w, height, 'frame'), words(x + pad, y + line, title, 'text', 600), ...inner.svg],
    height,
  };
}

function card({ who, text }, { x, y, w }) {
  // Wide enough for the widest of the usual fonts.
  const lines = wrapped(text, Math.floor((w - 2 * pad) / 7.4));
  const height = (lines.length + 1) * line + pad;
  return {
    svg: [
      rectangle(x, y, w, height, 'card'),
      words(x + pad, y + line, who, who, 700),
      ...lines.map((each, index) => words(x + pad, y + (index + 2) * line, each, 'text')),
    ],
    height,
  };
}

function arrow(x, y, length, label) {
  const end = y + length - 3;
  const path = `<path d="M${x} ${y + 2}V${end}M${x - 4} ${end - 5}L${x} ${end}L${x + 4} ${end - 5}" fill="none" style="stroke:var(--edge)" stroke-width="1.5"/>`;
  return label ? [path, words(x + 10, y + length / 2 + 4, label, 'text', 400, 12)] : [path];
}

const rectangle = (x, y, w, h, fill) =>
  `<rect x="${x}" y="${y}" width="${w}" height="${h}" rx="6" style="fill:var(--${fill});stroke:var(--edge)"/>`;

const words = (x, y, text, fill, weight = 400, size = undefined) =>
  `<text x="${x}" y="${y}" style="fill:var(--${fill})" font-weight="${weight}"${size ? ` font-size="${size}"` : ''}>${escaped(text)}</text>`;

const escaped = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

function wrapped(text, length) {
  const lines = [''];
  for (const word of text.split(' ')) {
    const longer = `${lines.at(-1)} ${word}`.trim();
    if (longer.length <= length || lines.at(-1) === '') lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}
