import { kubectl } from '../../e2e/support/kubectl';
import type { Namespace } from '../../e2e/support/namespace';
import type { Manifest } from '../../synth';

export interface Objects {
  /** Returns `Kind/name`, sorted. Events do not count, because no manifest creates them. */
  readonly names: readonly string[];
  /** Returns the objects whose deletion waits for a finalizer. */
  readonly terminating: readonly string[];
}

/** Returns all objects in a namespace. */
export async function objectsOf(namespace: Namespace): Promise<Objects> {
  const { stdout } = await kubectl(['api-resources', '--namespaced', '--verbs=list', '-o', 'name']);
  const kinds = stdout.split('\n').filter((kind) => kind && !kind.startsWith('events') && !kind.includes('metrics'));
  const items: Manifest[] = (await namespace.get(kinds.join())).items;
  const named = (objects: Manifest[]) =>
    [...new Set(objects.map(({ kind, metadata }) => `${kind}/${metadata.name}`))].sort();
  return { names: named(items), terminating: named(items.filter(({ metadata }) => metadata.deletionTimestamp)) };
}

/** Waits until only these objects exist, so that no deletion waits for a finalizer either. */
export async function onlyLeft(namespace: Namespace, names: readonly string[], seconds = 120): Promise<void> {
  const wanted = [...names].sort();
  let found: Objects | undefined;
  await namespace
    .until('the rest to be gone', seconds, async () => {
      found = await objectsOf(namespace);
      return found.terminating.length === 0 && found.names.join() === wanted.join() ? true : undefined;
    })
    .catch(() => {});
  expect(found).toEqual({ names: wanted, terminating: [] });
}
