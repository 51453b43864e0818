import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { verifyText } from '../../commands/restore/control-plane.ts';
import type { ApiClient } from '../../kube/api-client.ts';
import type { Log } from '../../lib/log.ts';
import type { MemberFlags } from '../node/member-flags.ts';
import { healthUrl, verifyControlPlane, verifyUntilHealthy } from './verify.ts';

const node = (port: number) => {
  const member = { listenClientUrls: [`http://127.0.0.1:${port}`], metricsUrls: [] as string[], clientTls: {} };
  return { kind: 'process', source: 'x', dataDir: '/d', member: member as unknown as MemberFlags } as const;
};
const object = (name: string, ready: string, phase?: string, resourceVersion = '5') => ({
  metadata: { name, resourceVersion },
  status: { phase, conditions: [{ type: 'Ready', status: ready }] },
});
const lease = (name: string, resourceVersion: string) => ({ metadata: { name, resourceVersion } });
/** Leases without an own list: one of each node, as new as the node. What is not listed here has never been written. */
const client = (nodes: ReturnType<typeof object>[], pods: object[], leases: object[] = nodes, leaders: object[] = []) =>
  ({
    list: async (path: string) => {
      if (path.endsWith('/kube-node-lease/leases')) return { items: leases };
      if (path.endsWith('/kube-system/leases')) return { items: leaders };
      return { items: path.endsWith('/nodes') ? nodes : pods };
    },
  }) as unknown as ApiClient;
const rest = { manifestsDir: '/nowhere', since: new Date(), logs: [] };

async function withEtcd<T>(status: number, work: (port: number) => Promise<T>): Promise<T> {
  const server = createServer((_, response) => response.writeHead(status).end()).listen(0, '127.0.0.1');
  try {
    await new Promise((done) => server.once('listening', done));
    return await work((server.address() as AddressInfo).port);
  } finally {
    server.close();
  }
}

test('no problems', async () => {
  const pods = [object('etcd-cp1', 'True', 'Running'), object('job', 'False', 'Succeeded')];
  const report = await withEtcd(200, (port) =>
    verifyControlPlane({ ...rest, node: node(port), client: client([object('cp1', 'True')], pods) }),
  );
  expect(report.problems).toEqual([]);
  expect(verifyText(report)).toMatch(/node +cp1 +Ready\npod +etcd-cp1 +Running\n.*\nno problems$/s);
});

test('a pod that was evicted last week is not a problem: another one has taken its place', async () => {
  const pods = [object('coredns-old', 'False', 'Failed'), object('coredns-new', 'True', 'Running')];
  const report = await withEtcd(200, (port) =>
    verifyControlPlane({ ...rest, node: node(port), client: client([object('cp1', 'True')], pods) }),
  );
  expect(report.problems).toEqual([]);
  expect(verifyText(report)).toMatch(/pod +coredns-old +Failed\n/);
});

test.each([
  [[], 'https://127.0.0.1:10257/healthz'],
  [['--secure-port=20257'], 'https://127.0.0.1:20257/healthz'],
  [['--bind-address=0.0.0.0'], 'https://127.0.0.1:10257/healthz'],
  [['--bind-address=10.0.0.1', '--secure-port=1'], 'https://10.0.0.1:1/healthz'],
  [['--bind-address=::'], 'https://[::1]:10257/healthz'],
  [['--bind-address=fd00::1'], 'https://[fd00::1]:10257/healthz'],
  [['--secure-port=0'], undefined],
])('a component with %j is asked where it listens', async (flags, url) => {
  const folder = await mkdtemp(join(tmpdir(), 'verify-'));
  const command = ['kube-controller-manager', ...flags];
  const spec = { containers: [{ name: 'kube-controller-manager', command }] };
  await writeFile(join(folder, 'kube-controller-manager.yaml'), JSON.stringify({ kind: 'Pod', spec }));
  expect(await healthUrl(folder, 'kube-controller-manager', '10257')).toBe(url);
  await rm(folder, { recursive: true });
});

test('problems are reported, one line each', async () => {
  const pods = [object('coredns', 'False', 'Running')];
  const { problems } = await withEtcd(503, (port) =>
    verifyControlPlane({ ...rest, node: node(port), client: client([object('cp2', 'Unknown')], pods) }),
  );
  expect(problems).toEqual([
    expect.stringMatching(/^etcd: etcd answers 503 .*no quorum/),
    'node cp2 is not Ready',
    'pod kube-system/coredns is Running, not Ready',
  ]);
});

