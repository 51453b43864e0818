/**
 * Name of the Service through which clients reach the member in a pod. The pod's own name may be that of another
 * cluster.
 */
export const clientServiceName = (pod: string): string => `${pod}-client`;
