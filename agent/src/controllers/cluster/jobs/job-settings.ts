import type { EtcdRestoreSpec, RestoreSourceSpec } from '../../../../../src/resource/types.ts';
import type { RestoreSource } from '../../../protocol/record.ts';

/** How the Job of a restore runs. */
export type JobSettings = Pick<EtcdRestoreSpec, 'serviceAccountName' | 'image' | 'resources'>;

const key = 'job';

/** Stores the settings in the record with the source, so that a restore can continue after its resource is deleted. */
export const jobSettings = {
  put: (source: RestoreSourceSpec, { serviceAccountName, image, resources }: JobSettings): RestoreSource => {
    const settings = Object.entries({ serviceAccountName, image, resources }).filter(
      ([, value]) => value !== undefined,
    );
    return settings.length === 0 ? { ...source } : { ...source, [key]: Object.fromEntries(settings) };
  },
  of: (source: RestoreSource): JobSettings => (source[key] as JobSettings | undefined) ?? {},
};
