import { createHash } from 'node:crypto';
import { jobAccountOf } from '../../../../src/lib/pods/job-account.ts';
import type { JobSettings } from '../../../../src/lib/pods/job-pod.ts';
import { defaults } from '../../../../src/resource/defaults.ts';
import type { EtcdRestoreSpec, EtcdRestoreStatus } from '../../../../src/resource/types.ts';
import { canonical } from '../../../../src/validation/plain-object.ts';
import type { KubeObject } from '../../kube/objects.ts';
import type { OutcomeCondition } from '../../protocol/outcome-conditions.ts';
import type { RestoreRequest } from '../port/observed.ts';
import { jobSettings, type RestoreTask } from './job-settings.ts';

export interface EtcdRestoreObject extends KubeObject {
  readonly spec: EtcdRestoreSpec;
  readonly status?: EtcdRestoreStatus & { readonly conditions?: readonly OutcomeCondition[] } & Readonly<
      Record<string, unknown>
    >;
}

export function restoreOf({ metadata, spec, status }: EtcdRestoreObject): RestoreRequest {
  const { task, job } = partsOf(spec);
  const { source, identitySecret, sha256, expectedRevision } = task;
  const { safetyBackup, ignoreUnreachablePods } = { ...defaults.EtcdRestoreSpec, ...spec };
  return {
    name: metadata.name,
    uid: metadata.uid,
    createdAt: Date.parse(metadata.creationTimestamp),
    specHash: hashOf(task),
    source: jobSettings.put(source, { ...job, serviceAccountName: jobAccountOf('restore', metadata.name, job) }),
    identitySecret,
    sha256,
    expectedRevision,
    ...{ safetyBackup, ignoreUnreachablePods },
    snapshots: [source.snapshotId, status?.snapshotId, status?.safetyBackupId].filter((id) => id !== undefined),
    phase: status?.phase,
    deleting: metadata.deletionTimestamp ? true : undefined,
  };
}

/** Parts what is restored from how: a new release has another image, and another name another ServiceAccount. */
function partsOf(spec: EtcdRestoreSpec): { readonly task: RestoreTask; readonly job: JobSettings } {
  const { clusterName, source, identitySecret, sha256, expectedRevision, ...others } = spec;
  const { safetyBackup, ignoreUnreachablePods, again, ...job } = others;
  return {
    task: {
      ...{ clusterName, source, identitySecret, sha256, expectedRevision },
      ...{ safetyBackup, ignoreUnreachablePods, again },
    },
    job,
  };
}

/** Hash that does not depend on the order of the fields. */
const hashOf = (value: unknown): string => createHash('sha256').update(canonical(value)).digest('hex');
