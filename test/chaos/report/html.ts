import { type ChaosRun, type FaultRow, type Rate, rates, type Span, spans } from './run';

const left = 215;
const width = 1200;
const right = 20;
const row = 18;
const chart = 120;

/** Returns a page of its own: the run as a picture, and a table of its faults. */
export function html(run: ChaosRun): string {
  const failures = run.faults.filter(({ failed }) => failed).length;
  const written = run.samples.reduce((last, sample) => sample.written ?? last, 0);
  const verdict = failures === 0 ? 'no fault failed' : `${failures} failed`;
  const title = `Chaos, seed ${run.seed}: ${run.faults.length} faults, ${verdict}`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${escaped(title)}</title>
<style>${style}</style>
</head>
<body>
<h1>${escaped(title)}</h1>
<p>${written} acknowledged writes. A lane of the picture is seen every two seconds; what is shorter may be missing. Point at a bar to read what it is.</p>
${picture(run)}
${table(run.faults)}
</body>
</html>
`;
}

const style = `
:root { color-scheme: light dark; font: 14px/1.4 system-ui, sans-serif; }
body { margin: 24px; max-width: 1240px; }
svg { width: 100%; height: auto; font: 11px system-ui, sans-serif; }
svg text { fill: currentColor; }
.axis { stroke: currentColor; opacity: 0.15; }
.writes { fill: #2f7ed8; opacity: 0.8; }
.gap { fill: #d9534f; opacity: 0.25; }
.fault { fill: #d9534f; }
.operation { fill: #5b8c5a; }
.trouble { fill: #e0a030; }
.alert { fill: #a94fc4; }
table { border-collapse: collapse; margin-top: 16px; }
th, td { border-bottom: 1px solid color-mix(in srgb, currentColor 20%, transparent); padding: 4px 12px 4px 0; text-align: left; vertical-align: top; }
.failed { color: #d9534f; font-weight: 600; }
`;

interface Lane {
  readonly title: string;
  readonly kind: 'fault' | 'operation' | 'trouble' | 'alert';
  readonly spans: readonly Span[];
}

function picture(run: ChaosRun): string {
  const times = [...run.samples.map(({ at }) => at), ...run.faults.flatMap(({ from, to }) => [from, to ?? from])];
  if (times.length === 0) return '<p>Nothing was recorded.</p>';
  const [first, last] = [Math.min(...times), Math.max(...times)];
  const scale = (at: number): number => left + ((at - first) / Math.max(1, last - first)) * (width - left - right);
  const lanes = lanesOf(run, last);
  const rows = lanes.map((lane) => placed(lane.spans));
  let y = chart + 30;
  const drawn = lanes.map((lane, index) => {
    const top = y;
    const lines = rows[index]!;
    y += Math.max(1, lines.length) * row + 14;
    return `<text x="0" y="${top + 12}">${lane.title}</text>${lines.map((line, at) => line.map((span) => bar(span, lane.kind, top + at * row, scale)).join('')).join('')}`;
  });
  const height = y + 24;
  return `<svg viewBox="0 0 ${width} ${height}" role="img" aria-label="Time line of the run">
${axis(first, last, height, scale)}
<text x="0" y="20">Writes a second</text>
${writes(rates(run.samples), scale)}
${drawn.join('\n')}
</svg>`;
}

function lanesOf(run: ChaosRun, last: number): Lane[] {
  const faults = run.faults.map(({ number, what, from, to = last }) => ({ from, to, what: `${number}: ${what}` }));
  return [
    { title: 'Faults, until all is well', kind: 'fault', spans: faults },
    {
      title: 'Operations',
      kind: 'operation',
      spans: spans(run.samples, ({ operation }) => (operation === undefined ? [] : [operation])),
    },
    { title: 'Conditions that show a fault', kind: 'trouble', spans: spans(run.samples, ({ troubles }) => troubles) },
    ...(run.samples.some(({ alerts }) => alerts)
      ? [{ title: 'Alerts', kind: 'alert' as const, spans: spans(run.samples, ({ alerts }) => alerts) }]
      : []),
  ];
}

/** Puts spans that overlap into lines of their own. */
function placed(all: readonly Span[]): Span[][] {
  const lines: Span[][] = [];
  for (const span of all) {
    const free = lines.find((line) => line.at(-1)!.to <= span.from);
    if (free) free.push(span);
    else lines.push([span]);
  }
  return lines;
}

function bar({ from, to, what }: Span, kind: string, y: number, scale: (at: number) => number): string {
  const x = scale(from);
  const length = Math.max(2, scale(to) - x);
  const said = `${what}, ${seconds(to - from)}`;
  return `<rect class="${kind}" x="${x.toFixed(1)}" y="${y}" width="${length.toFixed(1)}" height="${row - 4}" rx="2"><title>${escaped(said)}</title></rect>`;
}

function axis(first: number, last: number, height: number, scale: (at: number) => number): string {
  const minutes = (last - first) / 60_000;
  const every = [0.5, 1, 2, 5, 10, 30].find((step) => minutes / step <= 14) ?? 60;
  const marks = [...Array(Math.floor(minutes / every) + 1).keys()].map((n) => n * every);
  return marks
    .map((minute) => {
      const x = scale(first + minute * 60_000).toFixed(1);
      return `<line class="axis" x1="${x}" x2="${x}" y1="0" y2="${height - 18}"/><text x="${x}" y="${height - 4}" text-anchor="middle">${minute} min</text>`;
    })
    .join('');
}

/** A time without any acknowledged write is marked over its whole height. */
function writes(all: readonly Rate[], scale: (at: number) => number): string {
  const most = Math.max(1, ...all.map(({ perSecond }) => perSecond));
  const bars = all.map(({ from, to, perSecond }) => {
    const x = scale(from);
    const size = perSecond === 0 ? chart : (perSecond / most) * chart;
    const said = perSecond === 0 ? 'no acknowledged write' : `${perSecond.toFixed(0)} writes a second`;
    return `<rect class="${perSecond === 0 ? 'gap' : 'writes'}" x="${x.toFixed(1)}" y="${(chart + 10 - size).toFixed(1)}" width="${(scale(to) - x).toFixed(1)}" height="${size.toFixed(1)}"><title>${said}</title></rect>`;
  });
  return `<text x="${left - 6}" y="20" text-anchor="end">${most.toFixed(0)}</text>${bars.join('')}`;
}

function table(faults: readonly FaultRow[]): string {
  const rows = faults.map(({ number, what, from, to, failed, longestGap = 0, elections = 0 }) => {
    const facts = failed
      ? '<td class="failed">never</td><td></td><td></td>'
      : `<td>${to === undefined ? '' : seconds(to - from)}</td><td>${seconds(longestGap)}</td><td>${elections}</td>`;
    return `<tr><td>${number}</td><td>${escaped(what)}</td>${facts}</tr>`;
  });
  return `<table><thead><tr><th></th><th>Fault</th><th>Whole again after</th><th>Longest time without a write</th><th>Elections</th></tr></thead><tbody>
${rows.join('\n')}
</tbody></table>`;
}

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;

const escaped = (text: string): string =>
  text.replace(/[&<>"]/g, (character) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[character]!);
