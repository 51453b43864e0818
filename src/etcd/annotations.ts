/**
 * The epoch: of the pod template the oldest that may serve, of a claim that of its data. Only the reconciler sets it: no manifest
 * has it. Objects of running clusters have it, so its name never changes.
 */
export const epochAnnotation = 'cdk8s-etcd.dev/epoch';
