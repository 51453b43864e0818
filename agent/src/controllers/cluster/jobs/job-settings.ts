import type { RestoreSource } from '../../../protocol/record.ts';

/** ServiceAccount and image with which a restore reaches its store. */
export interface JobSettings {
  readonly serviceAccountName?: string | undefined;
  readonly image?: string | undefined;
}

const key = 'job';

/** Stores the settings in the record with the source, so that a restore can continue after its resource is deleted. */
export const jobSettings = {
  put: (source: RestoreSource, { serviceAccountName, image }: JobSettings): RestoreSource => {
    if (serviceAccountName === undefined && image === undefined) return source;
    return { ...source, [key]: { ...(serviceAccountName && { serviceAccountName }), ...(image && { image }) } };
  },
  of: (source: RestoreSource): JobSettings => (source[key] as JobSettings | undefined) ?? {},
};
