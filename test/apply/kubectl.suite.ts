// Output of kubectl for the custom resources.
import type { Manifest } from '../synth';
import { backup, cluster, restore } from './good';
import { TestNamespace } from './namespace';
import { crds, schemaOf } from './schema';

let namespace: TestNamespace;
beforeAll(async () => {
  namespace = await TestNamespace.create('kubectl');
  const resources = [
    cluster({ size: 5 }),
    backup({ clusterName: 'orders', schedule: 'hourly' }),
    restore({ source: { backupName: 'before-3.7' } }),
  ];
  await namespace.kubectl(['apply', '--server-side', '-f', '-'], list(resources));
  for (const [index, status] of statuses.entries()) await applyStatus(resources[index], status, 'etcd-reconciler');
});
afterAll(() => namespace?.delete());

const list = (items: readonly Manifest[]) => JSON.stringify({ apiVersion: 'v1', kind: 'List', items });
const now = '2026-11-21T02:38:07Z';
const condition = (type: string, status: string, reason: string) => ({
  type,
  status,
  reason,
  message: 'pod orders-3 is down',
  lastTransitionTime: now,
  observedGeneration: 1,
});
const common = { observedGeneration: 1, message: 'pod orders-3 is down' };
const statuses: readonly Manifest[] = [
  {
    ...common,
    phase: 'Running',
    reason: 'MemberDown',
    epoch: 1,
    clusterId: '8e9e05c52164694d',
    clusterUid: '0d2f6f8e-1c7b-4f39-9a55-2f3b9f0c8a11',
    size: 5,
    readyVoters: 4,
    voters: 5,
    leader: 'orders-2',
    version: '3.6.16',
    minVersion: '3.6.16',
    lastBackup: { id: 'etcd-snapshot-20261121-023807-3f9c2a', at: now, revision: 42, sizeBytes: 9, verified: 'read' },
    observedAt: now,
    members: [{ ordinal: 3, pod: 'orders-3', memberId: '8e9e05c52164694d', role: 'Follower', healthy: false, lag: 7 }],
    conditions: [condition('Available', 'True', 'Serving'), condition('Degraded', 'True', 'MemberDown')],
  },
  {
    ...common,
    phase: 'Failed',
    reason: 'StoreUnreachable',
    source: 'orders',
    revision: 42,
    sizeBytes: 20480,
    verified: 'read',
    startTime: now,
    completionTime: now,
    jobName: 'before-3.7-1a2b3c4d5e',
    conditions: [condition('Failed', 'True', 'StoreUnreachable')],
  },
  {
    ...common,
    phase: 'Draining',
    reason: 'OldPodsRemain',
    snapshotId: 'etcd-snapshot-1',
    startTime: now,
    fencingTime: now,
    conditions: [],
  },
];

async function applyStatus({ apiVersion, kind, metadata }: Manifest, status: Manifest, manager: string): Promise<void> {
  const flags = ['--server-side', '--subresource=status', `--field-manager=${manager}`, '--validate=strict'];
  const manifest = { apiVersion, kind, metadata: { name: metadata.name }, status };
  await namespace.kubectl(['apply', ...flags, '-f', '-'], JSON.stringify(manifest));
}

/** The table of `kubectl get`, by header. */
async function table(...args: string[]): Promise<Record<string, string>> {
  const { stdout } = await namespace.kubectl(['get', ...args]);
  const [header, row] = stdout.split('\n') as [string, string];
  const columns = [...header.matchAll(/\S+(?: \S+)*/g)];
  const cells = columns.map(({ 0: name, index }, at): [string, string] => [
    name,
    row.slice(index, columns[at + 1]?.index).trim(),
  ]);
  return Object.fromEntries(cells);
}

