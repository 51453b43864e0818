/** Where clients of the Kubernetes API look for it. */
export const apiTokenDirectory = '/var/run/secrets/kubernetes.io/serviceaccount';

/** What Kubernetes mounts by itself into every container of a pod, for those alone that mount it. */
export function apiTokenVolume(name: string): object {
  return {
    name,
    projected: {
      // 0440: the files belong to root and the pod's fsGroup.
      defaultMode: 0o440,
      sources: [
        { serviceAccountToken: { path: 'token', expirationSeconds: 3600 } },
        { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
        {
          downwardAPI: {
            items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }],
          },
        },
      ],
    },
  };
}
