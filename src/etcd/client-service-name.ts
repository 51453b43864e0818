/** The name of the Service by which clients reach the member of a pod. Not the pod's: another cluster may be called so. */
export const clientServiceName = (pod: string): string => `${pod}-client`;
