import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ApiClient } from '../../kube/api-client.ts';
import type { Log } from '../../lib/log.ts';
import type { MemberFlags } from '../node/member-flags.ts';
import { verifyControlPlane, verifyText, verifyUntilHealthy } from './verify.ts';

const node = (port: number) => {
  const member = { listenClientUrls: [`http://127.0.0.1:${port}`], metricsUrls: [] as string[], clientTls: {} };
  return { kind: 'process', source: 'x', dataDir: '/d', member: member as unknown as MemberFlags } as const;
};
const object = (name: string, ready: string, phase?: string) => ({
  metadata: { name },
  status: { phase, conditions: [{ type: 'Ready', status: ready }] },
});
const client = (nodes: object[], pods: object[]) =>
  ({ list: async (path: string) => ({ items: path.endsWith('/nodes') ? nodes : pods }) }) as unknown as ApiClient;
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
