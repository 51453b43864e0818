import type { RestoreRequest } from '../../../port/observed.ts';

/** An EtcdRestore that asks for a backup. */
export const request = (change: Partial<RestoreRequest> = {}): RestoreRequest => ({
  name: 'monday',
  uid: 'restore-uid',
  createdAt: 1,
  specHash: 'hash',
  source: { backupName: 'b' },
  safetyBackup: true,
  ignoreUnreachablePods: false,
  ...change,
});
