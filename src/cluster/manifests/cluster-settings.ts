import { createHash } from 'node:crypto';

/** The data of the ConfigMap that the agent makes etcd's configuration of. */
export function settingsData(settings: Readonly<Record<string, unknown>>): Record<string, string> {
  const sorted = Object.fromEntries(Object.entries(settings).sort(([a], [b]) => (a < b ? -1 : 1)));
  return { [settingsFile]: `${JSON.stringify(sorted, null, 2)}\n` };
}

/** In the pods' annotations it makes a change of settings a change of the pods. */
export function settingsHash(data: Readonly<Record<string, string>>): string {
  return createHash('sha256').update(JSON.stringify(data)).digest('hex');
}

export const settingsFile = 'settings.json';
