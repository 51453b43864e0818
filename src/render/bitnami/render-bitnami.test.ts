import { readFileSync } from 'node:fs';
import { errorsOf, only, type Rendering, rendering } from '../../../test/rendering';
import { render } from '../run';
import { unequal } from './unequal';

const about = ({ lines }: Rendering, field: string) => lines.filter((line) => line.includes(`: ${field}: `));
const spec = (rendered: Rendering) => only(rendered, 'EtcdCluster').spec;
const noRbac = { auth: { rbac: { create: false } } };

test('a release of three members with TLS', () => {
  const rendered = rendering([
    {
      replicaCount: 3,
      fullnameOverride: 'orders-etcd',
      image: { registry: 'docker.io', repository: 'bitnamilegacy/etcd', tag: '3.6.5-debian-12-r2' },
      auth: {
        rbac: { create: false },
        client: { secureTransport: true, useAutoTLS: true },
        peer: { secureTransport: true },
      },
      persistence: { size: '16Gi', storageClass: 'fast' },
      resources: { requests: { cpu: '500m', memory: '4Gi' }, limits: { memory: '4Gi' } },
      autoCompactionMode: 'periodic',
      autoCompactionRetention: '10h',
      nodeSelector: { disk: 'ssd' },
      commonLabels: { team: 'shop' },
    },
  ]);
  expect(spec(rendered)).toMatchObject({
    size: 3,
    version: '3.6.11',
    storage: { size: '16Gi', storageClassName: 'fast' },
    tuning: { autoCompaction: { mode: 'periodic', retention: '10h' } },
    resources: { limits: { memory: '4Gi' } },
    nodeSelector: { disk: 'ssd' },
    labels: { team: 'shop' },
  });
  expect(spec(rendered).tls.managed).toBeDefined();
  expect(only(rendered, 'StatefulSet').metadata.name).toBe('orders-etcd');
  expect(rendered.lines.filter((line) => line.startsWith('not carried over'))).toEqual([]);
});

test('the part of an application’s values that is for its etcd, in its namespace', () => {
  const rendered = rendering([
    { image: { tag: '2.5' }, etcd: { replicaCount: 3, namespaceOverride: 'search', ...noRbac }, minio: { mode: 'x' } },
  ]);
  expect(only(rendered, 'EtcdCluster')).toMatchObject({
    metadata: { name: 'etcd', namespace: 'search' },
    spec: { size: 3 },
  });
  expect(rendered.lines.join('\n')).not.toContain('minio');
  expect(about(rendered, 'etcd.image')[0]).toContain('ask a pod');
});

test('values of another chart are not taken for those of etcd', () => {
  expect(errorsOf([{ image: { tag: '1' }, etcd: { host: 'http://etcd:2379' } }]).join('\n')).toContain(
    'contains no EtcdCluster',
  );
});

test('what is missing is what the chart would run', () => {
  const rendered = rendering([noRbac]);
  expect(spec(rendered)).toMatchObject({ size: 1, storage: { size: '8Gi' } });
  expect(spec(rendered).tls).toBeUndefined();
  expect(about(rendered, 'replicaCount')[0]).toContain('prefer 3');
});

test('the password of root, and certificates of its own, are not carried over without a word', () => {
  const rendered = rendering([
    { auth: { rbac: { rootPassword: 'secret!' }, client: { secureTransport: true, existingSecret: 'certs' } } },
  ]);
  expect(about(rendered, 'auth.rbac')[0]).toContain('not carried over');
  expect(about(rendered, 'auth.client.existingSecret')[0]).toContain('etcd-peer-tls');
  expect(rendered.lines.join('\n')).not.toContain('secret!');
});

test('backups into a claim go on there; without a claim that exists they cannot', () => {
  const disasterRecovery = { enabled: true, cronjob: { schedule: '0 * * * *', snapshotHistoryLimit: 5 } };
  const kept = rendering([
    { ...noRbac, disasterRecovery: { ...disasterRecovery, pvc: { existingClaim: 'snapshots' } } },
  ]);
  expect(spec(kept).backup.schedules).toMatchObject([
    {
      cron: '0 * * * *',
      stores: [{ filesystem: { persistentVolumeClaim: { claimName: 'snapshots' } }, retention: { last: 5 } }],
    },
  ]);
  const lost = rendering([{ ...noRbac, disasterRecovery }]);
  expect(spec(lost).backup).toBeUndefined();
  expect(about(lost, 'disasterRecovery.pvc')[0]).toContain('names no claim');
});

test('variables of etcd become settings, others stay variables', () => {
  const extraEnvVars = [
    { name: 'ETCD_QUOTA_BACKEND_BYTES', value: '4294967296' },
    { name: 'ETCD_MAX_REQUEST_BYTES', value: '3145728' },
    { name: 'GOMAXPROCS', value: '2' },
  ];
  const rendered = rendering([{ ...noRbac, extraEnvVars, persistence: { size: '10Gi' }, logLevel: 'warn' }]);
  expect(spec(rendered)).toMatchObject({
    quota: '4Gi',
    settings: { 'max-request-bytes': 3145728, 'log-level': 'warn' },
    containers: { etcd: { env: [{ name: 'GOMAXPROCS', value: '2' }] } },
  });
});

test.each(Object.entries(unequal))('%s has no equal: it is reported, unless it is empty or off', (key, why) => {
  const given = rendering([{ ...noRbac, [key]: { type: 'LoadBalancer', name: 'x', enabled: true } }]);
  expect(about(given, key)).toEqual([expect.stringContaining(why)]);
  for (const nothing of ['', [], {}, false, { enabled: false }])
    expect(about(rendering([{ ...noRbac, [key]: nothing }]), key)).toEqual([]);
});

test('a value that nobody knows is named', () => {
  const [line] = about(rendering([{ ...noRbac, replicas: 3 }]), 'replicas');
  expect(line).toMatch(/not carried over: .*is not read here/);
});

test.each([
  [{ persistence: { size: '1Gi' } }, '2Gi'],
  [{ persistence: { size: '20Gi' } }, '20Gi'],
])('a volume is large enough for etcd: %j', (values, size) => {
  expect(spec(rendering([{ ...noRbac, ...values }])).storage.size).toBe(size);
});

test('`-` names no storage class, and a volume that goes with its pod stays so', () => {
  const persistence = { enabled: false, storageClass: '-' };
  const rendered = rendering([{ ...noRbac, persistence }]);
  expect(spec(rendered).storage).toMatchObject({ ephemeral: true });
  expect(about(rendered, 'persistence.enabled')[0]).toContain('prefer a volume');
});

test('a mistake is reported with the name of the value', () => {
  expect(errorsOf([{ ...noRbac, replicaCount: 9 }]).join('\n')).toContain('replicaCount: ');
  expect(errorsOf([{ ...noRbac, fullnameOverride: 'Orders' }]).join('\n')).toContain('fullnameOverride');
});

test('the guide lists each value that changes what a user gets', () => {
  const guide = readFileSync('docs/clusters/move-from-bitnami.md', 'utf8');
  expect(Object.keys(unequal).filter((key) => !guide.includes(`\`${key}\``))).toEqual([]);
});

test('--resources writes the resource alone', () => {
  const text = 'replicaCount: 3\nauth: {rbac: {create: false}}\n';
  const { yaml } = render(text, { file: 'values.yaml', resources: true });
  expect(yaml).toContain('kind: EtcdCluster');
  expect(yaml).not.toContain('StatefulSet');
});
