// EtcdBackup and EtcdRestore in Git: each acts once, whatever is applied again, pruned or renamed.
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { JsonPatch } from 'cdk8s';
import { EtcdBackup, EtcdRestore, RestoreSource } from '../../src';
import { kubectl } from '../e2e/support/kubectl';
import { slowTest } from '../e2e/support/settings';
import type { Manifest } from '../synth';
import type { Commit } from './support/platform';
import { Stage } from './support/stage';
import { argocd, flux, get } from './support/tool';

const namespace = 'gitops-shop';
const files = '/etc/etcd/tls/root';

/** As root: with users the certificate of a member may read nothing. */
async function etcdctl(...args: string[]): Promise<string> {
  const tls = [`--cacert=${files}/ca.crt`, `--cert=${files}/tls.crt`, `--key=${files}/tls.key`];
  const command = ['etcdctl', '--endpoints=https://localhost:2379', ...tls, ...args];
  return (await kubectl(['exec', 'orders-0', '-n', namespace, '-c', 'etcd', '--', ...command])).stdout.trim();
}

/** kubectl etcd, as the package has it. */
const plugin = (verb: string, ...args: string[]) =>
  promisify(execFile)(join(__dirname, '../../lib/kubectl-etcd'), [verb, '-n', namespace, ...args]);

/** Gives the containers of etcd root's certificate. */
const plain: Commit['beside'] = (_, { statefulSet }) => {
  const mount = { name: 'root-tls', mountPath: files, readOnly: true };
  statefulSet.addJsonPatch(JsonPatch.add('/spec/template/spec/containers/0/volumeMounts/-', mount));
};

describe.each([argocd, flux].map((tool) => [tool.name, tool] as const))('%s', (_, tool) => {
  const stage = new Stage(tool);
  const epoch = async () => (await stage.cluster('orders')).status.epoch;
  const phaseOf = async (kind: string, name: string): Promise<Manifest> =>
    (await get(kind, name, '-n', namespace)).status;

  const backup: Commit['beside'] = (chart, cluster) => {
    plain(chart, cluster);
    new EtcdBackup(chart, 'monday', { cluster, schedule: 'nightly' });
  };
  const restoreAs =
    (name: string, again?: string): Commit['beside'] =>
    (chart, cluster) => {
      backup(chart, cluster);
      new EtcdRestore(chart, name, { cluster, source: RestoreSource.backup('orders-monday'), again });
    };

  beforeAll(async () => {
    if (process.env.E2E_SMOKE) return;
    await stage.beginWithClusters({ beside: plain });
    await etcdctl('put', 'app/a', 'monday');
  });
  afterAll(() => stage.end());

  slowTest('a backup by a commit', async () => {
    await stage.commit({ beside: backup });
    await stage.isDone('a backup');
    expect(await phaseOf('etcdbackup', 'orders-monday')).toMatchObject({ phase: 'Completed' });
    await etcdctl('put', 'app/a', 'tuesday');
  });

  slowTest('a restore by a commit, and the sync ends when the cluster has its members again', async () => {
    const before = await epoch();
    await stage.commit({ beside: restoreAs('back') });
    await stage.isDone('a restore');
    expect(await phaseOf('etcdrestore', 'orders-back')).toMatchObject({ phase: 'Completed', reason: 'Restored' });
    expect(await etcdctl('get', 'app/a', '--print-value-only')).toBe('monday');
    expect(await epoch()).toBe(before + 1);
    expect(await stage.notReady()).toEqual([]);
    expect(await stage.troubles()).toEqual([]);
    await etcdctl('put', 'app/a', 'wednesday');
  });

  slowTest('deleted in Git, brought back, renamed: nothing is restored again', async () => {
    const before = await epoch();
    await stage.commit({ beside: plain });
    await stage.isDone('no requests any more');
    await stage.becomes(
      'the restore is pruned',
      60,
      async () => (await get('etcdrestores', '-n', namespace)).items.length === 0,
    );
    await stage.commit({ beside: restoreAs('back') });
    await stage.isDone('the requests are back');
    expect(await phaseOf('etcdrestore', 'orders-back')).toMatchObject({
      phase: 'Completed',
      reason: 'AlreadyRestored',
    });
    await stage.commit({ beside: restoreAs('renamed') });
    await stage.becomes(
      'it is refused',
      120,
      async () => (await phaseOf('etcdrestore', 'orders-renamed').catch(() => undefined))?.phase === 'Failed',
    );
    expect(await phaseOf('etcdrestore', 'orders-renamed')).toMatchObject({ reason: 'RestoredUnderOtherName' });
    const [said] = (await stage.rounds(20)).slice(-1);
    expect(said?.isHealthy).toBe(false);
    await stage.commit({ beside: plain });
    await stage.isDone('without the renamed one');
    expect(await epoch()).toBe(before);
    expect(await etcdctl('get', 'app/a', '--print-value-only')).toBe('wednesday');
    expect(await stage.troubles()).toEqual([]);
  });

  slowTest('a restore that is deleted in Git half way leaves a cluster that serves', async () => {
    const before = await epoch();
    await stage.commit({ beside: backup });
    await stage.isDone('a backup of wednesday');
    await etcdctl('put', 'app/a', 'thursday');
    await stage.commit({ beside: restoreAs('half', 'once more') });
    await stage.becomes('it runs', 120, async () => {
      const all: Manifest[] = (await get('etcdrestores', '-n', namespace)).items;
      return all.some(
        ({ metadata, status }) => metadata.name === 'orders-half' && /Fencing|Draining|Restoring/.test(status?.phase),
      );
    });
    await stage.commit({ beside: backup });
    await stage.isDone('a restore reverted');
    expect(await stage.notReady()).toEqual([]);
    const value = await etcdctl('get', 'app/a', '--print-value-only');
    expect([`${before} thursday`, `${before + 1} wednesday`]).toContain(`${await epoch()} ${value}`);
    expect(await stage.troubles()).toEqual([]);
  });

  slowTest('at three in the morning: kubectl etcd restore, no commit and no pause', async () => {
    const before = await epoch();
    const { syncs } = await tool.said();
    await etcdctl('put', 'app/a', 'a mistake');
    const restored = plugin('restore', 'orders', '--backup', 'orders-monday', '--yes');
    const trail = await stage.during(restored, 900);
    expect((await restored).stdout).toMatch(/^orders-restore-\S+: Completed in /m);
    expect(trail.filter(({ isSynced }) => !isSynced).map(({ text }) => text)).toEqual([]);
    await stage.isDone('the members are back');
    expect(await epoch()).toBe(before + 1);
    expect(await etcdctl('get', 'app/a', '--print-value-only')).toBe('wednesday');
    const { items } = await get('etcdrestores', '-n', namespace);
    await stage.rounds();
    expect((await get('etcdrestores', '-n', namespace)).items).toHaveLength(items.length);
    expect((await tool.said()).syncs).toBe(syncs);
    expect(await stage.notReady()).toEqual([]);
    expect(await stage.troubles()).toEqual([]);
  });
});