const age = expect.stringMatching(/^\d+[smhd]/);
const rows: [string, string, object][] = [
  [
    'EtcdCluster',
    'etcd',
    {
      SIZE: '5',
      VOTERS: '5',
      READY: '4',
      VERSION: '3.6.16',
      LEADER: 'orders-2',
      PHASE: 'Running',
      'BACKUP-AGE': age,
      OBSERVED: age,
      AGE: age,
      REASON: 'MemberDown',
    },
  ],
  [
    'EtcdBackup',
    'etcdbk',
    {
      PHASE: 'Failed',
      SOURCE: 'orders',
      REVISION: '42',
      SIZE: '20480',
      VERIFIED: 'read',
      AGE: age,
      REASON: 'StoreUnreachable',
    },
  ],
  [
    'EtcdRestore',
    'etcdrs',
    { PHASE: 'Draining', CLUSTER: 'orders', SNAPSHOT: 'etcd-snapshot-1', AGE: age, REASON: 'OldPodsRemain' },
  ],
];

test.each(rows)('kubectl get shows a complete %s by its short name', async (_, shortName, row) => {
  expect(await table(shortName)).toEqual({ NAME: expect.any(String), ...row });
  const wide = { MESSAGE: 'pod orders-3 is down' };
  expect(await table(shortName, '-o', 'wide')).toEqual({ NAME: expect.any(String), ...row, ...wide });
});

test('kubectl get etcd-all shows them all', async () => {
  const { stdout } = await namespace.kubectl(['get', 'etcd-all', '-o', 'name']);
  expect(stdout.split('\n').filter(Boolean).sort()).toEqual([
    'etcdbackup.cdk8s-etcd.dev/before-3.7',
    'etcdcluster.cdk8s-etcd.dev/orders',
    'etcdrestore.cdk8s-etcd.dev/monday',
  ]);
});

test('kubectl wait waits for a condition', async () => {
  await namespace.kubectl(['wait', '--for=condition=Available', 'etcd/orders', '--timeout=10s']);
});

describe('a status', () => {
  const resource = () => namespace.get('etcdcluster/orders');

  test('is complete when it is read back', async () => {
    expect((await resource()).status).toEqual(statuses[0]);
  });

  test('applied again changes nothing', async () => {
    const before = (await resource()).metadata.resourceVersion;
    await applyStatus(await resource(), statuses[0], 'etcd-reconciler');
    expect((await resource()).metadata.resourceVersion).toBe(before);
  });

  test('has conditions of several managers, one of a type', async () => {
    await applyStatus(
      await resource(),
      { conditions: [condition('BackupHealthy', 'False', 'BackupOverdue')] },
      'somebody-else',
    );
    const types = (await resource()).status.conditions.map(({ type }: Manifest) => type);
    expect(types.sort()).toEqual(['Available', 'BackupHealthy', 'Degraded']);
  });

  test('does not change the spec, and the spec does not change it', async () => {
    const { metadata, spec } = await resource();
    expect(metadata.generation).toBe(1);
    await namespace.kubectl(
      ['apply', '--server-side', '-f', '-'],
      list([{ ...cluster({ size: 5 }), status: { phase: 'X' } }]),
    );
    expect(await resource()).toMatchObject({ metadata: { generation: 1 }, spec, status: { phase: 'Running' } });
  });
});

test.each(crds.map((crd) => [crd.spec.names.kind, crd]))(
  'kubectl explain tells of %s and its fields',
  async (_, crd) => {
    const { plural } = crd.spec.names;
    const schema = schemaOf(crd);
    const explain = async (...args: string[]) =>
      (await namespace.kubectl(['explain', ...args])).stdout.replace(/\s+/g, ' ');
    expect(await explain(plural)).toContain(schema.description);
    const spec = await explain(`${plural}.spec`);
    for (const [name, field] of Object.entries<Manifest>(schema.properties.spec.properties)) {
      expect(spec).toContain(`${name} <`);
      expect(spec).toContain(field.description.replace(/\s+/g, ' '));
    }
  },
);
