import type { BackupPodStore } from '../../../../src/lib/backup-pod.ts';
import type { BackupScheduleSpec } from '../../../../src/resource/types.ts';
import { AgentError, ExitCode } from '../../lib/errors.ts';
import { own } from '../../lib/own.ts';
import type { EtcdBackupObject } from '../objects/backup-object.ts';

/** Stores of a backup: its own or those of its schedule, with the requested folder. */
export function storesOf(
  { spec }: EtcdBackupObject,
  schedule: BackupScheduleSpec | undefined,
): readonly BackupPodStore[] {
  const stores = spec.store ? [spec.store] : (schedule?.stores ?? []);
  const { prefix } = spec;
  return prefix === undefined ? stores : stores.map((store) => inFolder(store, prefix));
}

/** Drops the retention, which the schedule defines only for its own folder. */
function inFolder({ retention: _, ...store }: BackupPodStore, prefix: string): BackupPodStore {
  const { s3, oss, sftp, filesystem } = store;
  if (s3) return { s3: { ...s3, prefix } };
  if (oss) return { oss: { ...oss, prefix } };
  if (sftp) return { sftp: { ...sftp, path: prefix } };
  if (filesystem) return { filesystem: { ...filesystem, directory: prefix } };
  throw new AgentError(ExitCode.usage, 'prefix: a command store does not support it; omit it, or set env in the store');
}

/** Returns the object key, with the placeholders replaced. */
export function keyOf({ metadata, spec }: EtcdBackupObject): string | undefined {
  const { name, namespace = '', uid, creationTimestamp } = metadata;
  const values: Readonly<Record<string, string>> = {
    Namespace: namespace,
    Name: name,
    UID: uid,
    CreationTimestamp: creationTimestamp.replaceAll(/[-:]|\.\d+/g, ''),
  };
  return spec.key?.replaceAll(/\{\{ *\.(\w+) *\}\}/g, (whole, field: string) => own(values, field) ?? whole);
}
