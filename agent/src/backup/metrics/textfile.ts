import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { families, type Sample } from './samples.ts';

const LINE = /^(etcd_backup_\w+)\{(.*)\} (\S+)$/;

/**
 * Writes the samples to a Prometheus textfile, atomically. Series that the file had before and that this run did not measure
 * are kept, so that a run that fails early, or another command, does not hide an old backup from an alert. Only the series
 * of the previous run of the same command are removed.
 */
export async function writeMetrics(file: string, samples: readonly Sample[], run: Sample['labels']): Promise<void> {
  const lines = new Map(
    samples.map(({ name, labels, value }) => [series(name, labels), { name: name as string, value: String(value) }]),
  );
  for (const [key, known] of await readSeries(file)) {
    if (!lines.has(key) && !key.includes(`{${pairs(run)}`)) lines.set(key, known);
  }
  const temporary = `${file}.${process.pid}.tmp`;
  try {
    // Readable for the collector. It holds no secrets.
    await writeFile(temporary, render(lines), { mode: 0o644 });
    await rename(temporary, file);
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => {});
    throw error;
  }
}

type Lines = ReadonlyMap<string, { readonly name: string; readonly value: string }>;

function render(lines: Lines): string {
  return Object.entries(families)
    .flatMap(([name, help]) => {
      const own = [...lines].filter(([, line]) => line.name === name).map(([key, { value }]) => `${key} ${value}`);
      return own.length > 0 ? [`# HELP ${name} ${help}`, `# TYPE ${name} gauge`, ...own.sort()] : [];
    })
    .map((line) => `${line}\n`)
    .join('');
}

async function readSeries(file: string): Promise<Lines> {
  const content = await readFile(file, 'utf8').catch(() => '');
  return new Map(
    content.split('\n').flatMap((line) => {
      const [, name, labels, value] = LINE.exec(line) ?? [];
      return name && value ? [[`${name}{${labels}}`, { name, value }] as const] : [];
    }),
  );
}

function series(name: string, labels: Sample['labels']): string {
  return `${name}{${pairs(labels)}}`;
}

function pairs(labels: Sample['labels']): string {
  return Object.entries(labels)
    .map(([label, value]) => `${label}="${escaped(value)}"`)
    .join(',');
}

export const escaped = (value: string) => value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
