import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FakeApi } from '../../../src/controllers/kubernetes/fake-api.fixture.ts';
import { groupVersion, Paths } from '../../../src/kube/paths.ts';

test('the reconciler of the crash suites ends once at each point, and goes on when it starts again', async () => {
  await using api = await FakeApi.listen();
  const paths = new Paths('shop');
  const container = { name: 'etcd', image: 'registry.k8s.io/etcd:v3.6.16' };
  api.put(paths.of('statefulsets', 'orders'), {
    ...{ apiVersion: 'apps/v1', kind: 'StatefulSet', metadata: {} },
    spec: { replicas: 0, template: { metadata: {}, spec: { initContainers: [], containers: [container] } } },
  });
  api.put(paths.of('etcdclusters', 'orders'), {
    ...{ apiVersion: groupVersion, kind: 'EtcdCluster', metadata: { generation: 1 } },
    spec: { size: 1, version: '3.6.16', storage: { size: '8Gi' } },
  });
  const directory = mkdtempSync(join(tmpdir(), 'crashing-'));
  const crashes = join(directory, 'crashes');
  const kubeconfig = join(directory, 'kubeconfig');
  const cluster = { server: api.access.server.origin, 'insecure-skip-tls-verify': true };
  const content = {
    ...{ apiVersion: 'v1', kind: 'Config', 'current-context': 'x', users: [{ name: 'x', user: {} }] },
    clusters: [{ name: 'x', cluster }],
    contexts: [{ name: 'x', context: { cluster: 'x', user: 'x', namespace: 'shop' } }],
  };
  writeFileSync(kubeconfig, JSON.stringify(content));

  const entry = join(import.meta.dirname, 'agent-crashing.mts');
  const env = { ...process.env, KUBECONFIG: kubeconfig, CRASH_ONCE_DIR: crashes, POD_NAME: 'me' };
  const run = () => {
    const { promise, resolve } = Promise.withResolvers<number | null>();
    const args = [entry, 'reconcile', '--listen=127.0.0.1:0'];
    spawn(process.execPath, args, { env, stdio: 'ignore' }).once('exit', resolve);
    return promise;
  };
  const points = () => readdirSync(crashes).map(decodeURIComponent);
  expect([await run(), points()]).toEqual([137, ['before InitRecord']]);
  expect(await run()).toBe(137);
  expect(points()).toHaveLength(2);
  rmSync(directory, { recursive: true });
}, 60_000);

test('the build of the image for tests names the files where they are', () => {
  const root = join(import.meta.dirname, '../../..');
  const build = readFileSync(join(root, 'build.mjs'), 'utf8');
  const entries = [...build.matchAll(/'(test\/local\/[^']*\.mts)'/g)].map(([, entry]) => join(root, entry!));
  expect(entries).toEqual(['agent-crashing.mts', 'agent-hasty.mts'].map((name) => join(import.meta.dirname, name)));
  expect(entries.filter((entry) => !existsSync(entry))).toEqual([]);
});
