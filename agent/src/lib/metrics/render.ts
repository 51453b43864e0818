import type { ServerResponse } from 'node:http';
import Counter from 'prom-client/lib/counter.js';
import Gauge from 'prom-client/lib/gauge.js';
import Registry from 'prom-client/lib/registry.js';
import { send } from '../http/http-listener.ts';
import type { Sample } from './sample.ts';
import { type MetricName, metrics } from './table.ts';

/**
 * Writes samples in the text format of Prometheus. The registry begins empty each time, so that nothing stays of what is gone.
 * Throws for a sample that the table does not describe.
 */
export async function render(samples: readonly Sample[]): Promise<string> {
  const problem = samples.map(problemOf).find((each) => each !== undefined);
  if (problem !== undefined) throw new Error(problem);
  const registry = new Registry();
  const byName = Map.groupBy(samples, ({ name }) => name);
  for (const [name, { type, help, labels: labelNames }] of Object.entries(metrics)) {
    const own = byName.get(name as MetricName);
    if (!own) continue;
    const options = { name, help, labelNames, registers: [registry] };
    if (type === 'gauge') {
      const gauge = new Gauge(options);
      for (const each of own) gauge.set(labelsOf(each), each.value);
    } else {
      const counter = new Counter(options);
      for (const each of own) counter.inc(labelsOf(each), each.value);
    }
  }
  return registry.metrics();
}

/** Says what the table of metrics does not describe of a sample. */
export function problemOf({ name, labels }: Sample): string | undefined {
  if (!Object.hasOwn(metrics, name)) return `${name} is not in the table of metrics`;
  const wanted: readonly string[] = metrics[name].labels;
  const given = Object.keys(labels).filter((label) => labels[label] !== undefined);
  const wrong =
    given.find((label) => !wanted.includes(label)) ??
    wanted.find((label) => label !== 'namespace' && !given.includes(label));
  return wrong === undefined ? undefined : `${name}: the label ${wrong} is not as in the table of metrics`;
}

/** Returns the labels of a sample in the order of the table. */
export const labelsOf = ({ name, labels }: Sample): Record<string, string> =>
  Object.fromEntries(
    metrics[name].labels.flatMap((label) => (labels[label] === undefined ? [] : [[label, labels[label]]])),
  );

/** Answers a scrape. */
export async function sendMetrics(response: ServerResponse, samples: readonly Sample[]): Promise<void> {
  send(response, 200, await render(samples), Registry.PROMETHEUS_CONTENT_TYPE);
}
