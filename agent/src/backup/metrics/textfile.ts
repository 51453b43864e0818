import { rename, rm, writeFile } from 'node:fs/promises';
import { readRegular } from '../../lib/files/regular-file.ts';
import { labelsOf, problemOf, render } from '../../lib/metrics/render.ts';
import type { Sample } from '../../lib/metrics/sample.ts';
import type { MetricName } from '../../lib/metrics/table.ts';

/** Labels of a run: what it reported about itself is replaced by the next run with the same ones. */
interface RunLabels {
  readonly command: string;
  readonly namespace?: string | undefined;
  readonly etcd_cluster: string;
}

/**
 * Writes the samples to a Prometheus textfile, atomically. Series that the file had before and that this run did not measure
 * are kept, so that a run that fails early, or another command, does not hide an old backup from an alert. Only the series
 * of the previous run of the same command are removed.
 */
export async function writeMetrics(file: string, samples: readonly Sample[], run: RunLabels): Promise<void> {
  const before = (await readSamples(file)).filter(({ labels }) => !isOf(run, labels));
  // The later one counts.
  const all = new Map([...before, ...samples].map((each) => [seriesOf(each), each]));
  const sorted = [...all].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, each]) => each);
  const temporary = `${file}.${process.pid}.tmp`;
  try {
    // Readable for the collector. It holds no secrets.
    await writeFile(temporary, await render(sorted), { mode: 0o644 });
    await rename(temporary, file);
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => {});
    throw error;
  }
}

const isOf = ({ command, namespace, etcd_cluster }: RunLabels, labels: Sample['labels']): boolean =>
  labels.command === command && labels.namespace === namespace && labels.etcd_cluster === etcd_cluster;

const seriesOf = (each: Sample): string => `${each.name} ${JSON.stringify(labelsOf(each))}`;

const LINE = /^(\w+)\{(.*)\} (\S+)$/gm;
const PAIR = /(\w+)="((?:[^"\\]|\\.)*)"/g;

/** Reads the file of an earlier run. What that run named differently, or somebody else wrote, is left out. */
async function readSamples(file: string): Promise<Sample[]> {
  const content = (await readRegular(file).catch(() => '')).toString();
  return [...content.matchAll(LINE)]
    .map(([, name, pairs = '', value]) => ({
      name: name as MetricName,
      labels: Object.fromEntries([...pairs.matchAll(PAIR)].map(([, label, text = '']) => [label, unescaped(text)])),
      value: Number(value),
    }))
    .filter((each) => problemOf(each) === undefined && !Number.isNaN(each.value));
}

const unescaped = (text: string): string => text.replaceAll(/\\(.)/g, (_, char) => (char === 'n' ? '\n' : char));
