import { ApiObject, Chart } from 'cdk8s';
import type { Construct, IConstruct } from 'constructs';
import { namespaceProblem } from '../validation/names';
import { problemsOf } from '../validation/problems';
import { appState } from './construct-tree';

/** The constructs of this library, by their charts. */
type Charts = Map<Chart, Set<IConstruct>>;

/**
 * Checks the chart of a construct, once for all constructs in it: its namespace, and that no object of the app, whoever created
 * it, has the kind and the name of one of ours. On apply, one of the two would silently replace the other.
 */
export function checkChart(construct: Construct): void {
  const charts: Charts = appState(construct, 'charts.v1', () => new Map());
  const chart = Chart.of(construct);
  const known = charts.get(chart);
  if (known) {
    known.add(construct);
    return;
  }
  charts.set(chart, new Set([construct]));
  chart.node.addValidation({
    validate: () => [
      ...problemsOf(chart.namespace === undefined ? undefined : namespaceProblem('namespace', chart.namespace)),
      ...collisions(chart, charts),
    ],
  });
}

/** Two objects of this library are not reported: their constructs report them, in the words of what they are. */
function collisions(chart: Chart, charts: Charts): string[] {
  const isOurs = (object: ApiObject) => object.node.scopes.some((scope) => charts.get(Chart.of(object))?.has(scope));
  const byName = new Map<string, ApiObject[]>();
  for (const each of chart.node.root.node.findAll()) {
    if (!ApiObject.isApiObject(each)) continue;
    const key = keyOf(each);
    byName.set(key, [...(byName.get(key) ?? []), each]);
  }
  return [...byName.values()].flatMap((namesakes) => {
    if (namesakes.length < 2) return [];
    const ours = namesakes.find((object) => Chart.of(object) === chart && isOurs(object));
    const other = namesakes.find((object) => !isOurs(object));
    if (!ours || !other) return [];
    return `${ours.node.path}: ${other.node.path} is a ${ours.kind} with the name '${ours.name}' too, and one would replace the other; give one of them another name`;
  });
}

/** Charts without a namespace are kept apart: they may be applied to different namespaces. */
function keyOf(object: ApiObject): string {
  const { apiGroup, kind, name, metadata } = object;
  const chart = Chart.of(object);
  const namespace = metadata.namespace ?? chart.namespace;
  return JSON.stringify([namespace === undefined ? { chart: chart.node.path } : { namespace }, apiGroup, kind, name]);
}
