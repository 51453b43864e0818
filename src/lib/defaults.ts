/** The newest patch of each supported minor version of etcd at the time of this release. */
export const newestPatches = { '3.5': '3.5.35', '3.6': '3.6.16', '3.7': '3.7.3' } as const;

/** The oldest patch of each minor version that the agent and the reconciler support. */
export const oldestPatches: { readonly [minor: string]: string } = { '3.5': '3.5.11', '3.6': '3.6.11', '3.7': '3.7.0' };

/** Never changes within a major release: a new default would upgrade every cluster that does not set its version. */
export const defaultMinor = '3.6';

export const defaultVolume = '8Gi';

/** Registry and repository in which the etcd project publishes its images. */
export const etcdRegistry = 'gcr.io';
export const etcdRepository = 'etcd-development/etcd';

/** etcd writes its log in files of this size, in bytes, and exits when there is no room for the next one. */
export const logFileBytes = 64 * 2 ** 20;

/** How often running members compare their data. etcd's own default is never. */
export const corruptCheckTime = '12h';

/** etcd logs each request that takes longer to apply, and of a login its token. */
export const warningApplyDuration = '1h';
