import type { EtcdClusterObject } from '../objects/cluster-object.ts';
import { secretsOf } from '../objects/cluster-object.ts';
import { type EtcdUserObject, isGoing, oldestFirst, secretOf } from '../objects/user-object.ts';

/**
 * EtcdUsers that get no certificate and no password because their Secret is that of somebody else, and why, by UID. Of two that name one, the
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
  for (const user of oldestFirst(users.filter((each) => !isGoing(each)))) {
    const { metadata, spec } = user;
    const secret = secretOf(user);
    if (secret === undefined) continue;
    const field = spec.passwordSecret === undefined ? 'certificateSecret' : 'passwordSecret';
    const owner = owners.get(secret);
    if (owner === undefined) owners.set(secret, `the older EtcdUser ${metadata.name}`);
    else found.set(metadata.uid, `Secret ${secret} is that of ${owner}; name another one in spec.${field}`);
  }
  return found;
}
