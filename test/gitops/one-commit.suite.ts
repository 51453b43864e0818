// A platform repository of three clusters of two teams, applied by each tool in turn, with self-heal and pruning on.
import { join } from 'node:path';
import { EtcdPermission, EtcdTls, EtcdVersion } from '../../src';
import { kubectl } from '../e2e/support/kubectl';
import { slowTest } from '../e2e/support/settings';
import type { Manifest } from '../synth';
import { pipeline } from './support/pipeline';
import type { Commit } from './support/platform';
import { podsOf, Stage } from './support/stage';
import { argocd, argocdServerSide, flux, get, isReady, type Said } from './support/tool';

const users = async (namespace: string): Promise<string[]> =>
  (await get('etcdusers', '-n', namespace)).items.map(({ metadata }: Manifest) => metadata.name).sort();

/** What clients trust. */
const rootOf = async (name: string): Promise<string> =>
  (await get('secret', `${name}-client-tls`, '-n', 'gitops-shop')).data['ca.crt'];

/** When each cluster of the team became ready. */
const readySince = async (): Promise<string[]> =>
  (await get('etcdclusters', '-n', 'gitops-shop')).items.map(({ status }: Manifest) => {
    const { lastTransitionTime } = status.conditions.find(({ type }: Manifest) => type === 'Ready');
    return lastTransitionTime;
  });

const rotated = { tls: EtcdTls.managed({ rootRotation: 'another' }) };
const upgraded = { version: EtcdVersion.of('3.7.3') };

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

  /** Waits until it is so, and meanwhile nothing is out of sync. */
  const becomesInSync = async (what: string, seconds: number, is: () => Promise<boolean>) => {
    const reached = stage.becomes(what, seconds, is);
    const trail = await stage.during(reached, seconds + 60);
    await reached;
    expect(trail.filter(({ isSynced }) => !isSynced).map(({ text }) => text)).toEqual([]);
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
    syncs += 1;
    await stage.isDone('a file has left', 120);
    // Nor does Argo CD try again and again to prune what is protected.
    await nothingMore();
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
    await becomesInSync('it is replaced', 600, async () => (await stage.notReady()).length === 0);
    await stage.isDone('a lost volume');
    await nothingMore();
  });

  slowTest('an upgrade by a commit', async () => {
    await stage.commit({ of: { orders: { size: 5 }, invoices: upgraded } });
    syncs += 1;
    await stage.isDone('an upgrade');
    expect((await stage.cluster('invoices')).status).toMatchObject({ version: '3.7.3', minVersion: '3.7.3' });
    await nothingMore();
  });

  slowTest('a user that is added, and one that is deleted', async () => {
    const beside: Commit['beside'] = (_, orders) => orders.addUser('reports', { can: [EtcdPermission.read('app/')] });
    const of = { orders: { size: 5 }, invoices: upgraded };
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
    await stage.commit({ of: { orders: { size: 5, ...rotated }, invoices: upgraded }, isHasty: true });
    syncs += 1;
    await stage.isDone('new roots asked for');
    await becomesInSync('the new root is the only one', 1200, async () => {
      const certificates = await stage.conditionOf('orders', 'CertificatesReady');
      return certificates?.status === 'True' && !(await rootOf('orders')).includes(before.trim());
    });
    await stage.isDone('new roots');
    expect(await stage.notReady()).toEqual([]);
    await nothingMore();
  });

  slowTest('a reconciler that is killed comes back by itself', async () => {
    const [before] = await podsOf('etcd-reconciler');
    const since = await readySince();
    await kubectl(['delete', 'pod', before!.metadata.name, '-n', 'gitops-shop', '--force']);
    await stage.becomes('another runs', 120, async () => {
      const [pod, ...others] = await podsOf('etcd-reconciler');
      const isAnother = pod !== undefined && others.length === 0 && pod.metadata.uid !== before!.metadata.uid;
      return isAnother && isReady(await get('deployment', 'etcd-reconciler', '-n', 'gitops-shop'));
    });
    await stage.isDone('a killed reconciler');
    await nothingMore();
    // Its successor has not watched the members for long, and must not call them unready.
    expect(await readySince()).toEqual(since);
  });

  slowTest('five to three, and the settings', async () => {
    await stage.commit({ of: { orders: { ...rotated, settings: { 'log-level': 'warn' } }, invoices: upgraded } });
    syncs += 1;
    await stage.isDone('5 to 3 and a roll');
    expect((await stage.cluster('orders')).status).toMatchObject({ voters: 3, readyVoters: 3 });
    await nothingMore();
  });
});
