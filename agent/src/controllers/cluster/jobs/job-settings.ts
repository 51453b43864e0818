import type { RestoreSource } from '../../../protocol/record.ts';

/** As whom, and with which executables, a restore reaches its store. */
export interface JobSettings {
  readonly serviceAccountName?: string | undefined;
  readonly image?: string | undefined;
}

const key = 'job';

/** They go into the record with the source, so that a restore goes on with them when its resource is gone. */
export const jobSettings = {
  put: (source: RestoreSource, { serviceAccountName, image }: JobSettings): RestoreSource => {
    if (serviceAccountName === undefined && image === undefined) return source;
    return { ...source, [key]: { ...(serviceAccountName && { serviceAccountName }), ...(image && { image }) } };
  },
  of: (source: RestoreSource): JobSettings => (source[key] as JobSettings | undefined) ?? {},
};
