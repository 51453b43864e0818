import { nearest } from './nearest';

/**
 * What TypeScript and the custom resources call differently, in both directions, and a word of other operators. Each
 * remedy begins with the name on the other side.
 */
export const otherNames: Readonly<Record<string, string>> = {
  replicas: 'size',

  // From TypeScript to YAML.
  volume: 'storage',
  backupSchedule: 'backup.schedule',
  requireBackupForUpgrade: 'backup.requiredForUpgrade',
  onShrink: 'pvcPolicy.onShrink',
  onDelete: 'pvcPolicy.onDelete',
  onNoSpace: 'maintenance.onNoSpace',
  clusterDomain: 'tls.managed.clusterDomain',
  schedule: 'cron',
  store: 'stores',
  cluster: 'clusterName',
  dialTimeout: 'timeouts.dial',
  timeout: 'timeouts.total',
  claimName: 'persistentVolumeClaim.claimName',
  credentialsSecretName: 'credentials.secretName',
  can: 'permissions',
  secretName: 'certificateSecret',
  password: 'passwordSecret',

  // From YAML to TypeScript.
  storage: 'volume',
  backup: 'backupSchedule or requireBackupForUpgrade, and call addBackupSchedule for each schedule',
  pvcPolicy: 'onShrink or onDelete',
  maintenance: 'onNoSpace',
  cron: 'schedule',
  cronJobName: 'name',
  stores: 'store, and call addStore for each further one',
  clusterName: 'cluster',
  timeouts: 'dialTimeout or timeout',
  persistentVolumeClaim: 'claimName',
  permissions: 'can',
  certificateSecret: 'secretName',
  passwordSecret: 'password: true, with the Secret in secretName',
};

/** What to do about `word`, which is none of the `words` that are known in its place. */
export function insteadOf(word: string, words: Iterable<string>): string {
  const known = [...words];
  const other = Object.hasOwn(otherNames, word) ? otherNames[word]! : '';
  // Not "or remove it": without the volume, for example, the cluster would keep the default size for good.
  if (known.includes(/^\w*/.exec(other)![0])) return `write ${other}`;
  const meant = nearest(word, known);
  return meant === undefined ? 'remove it' : `write ${meant}, or remove it`;
}
