import { kubectl } from '../../e2e/support/kubectl';
import type { Namespace } from '../../e2e/support/namespace';
import type { Manifest } from '../../synth';

export interface Objects {
  /** `Kind/name`, sorted. Events are not objects that anybody made. */
  readonly names: readonly string[];
  /** Those that wait for somebody to let them go. */
  readonly terminating: readonly string[];
}

/** All that there is in a namespace. */
export async function objectsOf(namespace: Namespace): Promise<Objects> {
  const { stdout } = await kubectl(['api-resources', '--namespaced', '--verbs=list', '-o', 'name']);
  const kinds = stdout.split('\n').filter((kind) => kind && !kind.startsWith('events') && !kind.includes('metrics'));
  const items: Manifest[] = (await namespace.get(kinds.join())).items;
  const named = (objects: Manifest[]) =>
    [...new Set(objects.map(({ kind, metadata }) => `${kind}/${metadata.name}`))].sort();
  return { names: named(items), terminating: named(items.filter(({ metadata }) => metadata.deletionTimestamp)) };
}

/** Waits until nothing is there but these, which also means that nothing waits to be let go. */
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
