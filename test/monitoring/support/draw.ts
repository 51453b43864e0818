// A small picture of a dashboard: panels with lines or one number, as plain SVG.
import type { Panel, Row } from './panels';

export interface Line {
  readonly name: string;
  /** Seconds since the begin of the picture. */
  readonly points: readonly (readonly [at: number, value: number])[];
}

export interface Drawn {
  readonly panel: Panel;
  readonly lines: readonly Line[];
}

/** Something that happened, to mark with a vertical line. */
export interface Mark {
  readonly at: number;
  readonly what: string;
}

/** Points that are further apart, in seconds, are not joined. */
const apart = 16;
const width = 1200;
const unit = width / 24;
const heights = { stat: 84, timeseries: 190 };
const gap = 8;
const colors = ['#1f6fb4', '#d9730d', '#2b8a3e', '#b02a6b', '#6741d9', '#868e96', '#0b7285', '#8d6e00'];

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

const text = (x: number, y: number, size: number, value: string, more = ''): string =>
  `<text x="${round(x)}" y="${round(y)}" font-size="${size}" ${more}>${escaped(value)}</text>`;

const round = (value: number): number => Math.round(value * 10) / 10;

/** A value with its unit, as short as Grafana writes it. */
export function valueText(value: number, of: string | undefined): string {
  if (of === 's') return secondsText(value);
  if (of === 'percentunit') return `${short(value * 100)} %`;
  if (of === 'bytes' || of === 'Bps') return `${bytesText(value)}${of === 'Bps' ? '/s' : ''}`;
  return short(value);
}

function secondsText(value: number): string {
  const size = Math.abs(value);
  if (size >= 2 * 86_400) return `${short(value / 86_400)} d`;
  if (size >= 2 * 3_600) return `${short(value / 3_600)} h`;
  if (size >= 120) return `${short(value / 60)} min`;
  return size >= 1 || size === 0 ? `${short(value)} s` : `${short(value * 1_000)} ms`;
}

function bytesText(value: number): string {
  const names = ['B', 'KiB', 'MiB', 'GiB'];
  const power = Math.min(names.length - 1, Math.max(0, Math.floor(Math.log2(Math.abs(value) || 1) / 10)));
  return `${short(value / 1024 ** power)} ${names[power]}`;
}

const short = (value: number): string => String(Number(value.toPrecision(3)));

/** The rows one below the other, on a light background. */
export function dashboardSvg(
  rows: readonly (Omit<Row, 'panels'> & { readonly panels: readonly Drawn[] })[],
  seconds: number,
  marks: readonly Mark[],
): string {
  const told = marks.map(({ at, what }) => `${valueText(at, 's')}: ${what}`).join('; ');
  const parts = [text(gap, 20, 12, `Dashed lines: ${told}`, 'fill="#444"')];
  let y = 30;
  for (const { title, panels } of rows) {
    parts.push(text(gap, y + 16, 15, title, 'font-weight="600" fill="#1c1c1c"'));
    y += 26;
    let x = 0;
    let tallest = 0;
    for (const drawn of panels) {
      const wide = drawn.panel.width * unit;
      if (x + wide > width) {
        x = 0;
        y += tallest + gap;
        tallest = 0;
      }
      const height = heights[drawn.panel.kind];
      parts.push(
        `<g transform="translate(${round(x + gap / 2)} ${round(y)})">`,
        ...panel(drawn, wide - gap, height, seconds, marks),
        '</g>',
      );
      x += wide;
      tallest = Math.max(tallest, height);
    }
    y += tallest + 2 * gap;
  }
  const head = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${round(y)}" font-family="sans-serif"><title>The dashboard of an etcd cluster</title>`;
  return `${[head, `<rect width="${width}" height="${round(y)}" fill="#f4f5f7"/>`, ...parts, '</svg>'].join('\n')}\n`;
}

function panel(
  { panel, lines }: Drawn,
  wide: number,
  height: number,
  seconds: number,
  marks: readonly Mark[],
): string[] {
  const frame = `<rect width="${round(wide)}" height="${height}" rx="3" fill="#fff" stroke="#d5d8dd"/>`;
  const title = text(8, 17, 12, panel.title, 'fill="#333"');
  return [
    frame,
    title,
    ...(panel.kind === 'stat' ? stat(panel, lines, wide, height) : chart(panel, lines, wide, height, seconds, marks)),
  ];
}

