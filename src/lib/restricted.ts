/** What the restricted Pod Security Standard asks of a pod, and a user without rights of its own. */
export const restrictedPod = {
  runAsNonRoot: true,
  runAsUser: 65532,
  runAsGroup: 65532,
  fsGroup: 65532,
  seccompProfile: { type: 'RuntimeDefault' },
};

/** What it asks of each container, and a root file system that nobody writes. */
export const restrictedContainer = {
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
  capabilities: { drop: ['ALL'] },
};
