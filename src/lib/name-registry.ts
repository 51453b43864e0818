import { ApiObject, Chart } from 'cdk8s';
import type { Construct, IConstruct } from 'constructs';
import { namespaceProblem } from '../validation/names';
import { problemsOf } from '../validation/problems';
import { appState, isAttached } from './construct-tree';

/**
 * Records that a construct creates an object of this kind and name. Returns all constructs that do; the list grows with
 * later calls.
 */
export function takeName(construct: Construct, kind: string, name: string): readonly Construct[] {
  checkChart(construct);
  const taken = takenNames(construct);
  const key = keyOf(construct, kind, name);
  const namesakes = taken.get(key) ?? [];
  namesakes.push(construct);
  taken.set(key, namesakes);
  return namesakes;
}

/** Problem if another construct creates an object of the same kind and name in the same chart or namespace. */
export function namesakeProblems(construct: Construct, kind: string, what: string, name: string): string[] {
  const namesakes = takenNames(construct).get(keyOf(construct, kind, name)) ?? [];
  const other = namesakes.find((each) => each !== construct && isAttached(each));
  if (!other) return [];
  const place = Chart.of(other) === Chart.of(construct) ? 'chart' : 'namespace';
  return [`another ${what} of this ${place} is called '${name}' too; give each its own name`];
}

/** The names of the objects of one construct. */
export class ObjectNames {
  private readonly taken: { readonly kind: string; readonly name: string }[] = [];

  constructor(private readonly owner: Construct) {}

  take(kind: string, name: string): void {
    takeName(this.owner, kind, name);
    this.taken.push({ kind, name });
  }

  problems(): string[] {
    return this.taken.flatMap(({ kind, name }) => namesakeProblems(this.owner, kind, kind, name));
  }
}

function takenNames(construct: Construct): Map<string, Construct[]> {
  return appState(construct, 'names.v1', () => new Map());
}

/** Charts without a namespace are kept apart: they may be applied to different namespaces. */
function keyOf(construct: Construct, kind: string, name: string): string {
  const { namespace, node } = Chart.of(construct);
  return JSON.stringify([namespace === undefined ? { chart: node.path } : { namespace }, kind, name]);
}

/** The constructs of this library, by their charts. */
type Charts = Map<Chart, Set<IConstruct>>;

/**
 * Checks the chart of a construct, once for all constructs in it: its namespace, and that no object of the app, whoever created
 * it, has the kind and the name of one of ours. On apply, one of the two would silently replace the other.
 */
function checkChart(construct: Construct): void {
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
      ...problemsOf(
        chart.namespace === undefined || isTemplate(chart.namespace)
          ? undefined
          : namespaceProblem('namespace', chart.namespace),
      ),
      ...collisions(chart, charts),
    ],
  });
}

/** Such as that of a Helm chart: `{{ .Release.Namespace }}`. */
const isTemplate = (text: unknown): boolean => typeof text === 'string' && text.includes('{{');

/** Two objects of this library are not reported: their constructs report them, in the words of what they are. */
function collisions(chart: Chart, charts: Charts): string[] {
  const isOurs = (object: ApiObject) => object.node.scopes.some((scope) => charts.get(Chart.of(object))?.has(scope));
  const byName = new Map<string, ApiObject[]>();
  for (const each of chart.node.root.node.findAll()) {
    if (!ApiObject.isApiObject(each)) continue;
    const key = keyOfObject(each);
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

function keyOfObject(object: ApiObject): string {
  const { apiGroup, kind, name, metadata } = object;
  const chart = Chart.of(object);
  const namespace = metadata.namespace ?? chart.namespace;
  return JSON.stringify([namespace === undefined ? { chart: chart.node.path } : { namespace }, apiGroup, kind, name]);
}
