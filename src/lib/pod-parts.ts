/** Security context of a pod under the restricted Pod Security Standard, with a user that owns nothing on the node. */
export const restrictedPod = {
  runAsNonRoot: true,
  runAsUser: 65532,
  runAsGroup: 65532,
  fsGroup: 65532,
  seccompProfile: { type: 'RuntimeDefault' },
};

/** Security context of a container under the same standard, with a read-only root file system. */
export const restrictedContainer = {
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
  capabilities: { drop: ['ALL'] },
};

/** An environment variable that holds a field of the pod. */
export function fieldVariable(name: string, fieldPath: string): object {
  // Kubernetes would add apiVersion as a default, and the applied manifest would not own that field.
  return { name, valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath } } };
}
