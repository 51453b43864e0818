import type { BackupPodResources } from '../../../../../src/lib/backup-pod.ts';
import type { RestoreSource } from '../../../protocol/record.ts';

/** How the Job of a restore runs. */
export interface JobSettings {
  readonly serviceAccountName?: string | undefined;
  readonly image?: string | undefined;
  readonly resources?: BackupPodResources | undefined;
}

const key = 'job';

/** Stores the settings in the record with the source, so that a restore can continue after its resource is deleted. */
export const jobSettings = {
  put: (source: RestoreSource, { serviceAccountName, image, resources }: JobSettings): RestoreSource => {
    const settings = Object.entries({ serviceAccountName, image, resources }).filter(
      ([, value]) => value !== undefined,
    );
    return settings.length === 0 ? source : { ...source, [key]: Object.fromEntries(settings) };
  },
  of: (source: RestoreSource): JobSettings => (source[key] as JobSettings | undefined) ?? {},
};
