import type { Manifest } from '../../synth';

const security = {
  pod: {
    runAsNonRoot: true,
    runAsUser: 65532,
    runAsGroup: 65532,
    fsGroup: 65532,
    seccompProfile: { type: 'RuntimeDefault' },
  },
  container: {
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ['ALL'] },
  },
};

/** A container with the fields that the restricted Pod Security Standard requires. */
export function container(name: string, image: string, fields: object): Manifest {
  return { name, image, imagePullPolicy: 'IfNotPresent', securityContext: security.container, ...fields };
}

/** A pod with the fields that the restricted Pod Security Standard requires. It ends at once when it is deleted. */
export function podSpec(fields: object): Manifest {
  return { terminationGracePeriodSeconds: 0, enableServiceLinks: false, securityContext: security.pod, ...fields };
}

export function statefulSet(name: string, replicas: number, pod: Manifest): Manifest {
  const labels = { app: name };
  return {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name },
    spec: {
      serviceName: name,
      replicas,
      podManagementPolicy: 'Parallel',
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: pod },
    },
  };
}

/** Gives every pod of a StatefulSet a name, ready or not. */
export function headlessService(name: string, port: number): Manifest {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name },
    spec: { clusterIP: 'None', publishNotReadyAddresses: true, selector: { app: name }, ports: [{ port }] },
  };
}

export function secret(name: string, stringData: Record<string, string>): Manifest {
  return { apiVersion: 'v1', kind: 'Secret', metadata: { name }, stringData };
}

export function claim(name: string, storage = '1Gi'): Manifest {
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage } } },
  };
}
