import type { JobSettings } from '../../../../src/lib/pods/job-pod.ts';
import { given } from '../../../../src/lib/pods/pod-fields.ts';
import type { EtcdRestoreSpec, RestoreSourceSpec } from '../../../../src/resource/types.ts';
import type { RecordedSource } from '../../protocol/record.ts';

/** What a restore does. */
export type RestoreTask = Pick<
  EtcdRestoreSpec,
  | 'clusterName'
  | 'source'
  | 'identitySecret'
  | 'sha256'
  | 'expectedRevision'
  | 'safetyBackup'
  | 'ignoreUnreachablePods'
  | 'again'
>;

const key = 'job';

/** Stores the settings in the record with the source, so that a restore can continue after its resource is deleted. */
export const jobSettings = {
  put: (source: RestoreSourceSpec, settings: JobSettings): RecordedSource => {
    const found = given(settings);
    return Object.keys(found).length === 0 ? { ...source } : { ...source, [key]: found };
  },
  of: (source: RecordedSource): JobSettings => (source[key] as JobSettings | undefined) ?? {},
};
