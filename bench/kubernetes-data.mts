// Data like those of a Kubernetes in etcd, in kind and in compressibility: six in seven objects are Pods, which are
// long and differ only in names, addresses and digests; one is the Secret of a Helm release, which is base64 of gzip.
import { randomBytes, randomUUID } from 'node:crypto';
import type { EtcdClient } from '../agent/test/harness/etcd-client.ts';

const MIB = 1024 * 1024;
const PER_REQUEST = 100;
const apps = ['orders', 'payments', 'search', 'frontend', 'mailer', 'ledger', 'reports', 'sessions'];
const hex = (bytes: number) => randomBytes(bytes).toString('hex');

function managedFields(manager: string, paths: readonly string[]): object {
  const fields = Object.fromEntries(paths.map((path) => [`f:${path}`, { '.': {}, 'f:name': {}, 'f:value': {} }]));
  const fieldsV1 = { 'f:metadata': { 'f:labels': fields }, 'f:spec': { 'f:containers': fields } };
  return {
    manager,
    operation: 'Update',
    apiVersion: 'v1',
    time: new Date().toISOString(),
    fieldsType: 'FieldsV1',
    fieldsV1,
  };
}

function pod(app: string, name: string): object {
  const container = (role: string) => ({
    name: role,
    image: `registry.example.com/${app}/${role}@sha256:${hex(32)}`,
    env: ['POD_NAME', 'POD_NAMESPACE', 'NODE_NAME', 'GOMAXPROCS', 'LOG_LEVEL', 'HTTP_PROXY'].map((env) => ({
      name: env,
      valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: `metadata.${env.toLowerCase()}` } },
    })),
    resources: { requests: { cpu: '100m', memory: '128Mi' }, limits: { memory: '256Mi' } },
    volumeMounts: [{ name: `kube-api-access-${hex(3)}`, mountPath: '/var/run/secrets/kubernetes.io/serviceaccount' }],
    livenessProbe: { httpGet: { path: '/healthz', port: 8080, scheme: 'HTTP' }, periodSeconds: 10, timeoutSeconds: 1 },
    readinessProbe: { httpGet: { path: '/readyz', port: 8080, scheme: 'HTTP' }, periodSeconds: 10, timeoutSeconds: 1 },
    terminationMessagePath: '/dev/termination-log',
    securityContext: { allowPrivilegeEscalation: false, runAsNonRoot: true, capabilities: { drop: ['ALL'] } },
  });
  const status = (role: string) => ({
    name: role,
    containerID: `containerd://${hex(32)}`,
    imageID: `registry.example.com/${app}/${role}@sha256:${hex(32)}`,
    state: { running: { startedAt: new Date().toISOString() } },
    ready: true,
    restartCount: 0,
  });
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace: app,
      uid: randomUUID(),
      resourceVersion: String(Math.floor(Math.random() * 1e9)),
      labels: { app, 'app.kubernetes.io/part-of': app, 'pod-template-hash': hex(5) },
      ownerReferences: [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: `${app}-${hex(5)}`, uid: randomUUID() }],
      managedFields: [
        managedFields('kube-controller-manager', ['app', 'pod-template-hash', 'part-of', 'ownerReferences']),
        managedFields('kubelet', ['conditions', 'containerStatuses', 'hostIP', 'podIP', 'phase', 'startTime']),
      ],
    },
    spec: { nodeName: `node-${hex(2)}`, containers: ['server', 'proxy'].map(container), restartPolicy: 'Always' },
    status: {
      phase: 'Running',
      podIP: `10.${[...randomBytes(3)].join('.')}`,
      containerStatuses: ['server', 'proxy'].map(status),
    },
  };
}

const release = (app: string, name: string): object => ({
  apiVersion: 'v1',
  kind: 'Secret',
  type: 'helm.sh/release.v1',
  metadata: { name, namespace: app, uid: randomUUID() },
  data: { release: randomBytes(3 * 1024).toString('base64') },
});

function object(index: number): { key: string; value: string } {
  const app = apps[index % apps.length]!;
  const name = `${app}-${hex(4)}-${index}`;
  const isSecret = index % 7 === 0;
  return {
    key: `/registry/${isSecret ? 'secrets' : 'pods'}/${app}/${name}`,
    value: JSON.stringify(isSecret ? release(app, name) : pod(app, name)),
  };
}

/** Puts objects of about this many MiB. */
export async function fillWithKubernetes(etcd: EtcdClient, mebibytes: number): Promise<void> {
  const client = await etcd.connect();
  let index = 0;
  let bytes = 0;
  const writer = async () => {
    while (bytes < mebibytes * MIB) {
      const objects = Array.from({ length: PER_REQUEST }, () => object(index++));
      for (const { key, value } of objects) bytes += key.length + value.length;
      const puts = objects.map(({ key, value }) => client.put(key).value(value));
      await client
        .if('none', 'Version', '==', 0)
        .then(...puts)
        .commit();
    }
  };
  try {
    await Promise.all(Array.from({ length: 4 }, writer));
  } finally {
    client.close();
  }
}
