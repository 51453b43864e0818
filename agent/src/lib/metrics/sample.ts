import type { LabelsOf, MetricName } from './table.ts';

/** A value of a metric. Only `sample` and `samples` make one, with the labels of the table. */
export interface Sample {
  readonly name: MetricName;
  readonly labels: Readonly<Record<string, string | undefined>>;
  readonly value: number;
}

export const sample = <N extends MetricName>(name: N, labels: LabelsOf<N>, value: number): Sample => ({
  name,
  labels,
  value,
});

/** As `sample`, but none if the value is not known. */
export const samples = <N extends MetricName>(name: N, labels: LabelsOf<N>, value: number | undefined): Sample[] =>
  value === undefined || Number.isNaN(value) ? [] : [sample(name, labels, value)];

/** A time as metrics have it: in seconds since 1970. NaN for a text that is not a time. */
export const seconds = (time: string): number => Date.parse(time) / 1000;

/** What every process says of itself. */
export function processSamples(): Sample[] {
  const { user, system } = process.cpuUsage();
  return [
    sample('process_resident_memory_bytes', {}, process.memoryUsage.rss()),
    sample('process_cpu_seconds_total', {}, (user + system) / 1e6),
  ];
}
