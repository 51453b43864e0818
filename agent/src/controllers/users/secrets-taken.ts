import { secretsOf } from '../certificates/wanted.ts';
import type { EtcdClusterObject } from '../cluster/kubernetes/cluster-object.ts';
import { type EtcdUserObject, isGoing, oldestFirst } from './object.ts';

/**
 * EtcdUsers that get no certificate because their Secret is that of somebody else, and why, by UID. Of two that name one, the
 * older one keeps it: whoever may create an EtcdUser takes no certificate away from another.
 */
export function secretsTaken(
  users: readonly EtcdUserObject[],
  clusters: readonly EtcdClusterObject[],
): ReadonlyMap<string, string> {
  const owners = new Map<string, string>(
    clusters.flatMap(({ metadata, spec: { tls } }) =>
      tls ? secretsOf(tls).map((secret) => [secret, `EtcdCluster ${metadata.name}`] as const) : [],
    ),
  );
  const found = new Map<string, string>();
  for (const { metadata, spec } of oldestFirst(users.filter((user) => !isGoing(user)))) {
    const { certificateSecret: secret } = spec;
    if (secret === undefined) continue;
    const owner = owners.get(secret);
    if (owner === undefined) owners.set(secret, `the older EtcdUser ${metadata.name}`);
    else found.set(metadata.uid, `Secret ${secret} is that of ${owner}; name another one in spec.certificateSecret`);
  }
  return found;
}
