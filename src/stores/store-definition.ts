import type { BackupPodStore } from '../lib/backup-pod';
import { propProblems, withFound } from '../resource/prop-problems';
import { fieldProblems } from '../resource/resource-problems';

/** The definition of one store, in a form that does not depend on its kind. */
export interface StoreDefinition {
  readonly pod: BackupPodStore;
  readonly problems: readonly string[];
  readonly serviceAccountAnnotations?: Readonly<Record<string, string>>;
}

/** What the definition of a store lacks, from the fields of the custom resources, and `own` problems. */
export function storeProblems(pod: BackupPodStore, own: readonly string[]): string[] {
  return withFound(own, propProblems(fieldProblems('EtcdBackup', 'spec.store', pod), propNames));
}

const propNames = {
  ...{ s3: '', oss: '', sftp: '', filesystem: '', command: '' },
  'filesystem.persistentVolumeClaim.claimName': 'claimName',
  'command.credentials.secretName': 'credentialsSecretName',
};
