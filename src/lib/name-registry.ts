import { Chart } from 'cdk8s';
import type { Construct } from 'constructs';
import { appState } from './app-state';
import { isAttached } from './attached';

/** Notes that the construct makes an object of this kind and name. Returns all that do, now and later. */
export function takeName(construct: Construct, kind: string, name: string): readonly Construct[] {
  const taken = takenNames(construct);
  const key = keyOf(construct, kind, name);
  const namesakes = taken.get(key) ?? [];
  namesakes.push(construct);
  taken.set(key, namesakes);
  return namesakes;
}

/** Says so when another construct makes an object of the same kind and name in the same place. */
export function namesakeProblems(construct: Construct, kind: string, what: string, name: string): string[] {
  const namesakes = takenNames(construct).get(keyOf(construct, kind, name)) ?? [];
  const other = namesakes.find((each) => each !== construct && isAttached(each));
  if (!other) return [];
  const place = Chart.of(other) === Chart.of(construct) ? 'chart' : 'namespace';
  return [`name: another ${what} of this ${place} is called '${name}' too; give each its own name`];
}

function takenNames(construct: Construct): Map<string, Construct[]> {
  return appState(construct, 'names.v1', () => new Map());
}

/** Charts without a namespace may be meant for different ones. */
function keyOf(construct: Construct, kind: string, name: string): string {
  const { namespace, node } = Chart.of(construct);
  return JSON.stringify([namespace === undefined ? { chart: node.path } : { namespace }, kind, name]);
}
