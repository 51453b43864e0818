/**
 * Ids of restores in the record. That of an EtcdRestore is its name, which has no colon. The others are asked for by the
 * origin of a cluster, by a recovery, and by a restart of the only member.
 */
export const originId = (clusterUid: string): string => `origin:${clusterUid}`;
export const recoveryId = (id: string): string => `recovery:${id}`;
export const rollId = (operationId: string): string => `roll:${operationId}`;

export const isOrigin = (id: string): boolean => id.startsWith('origin:');
export const isRoll = (id: string): boolean => id.startsWith('roll:');
export const isOfEtcdRestore = (id: string): boolean => !id.includes(':');
