/** Directory in which clients of the Kubernetes API expect the token. */
export const apiTokenDirectory = '/var/run/secrets/kubernetes.io/serviceaccount';

/**
 * The token volume that Kubernetes otherwise mounts into every container: only containers that mount it get a token.
 */
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
