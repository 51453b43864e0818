import type { EtcdBackupSpec } from '../../resource/types.ts';

/** The ServiceAccount of the Job of an EtcdBackup or an EtcdRestore: an existing one, or the one that comes with annotations. */
export function jobAccountOf(
  kind: 'backup' | 'restore',
  name: string,
  {
    serviceAccountName,
    serviceAccountAnnotations,
  }: Pick<EtcdBackupSpec, 'serviceAccountName' | 'serviceAccountAnnotations'>,
): string | undefined {
  return serviceAccountName ?? (serviceAccountAnnotations && `${name}-${kind}`);
}