/** The last value, or the name of the series that has one last. */
function stat(
  { unit: of, text: words, showsName }: Panel,
  lines: readonly Line[],
  wide: number,
  height: number,
): string[] {
  const last = (line: Line) => line.points.at(-1)!;
  const [line] = [...lines].filter(({ points }) => points.length > 0).sort((a, b) => last(b)[0] - last(a)[0]);
  const shown = line && (showsName ? line.name : (words[last(line)[1]] ?? valueText(last(line)[1], of)));
  return [
    text(wide / 2, height / 2 + 22, showsName ? 20 : 26, shown ?? 'no data', 'text-anchor="middle" fill="#2b8a3e"'),
  ];
}

function chart(
  { unit: of }: Panel,
  lines: readonly Line[],
  wide: number,
  height: number,
  seconds: number,
  marks: readonly Mark[],
): string[] {
  const box = { left: 62, right: wide - 10, top: 28, bottom: height - 44 };
  const values = lines.flatMap(({ points }) => points.map(([, value]) => value)).filter(Number.isFinite);
  const low = Math.min(0, ...values);
  const high = Math.max(...values, low) === low ? low + 1 : Math.max(...values);
  const toX = (at: number) => Math.round(box.left + (at / seconds) * (box.right - box.left));
  const toY = (value: number) => round(box.bottom - ((value - low) / (high - low)) * (box.bottom - box.top));
  const grid = [0, 0.5, 1].flatMap((share) => {
    const value = low + share * (high - low);
    const line = `<line x1="${box.left}" x2="${round(box.right)}" y1="${toY(value)}" y2="${toY(value)}" stroke="#e6e8eb"/>`;
    return [line, text(box.left - 5, toY(value) + 4, 10, valueText(value, of), 'text-anchor="end" fill="#666"')];
  });
  const events = marks.map(
    ({ at }) =>
      `<line x1="${toX(at)}" x2="${toX(at)}" y1="${box.top}" y2="${box.bottom}" stroke="#999" stroke-dasharray="3 3"/>`,
  );
  const drawn = lines.map(
    ({ points }, index) =>
      `<path d="${path(points, toX, toY)}" fill="none" stroke="${colors[index % colors.length]}" stroke-width="1.5" stroke-linecap="round"/>`,
  );
  const times = [0, seconds].map((at, index) =>
    text(
      toX(at),
      box.bottom + 13,
      10,
      `${Math.round(at / 60)} min`,
      `fill="#666" text-anchor="${index ? 'end' : 'start'}"`,
    ),
  );
  return [...grid, ...events, ...drawn, ...times, ...legend(lines, wide, height)];
}

/** A line breaks off where there is no value for a while. Points between two of the same height are left out. */
function path(points: Line['points'], toX: (at: number) => number, toY: (value: number) => number): string {
  const there = points.filter(([, value]) => Number.isFinite(value));
  const joins = (index: number) => {
    const [before, here] = [there[index - 1], there[index]];
    return before !== undefined && here !== undefined && here[0] - before[0] < apart;
  };
  const isFlat = (index: number) => {
    const heights = [index - 1, index, index + 1].map((at) => toY(there[at]![1]));
    return new Set(heights).size === 1;
  };
  return there
    .map(([at, value], index) => {
      if (!joins(index)) return `M${toX(at)} ${toY(value)}h1`;
      return joins(index + 1) && isFlat(index) ? '' : `L${toX(at)} ${toY(value)}`;
    })
    .join('');
}

function legend(lines: readonly Line[], wide: number, height: number): string[] {
  const parts: string[] = [];
  let x = 8;
  for (const [index, { name }] of lines.entries()) {
    const needs = 18 + name.length * 5.6;
    if (x + needs > wide - 24) {
      parts.push(text(x, height - 10, 10, '…', 'fill="#666"'));
      break;
    }
    const color = colors[index % colors.length];
    parts.push(`<rect x="${round(x)}" y="${height - 18}" width="9" height="3" fill="${color}"/>`);
    parts.push(text(x + 13, height - 12, 10, name, 'fill="#444"'));
    x += needs;
  }
  return parts;
}