describe('after a restore, what the snapshot says does not count', () => {
  const restored = { clusterId: 'c1', revision: 1_000_000_100 };
  const ready = (name: string, version: string) => object(name, 'True', undefined, version);
  const report = async (nodes: ReturnType<typeof object>[], leases?: object[]) => {
    const api = client(nodes, [object('coredns', 'True', 'Running', '40')], leases);
    const { problems } = await verifyControlPlane({ ...rest, node: node(1), restored, client: api });
    return problems.filter((line) => !line.startsWith('etcd:'));
  };

  test('a node that has not reported since is not Ready, whoever changed its object', async () => {
    expect(await report([ready('cp1', '1000000101')])).toEqual([]);
    const silent = /^node cp3 has not reported since the restore/;
    expect(await report([ready('cp3', '90')])).toEqual([expect.stringMatching(silent)]);
    // The first objects are written right after the revision that the restore has made.
    expect(await report([ready('cp3', '1000000100')])).toEqual([expect.stringMatching(silent)]);
    const changed = await report([ready('cp3', '1000000500')], [lease('cp3', '90')]);
    expect(changed).toEqual([expect.stringMatching(silent)]);
    const early = await report([ready('cp3', '90')], [lease('cp3', '1000000500')]);
    expect(early).toEqual([expect.stringMatching(silent)]);
  });

  test('a node without a Lease reports by its status', async () => {
    expect(await report([ready('virtual', '1000000101')], [])).toEqual([]);
  });

  test('controller-manager and scheduler must lead again', async () => {
    const manifestsDir = await mkdtemp(join(tmpdir(), 'verify-'));
    const manifest = (name: string, ...flags: string[]) =>
      writeFile(
        join(manifestsDir, `${name}.yaml`),
        JSON.stringify({ kind: 'Pod', spec: { containers: [{ name, command: [name, ...flags] }] } }),
      );
    const problems = async (leaders: object[]) => {
      const request = { ...rest, manifestsDir, node: node(1), restored, client: client([], [], [], leaders) };
      return (await verifyControlPlane(request)).problems.filter((line) => line.includes('leader'));
    };
    try {
      await manifest('kube-controller-manager');
      await manifest('kube-scheduler');
      const old = [lease('kube-controller-manager', '70'), lease('kube-scheduler', '1000000107')];
      expect(await problems(old)).toEqual([
        'kube-controller-manager has had no leader since the restore: its Lease is that of the snapshot',
      ]);
      expect(await problems([lease('kube-scheduler', '1000000107')])).toEqual([
        'kube-controller-manager has had no leader since the restore: it has no Lease',
      ]);
      await manifest('kube-controller-manager', '--leader-elect=false');
      expect(await problems(old)).toEqual([]);
    } finally {
      await rm(manifestsDir, { recursive: true });
    }
  });

  test('no problems must last as long as kubelets take to report their pods', async () => {
    const asked: number[] = [];
    const pods = () => [object('coredns', asked.length === 2 ? 'False' : 'True', 'Running')];
    const api = {
      list: async (path: string) => {
        if (path.endsWith('/nodes')) asked.push(Date.now());
        return { items: path.endsWith('/pods') ? pods() : [] };
      },
    } as unknown as ApiClient;
    const log = { warn: () => {} } as unknown as Log;
    const waiting = { signal: new AbortController().signal, log, limit: 1_000 };
    await withEtcd(200, async (port) => {
      const request = { ...rest, node: node(port), client: api };
      expect((await verifyUntilHealthy(request, waiting, 700)).problems).toEqual([]);
    });
    expect(asked.length).toBeGreaterThanOrEqual(4);
    expect(asked.at(-1)! - asked[2]!).toBeGreaterThanOrEqual(700);
  });
});

test('nodes and pods that could not be checked are a problem', async () => {
  const manifestsDir = await mkdtemp(join(tmpdir(), 'verify-'));
  const pod = { kind: 'Pod', spec: { containers: [{ name: 'kube-apiserver', command: ['x', '--secure-port=1'] }] } };
  await writeFile(join(manifestsDir, 'kube-apiserver.yaml'), JSON.stringify(pod));
  try {
    const noClient = 'nodes and pods are not checked';
    const { problems } = await verifyControlPlane({ ...rest, manifestsDir, node: node(1), noClient });
    expect(problems).toContain(noClient);
  } finally {
    await rm(manifestsDir, { recursive: true });
  }
});

test('an API server that cannot be queried is a problem', async () => {
  const broken = { list: () => Promise.reject(new Error('refused')) } as unknown as ApiClient;
  const report = await withEtcd(200, (port) => verifyControlPlane({ ...rest, node: node(port), client: broken }));
  expect(report.problems).toEqual(['the API server cannot be queried: refused']);
});

test('it waits until the problems are gone, as after the restart of a kubelet, but not longer than the limit', async () => {
  let asked = 0;
  const starting = {
    list: async (path: string) => ({
      items: path.endsWith('/nodes') ? [object('cp1', ++asked > 2 ? 'True' : 'Unknown')] : [],
    }),
  } as unknown as ApiClient;
  const log = { warn: () => {} } as unknown as Log;
  await withEtcd(200, async (port) => {
    const request = { ...rest, node: node(port), client: starting };
    const waiting = { signal: new AbortController().signal, log };
    expect((await verifyUntilHealthy(request, { ...waiting, limit: 30_000 })).problems).toEqual([]);
    expect(asked).toBe(3);
    asked = -100;
    expect((await verifyUntilHealthy(request, { ...waiting, limit: 1 })).problems).toEqual(['node cp1 is not Ready']);
  });
});
