import { createHash } from 'node:crypto';
import type { ResolvedCluster } from '../resolved-cluster';

export const settingsFile = 'settings.json';

/** Returns the data of the ConfigMap from which the agent writes etcd's configuration. */
export function settingsData({ settings }: ResolvedCluster): Record<string, string> {
  const sorted = Object.fromEntries(Object.entries(settings.settings).sort(([a], [b]) => (a < b ? -1 : 1)));
  return { [settingsFile]: `${JSON.stringify(sorted, null, 2)}\n` };
}

/** Returns the hash for the pods' annotations. It makes a change of the settings a change of the pods. */
export function settingsHash(cluster: ResolvedCluster): string {
  return createHash('sha256')
    .update(JSON.stringify(settingsData(cluster)))
    .digest('hex');
}
