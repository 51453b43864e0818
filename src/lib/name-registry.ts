import { ApiObject, Chart } from 'cdk8s';
import type { Construct, IConstruct } from 'constructs';
import { namespaceProblem } from '../validation/names';
import { problemsOf } from '../validation/problems';
import { appState, isAttached } from './construct-tree';
import { labelProblems } from './labels';

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

/** The API groups of what is written at run time. */
const groups = { ConfigMap: 'core', Secret: 'core', Job: 'batch' };

/**
 * Records that an object of this kind and name is written at run time, which would overwrite one of the app, or the other way
 * round.
 */
export function reserveName(construct: Construct, kind: keyof typeof groups, name: string, writer: string): void {
  checkChart(construct);
  reservedNames(construct).push({ construct, kind, name, writer });
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

interface Reserved {
  readonly construct: Construct;
  readonly kind: keyof typeof groups;
  readonly name: string;
  readonly writer: string;
}

function reservedNames(construct: IConstruct): Reserved[] {
  return appState(construct, 'reserved.v1', () => []);
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
      ...labelProblems('labels of the chart', chart.labels),
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
  const written = reservedNames(chart).filter(
    (each) => Chart.of(each.construct) === chart && isAttached(each.construct),
  );
  const overwritten = written.flatMap(({ construct, kind, name, writer }) => {
    const other = byName.get(keyOfName(chart, groups[kind], kind, name))?.find((object) => !isOurs(object));
    if (!other) return [];
    return `${construct.node.path}: ${other.node.path} is the ${kind} '${name}', which ${writer} writes; give it another name`;
  });
  const twice = [...byName.values()].flatMap((namesakes) => {
    if (namesakes.length < 2) return [];
    const ours = namesakes.find((object) => Chart.of(object) === chart && isOurs(object));
    const other = namesakes.find((object) => !isOurs(object));
    if (!ours || !other) return [];
    return `${ours.node.path}: ${other.node.path} is a ${ours.kind} with the name '${ours.name}' too, and one would replace the other; give one of them another name`;
  });
  return [...twice, ...overwritten];
}

function keyOfObject(object: ApiObject): string {
  const { apiGroup, kind, name, metadata } = object;
  return keyOfName(Chart.of(object), apiGroup, kind, name, metadata.namespace);
}

function keyOfName(chart: Chart, apiGroup: string, kind: string, name: string, namespace = chart.namespace): string {
  return JSON.stringify([namespace === undefined ? { chart: chart.node.path } : { namespace }, apiGroup, kind, name]);
}
