// Commits that a team takes back, or should have. No data are lost, and the tool and the status say what happened.
import { JsonPatch } from 'cdk8s';
import { EtcdVersion } from '../../src';
import { kubectl } from '../e2e/support/kubectl';
import { slowTest } from '../e2e/support/settings';
import type { Manifest } from '../synth';
import { otherName } from './support/platform';
import { podsOf, Stage } from './support/stage';
import { argocd, get, impatientFlux } from './support/tool';

const isReady = ({ status }: Manifest): boolean =>
  status?.conditions?.some((each: Manifest) => each.type === 'Ready' && each.status === 'True') === true;

describe.each([argocd, impatientFlux].map((tool) => [tool.name, tool] as const))('%s', (_, tool) => {
  const stage = new Stage(tool);
  const conditionOf = (type: string) => stage.conditionOf('orders', type);
  const identity = async () => (await stage.cluster('orders')).status.clusterId;

  let before: string;
  beforeAll(async () => {
    if (process.env.E2E_SMOKE) return;
    await stage.beginWithClusters();
    before = await identity();
  });
  afterAll(() => stage.end());
  const isAsBefore = async (what: string, byHand?: () => Promise<unknown>) => {
    await stage.commit();
    await byHand?.();
    await stage.isDone(what);
    expect(await stage.notReady()).toEqual([]);
    expect(await identity()).toBe(before);
    expect(await stage.troubles()).toEqual([]);
  };

  slowTest('a growth is reverted half way', async () => {
    await stage.commit({ of: { orders: { size: 5 } } });
    await stage.becomes('a fourth member', 300, async () => (await stage.cluster('orders')).status.voters === 4);
    await isAsBefore('a growth reverted');
    expect((await stage.cluster('orders')).status).toMatchObject({ voters: 3, readyVoters: 3 });
  });

  slowTest('an upgrade is reverted half way', async () => {
    // Of five members, so that the revert comes before the last one: the way back ends there.
    await stage.commit({ of: { orders: { size: 5 } } });
    await stage.isDone('five members');
    await stage.commit({ of: { orders: { size: 5, version: EtcdVersion.of('3.7.3') } } });
    await stage.becomes('one member of 3.7', 300, async () => {
      const { members = [] } = (await stage.cluster('orders')).status;
      return members.some(({ version }: Manifest) => version === '3.7.3');
    });
    await stage.commit({ of: { orders: { size: 5 } } });
    await stage.isDone('an upgrade reverted');
    expect((await stage.cluster('orders')).status).toMatchObject({ version: '3.6.16', minVersion: '3.6.16' });
    await isAsBefore('three members again');
  });

  slowTest('a version below that of the data is refused in words, and the cluster serves on', async () => {
    await stage.commit({ of: { orders: { version: EtcdVersion.of('3.5.35') } } });
    await stage.becomes('Stalled', 120, async () => (await conditionOf('Stalled'))?.status === 'True');
    expect(await conditionOf('Accepted')).toMatchObject({ status: 'False', reason: 'DowngradeRefused' });
    expect(await conditionOf('Available')).toMatchObject({ status: 'True' });
    const [said] = (await stage.rounds(20)).slice(-1);
    expect(said?.isHealthy).toBe(false);
    await isAsBefore('a lowered version taken back');
  });

  slowTest('a size of 0, which only a patch of the manifests can ask for, is refused by the API server', async () => {
    const { generation } = (await stage.cluster('orders')).metadata;
    // Argo CD applies the rest of the commit, here a StatefulSet of another version.
    await stage.commit({
      of: { orders: { version: EtcdVersion.of('3.7.3') } },
      beside: (_, { customResource }) => customResource.addJsonPatch(JsonPatch.replace('/spec/size', 0)),
    });
    await stage.becomes('the tool says why', 180, async () =>
      /spec\.size.*greater than or equal to 1/.test((await tool.said()).text),
    );
    expect((await stage.cluster('orders')).spec.size).toBe(3);
    expect((await stage.cluster('orders')).metadata.generation).toBe(generation);
    await stage.rounds(20);
    const { members } = (await stage.cluster('orders')).status;
    expect(members.map(({ version }: Manifest) => version)).toEqual(['3.6.16', '3.6.16', '3.6.16']);
    expect((await podsOf('etcd')).filter(isReady)).toHaveLength(6);
    await isAsBefore('a size of 0 taken back');
  });

  slowTest('the CRDs leave the repository', async () => {
    await stage.commit({ crds: false });
    await stage.rounds();
    expect((await get('crd', 'etcdclusters.cdk8s-etcd.dev')).metadata.deletionTimestamp).toBeUndefined();
    expect(await stage.notReady()).toEqual([]);
    await isAsBefore('the CRDs are back');
  });

  slowTest('the namespace is renamed: the clusters in the former one serve on', async () => {
    await stage.commit({ shop: otherName });
    await stage.becomes(
      'a new cluster',
      300,
      async () => (await get('etcdclusters', '-n', otherName)).items.length === 2,
    );
    await stage.rounds();
    expect((await get('namespace', 'gitops-shop')).metadata.deletionTimestamp).toBeUndefined();
    expect((await podsOf('etcd')).filter(isReady)).toHaveLength(6);
    // Argo CD is OutOfSync until what must not be pruned is gone.
    await isAsBefore('the namespace has its name again', async () => {
      await stage.becomes('the reconciler is back', 300, async () => (await podsOf('etcd-reconciler')).some(isReady));
      await kubectl(['delete', 'namespace', otherName, '--timeout=300s']);
    });
  });

  slowTest('what applies the repository is deleted with all that it applied: the clusters serve on', async () => {
    await tool.endWithPruning();
    await stage.becomes('the reconciler is gone', 120, async () => (await podsOf('etcd-reconciler')).length === 0);
    expect((await podsOf('etcd')).filter(isReady)).toHaveLength(6);
    await tool.begin();
    await isAsBefore('it is applied again');
  });

  if (tool !== argocd) return;

  slowTest('a second Application claims the same clusters: it is named, and the clusters serve on', async () => {
    const { spec } = await get('application.argoproj.io', 'etcd', '-n', 'argocd');
    const second = {
      apiVersion: 'argoproj.io/v1alpha1',
      kind: 'Application',
      metadata: { name: 'etcd-too', namespace: 'argocd' },
      spec,
    };
    await kubectl(['apply', '-f', '-'], JSON.stringify(second));
    await stage.becomes('it is named', 120, async () =>
      /SharedResourceWarning.*EtcdCluster\/orders/.test((await tool.said()).text),
    );
    expect(await stage.notReady()).toEqual([]);
    await kubectl(['delete', 'application.argoproj.io', 'etcd-too', '-n', 'argocd']);
    await isAsBefore('one Application again');
  });

  slowTest('a sync window closes half way through a growth: it is completed, and the next commit waits', async () => {
    const windows = async (syncWindows: object[]) =>
      kubectl([
        'patch',
        'appproject',
        'default',
        '-n',
        'argocd',
        '--type=merge',
        '-p',
        JSON.stringify({ spec: { syncWindows } }),
      ]);
    await stage.commit({ of: { orders: { size: 5 } } });
    await stage.becomes('a fourth member', 300, async () => (await stage.cluster('orders')).status.voters === 4);
    await windows([{ kind: 'deny', schedule: '* * * * *', duration: '1h', applications: ['*'] }]);
    await stage.isDone('a growth in a closed window');
    await stage.commit();
    await stage.rounds();
    expect((await stage.cluster('orders')).spec.size).toBe(5);
    expect(await tool.said()).toMatchObject({ isSynced: false });
    await windows([]);
    await isAsBefore('the window is open');
  });
});
