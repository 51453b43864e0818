import type { Manifest } from '../../synth';

type Fields = { readonly [key: string]: Fields };

/** The leaves of a set of fields, as paths. */
function leaves(fields: Fields, path = ''): string[] {
  const inner = Object.entries(fields).filter(([key]) => key !== '.');
  if (inner.length === 0) return [path];
  return inner.flatMap(([key, value]) => leaves(value, `${path}/${key}`));
}

/**
 * Fields that two managers own: a fight begins there as soon as they want different values. Undefined if the object does not
 * say who owns its fields, as what `kubectl get` prints by default.
 */
export function sharedFields({ metadata }: Manifest): string[] | undefined {
  if (metadata.managedFields === undefined) return undefined;
  const owners = new Map<string, Set<string>>();
  for (const { manager: name, fieldsV1 } of metadata.managedFields) {
    // kubectl has two names, and takes over by itself what the other one owns.
    const manager = name === 'kubectl-client-side-apply' ? 'kubectl' : name;
    for (const leaf of leaves(fieldsV1)) owners.set(leaf, (owners.get(leaf) ?? new Set()).add(manager));
  }
  return [...owners].filter(([, who]) => who.size > 1).map(([leaf, who]) => `${leaf}: ${[...who].join(', ')}`);
}
