import { App, Chart } from 'cdk8s';
import fc from 'fast-check';
import { EtcdCluster } from '../../src';
import { render } from '../../src/render/run';
import type { DrawnCluster } from './props';

// What cannot differ here: one cluster an app, in a chart with a namespace and without labels, with a reconciler that something else
// adds.

const runs = process.env.SMOKE ? 100 : 1_000;
const seed = Number(process.env.SAME_BYTES_SEED ?? 1);

/** The objects of a construct. Undefined: it refuses the properties. */
export const constructed = ({ props, schedules, monitoring }: DrawnCluster, namespace: string): string | undefined =>
  valid(namespace, (chart) => {
    const cluster = new EtcdCluster(chart, 'cluster', props);
    for (const { id, options } of schedules) cluster.addBackupSchedule(id, options);
    if (monitoring) cluster.addMonitoring(monitoring);
  })?.yaml;

/** What the construct of an app writes. Undefined: it refuses its properties. */
export function valid<Made>(
  namespace: string,
  make: (chart: Chart) => Made,
): { readonly yaml: string; readonly made: Made } | undefined {
  const app = new App();
  const chart = new Chart(app, 'chart', { namespace });
  const made = make(chart);
  const problems = chart.node.findAll().flatMap(({ node }) => node.validate());
  if (problems.length > 0) return undefined;
  const yaml = app.synthYaml();
  return otherwiseRead.test(yaml) ? undefined : { yaml, made };
}

// What is left out: cdk8s prints these texts without quotes, and kubectl reads them as numbers.
const otherwiseRead = /(: |- )[-+]?0[XoOB][0-9a-fA-F_]+$/m;

export const documents = (yaml: string): string[] => yaml.split(/^---$/m).map((text) => text.trim());
export const resourceIn = (yaml: string): string => documents(yaml).find((text) => /^kind: EtcdCluster$/m.test(text))!;
export const rendered = (resource: string): string => render(resource, { file: 'input', reconciler: false }).yaml;

/** Draws until there are enough, and shows what was refused. */
export function collected<Drawn, Found>(
  arbitrary: fc.Arbitrary<Drawn>,
  found: (drawn: Drawn) => Found | undefined,
): Found[] {
  const all: Found[] = [];
  let drawn = 0;
  for (let round = 0; all.length < runs && round < 100; round++) {
    for (const value of fc.sample(arbitrary, { numRuns: runs, seed: seed + round })) {
      drawn++;
      const one = all.length < runs ? found(value) : undefined;
      if (one !== undefined) all.push(one);
    }
  }
  console.log(`${all.length} of ${drawn} that were drawn are valid, seed ${seed}`);
  expect(all).toHaveLength(runs);
  return all;
}
