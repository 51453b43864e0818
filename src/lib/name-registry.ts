import { Chart } from 'cdk8s';
import type { Construct } from 'constructs';
import { checkChart } from './chart-checks';
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
