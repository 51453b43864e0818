// A platform repository of three clusters of two teams, applied by each tool in turn, with self-heal and pruning on.
import { join } from 'node:path';
import { EtcdPermission, EtcdTls, EtcdVersion } from '../../src';
import { kubectl } from '../e2e/support/kubectl';
import { slowTest } from '../e2e/support/settings';
import type { Manifest } from '../synth';
import { pipeline } from './support/pipeline';
import type { Commit } from './support/platform';
import { Stage } from './support/stage';
import { argocd, argocdServerSide, flux, get, isReady, type Said } from './support/tool';

const users = async (namespace: string): Promise<string[]> =>
  (await get('etcdusers', '-n', namespace)).items.map(({ metadata }: Manifest) => metadata.name).sort();

/** What clients trust. */
const rootOf = async (name: string): Promise<string> =>
  (await get('secret', `${name}-client-tls`, '-n', 'gitops-shop')).data['ca.crt'];

const tools = process.env.E2E_SMOKE ? [argocd, flux] : [argocd, flux, argocdServerSide, pipeline()];

test('the ApplicationSet of the guide is valid', async () => {
  await kubectl(['apply', '--dry-run=server', '-f', join(__dirname, '../../gitops/argocd/applicationset.yaml')]);
});

describe.each(tools.map((tool) => [tool.name, tool] as const))('%s', (_, tool) => {
  const stage = new Stage(tool);
  beforeAll(() => stage.begin());
  afterAll(() => stage.end());

  /** Syncs so far, for a tool that counts them. */
  let syncs = 0;
  const nothingMore = async () => {
    const before = await stage.generations();
    const trail = await stage.rounds();
    const isWell = ({ isSynced, isHealthy, isComparing }: Said) => isSynced && (isHealthy || isComparing);
    expect(trail.filter((each) => !isWell(each)).map(({ text }) => text)).toEqual([]);
    expect(await stage.generations()).toEqual(before);
    if (trail[0]?.syncs !== undefined) expect(trail.at(-1)!.syncs).toBe(syncs);
    expect(await stage.troubles()).toEqual([]);
  };

  test('one commit onto an empty Kubernetes, one sync, and it is called well when it is', async () => {
    await stage.commit();
    await tool.begin();
    const trail = await stage.isDone('three clusters from nothing');
    expect(await stage.notReady()).toEqual([]);
    expect(trail.filter(({ text }) => /Failed|error/i.test(text)).map(({ text }) => text)).toEqual([]);
    syncs = 1;
    await stage.addClaims();
    await nothingMore();
  });

  test('three to five by a commit, without another sync', async () => {
    await stage.commit({ of: { orders: { size: 5 } } });
    syncs += 1;
    await stage.isDone('3 to 5');
    expect(await stage.notReady()).toEqual([]);
    expect((await stage.cluster('orders')).status).toMatchObject({ voters: 5, readyVoters: 5 });
    await nothingMore();
  });

  test('a file that leaves the repository leaves the cluster, and its return changes nothing', async () => {
    const before = (await stage.cluster('search')).metadata.uid;
    await stage.commit({ of: { orders: { size: 5 }, search: undefined } });
    await stage.rounds(40);
    expect((await stage.cluster('search')).metadata).toMatchObject({ uid: before });
    expect((await stage.cluster('search')).metadata.deletionTimestamp).toBeUndefined();
    expect(await stage.notReady()).toEqual([]);
    await stage.commit({ of: { orders: { size: 5 } } });
    await stage.isDone('the file is back');
    expect((await stage.cluster('search')).metadata.uid).toBe(before);
    // Argo CD counts a sync when it has ended, some seconds after it says Synced and Healthy.
    syncs = (await stage.rounds(30)).at(-1)!.syncs ?? 0;
  });

  slowTest('a lost volume is no drift', async () => {
    const [pod, claim] = ['pod/orders-1', 'pvc/data-orders-1'];
    await kubectl(['delete', claim, pod, '-n', 'gitops-shop', '--wait=false']);
    await stage.becomes('a member is missed', 120, async () => (await stage.notReady()).length > 0);
    const replaced = stage.becomes('it is replaced', 600, async () => (await stage.notReady()).length === 0);
    const trail = await stage.during(replaced);
    await replaced;
    expect(trail.filter(({ isSynced }) => !isSynced).map(({ text }) => text)).toEqual([]);
    await stage.isDone('a lost volume');
    await nothingMore();
  });

  slowTest('an upgrade by a commit', async () => {
    await stage.commit({ of: { orders: { size: 5 }, invoices: { version: EtcdVersion.of('3.7.3') } } });
    syncs += 1;
    await stage.isDone('an upgrade');
    expect((await stage.cluster('invoices')).status).toMatchObject({ version: '3.7.3', minVersion: '3.7.3' });
    await nothingMore();
  });

  slowTest('a user that is added, and one that is deleted', async () => {
    const beside: Commit['beside'] = (_, orders) => orders.addUser('reports', { can: [EtcdPermission.read('app/')] });
    const of = { orders: { size: 5 }, invoices: { version: EtcdVersion.of('3.7.3') } };
    await stage.commit({ of, beside });
    syncs += 1;
    await stage.isDone('a user');
    expect(isReady(await get('etcduser', 'orders-reports', '-n', 'gitops-shop'))).toBe(true);
    await nothingMore();
    await stage.commit({ of });
    syncs += 1;
    await stage.isDone('a user deleted');
    await stage.becomes('it is gone', 60, async () => (await users('gitops-shop')).join() === 'orders-app,search-app');
    await nothingMore();
  });

  slowTest('both roots are replaced', async () => {
    const before = await rootOf('orders');
    const tls = EtcdTls.managed({ rootRotation: 'another' });
    const of = { orders: { size: 5, tls }, invoices: { version: EtcdVersion.of('3.7.3') } };
    await stage.commit({ of, isHasty: true });
    syncs += 1;
    await stage.isDone('new roots asked for');
    const replaced = stage.becomes('the new root is the only one', 1200, async () => {
      const certificates = (await stage.cluster('orders')).status.conditions.find(
        ({ type }: Manifest) => type === 'CertificatesReady',
      );
      return certificates?.status === 'True' && !(await rootOf('orders')).includes(before.trim());
    });
    const trail = await stage.during(replaced);
    await replaced;
    expect(trail.filter(({ isSynced }) => !isSynced).map(({ text }) => text)).toEqual([]);
    await stage.isDone('new roots');
    expect(await stage.notReady()).toEqual([]);
    await nothingMore();
  });

  slowTest('a reconciler that is killed comes back by itself', async () => {
    const label = ['-n', 'gitops-shop', '-l', 'app.kubernetes.io/name=etcd-reconciler'];
    const [before] = (await get('pods', ...label)).items;
    await kubectl(['delete', 'pod', ...label, '--force']);
    await stage.becomes('another runs', 120, async () => {
      const { items } = await get('pods', ...label);
      const isAnother = items.length === 1 && items[0].metadata.uid !== before.metadata.uid;
      return isAnother && isReady(await get('deployment', 'etcd-reconciler', '-n', 'gitops-shop'));
    });
    await stage.isDone('a killed reconciler');
    await nothingMore();
  });

  slowTest('five to three, and the settings', async () => {
    const tls = EtcdTls.managed({ rootRotation: 'another' });
    const invoices = { version: EtcdVersion.of('3.7.3') };
    await stage.commit({ of: { orders: { tls, settings: { 'log-level': 'warn' } }, invoices } });
    syncs += 1;
    await stage.isDone('5 to 3 and a roll');
    expect((await stage.cluster('orders')).status).toMatchObject({ voters: 3, readyVoters: 3 });
    await nothingMore();
  });
});
