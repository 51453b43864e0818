// Commits that a team takes back, or should have. No data are lost, and the tool and the status say what happened.
import { EtcdVersion } from '../../src';
import { slowTest } from '../e2e/support/settings';
import type { Manifest } from '../synth';
import { Stage } from './support/stage';
import { argocd, flux } from './support/tool';

describe.each([argocd, flux].map((tool) => [tool.name, tool] as const))('%s', (_, tool) => {
  const stage = new Stage(tool);
  const conditionOf = async (type: string) =>
    (await stage.cluster('orders')).status.conditions.find((each: Manifest) => each.type === type);
  const identity = async () => (await stage.cluster('orders')).status.clusterId;

  let before: string;
  beforeAll(async () => {
    if (process.env.E2E_SMOKE) return;
    await stage.beginWithClusters();
    before = await identity();
  });
  afterAll(() => stage.end());
  const isAsBefore = async (what: string) => {
    stage.commit();
    await stage.isDone(what);
    expect(await stage.notReady()).toEqual([]);
    expect(await identity()).toBe(before);
    expect(await stage.troubles()).toEqual([]);
  };

  slowTest('a growth is reverted half way', async () => {
    stage.commit({ of: { orders: { size: 5 } } });
    await stage.becomes('a fourth member', 300, async () => (await stage.cluster('orders')).status.voters === 4);
    await isAsBefore('a growth reverted');
    expect((await stage.cluster('orders')).status).toMatchObject({ voters: 3, readyVoters: 3 });
  });

  slowTest('an upgrade is reverted half way', async () => {
    stage.commit({ of: { orders: { version: EtcdVersion.of('3.7.3') } } });
    await stage.becomes('one member of 3.7', 300, async () => {
      const { members = [] } = (await stage.cluster('orders')).status;
      return members.some(({ version }: Manifest) => version === '3.7.3');
    });
    await isAsBefore('an upgrade reverted');
    expect((await stage.cluster('orders')).status).toMatchObject({ version: '3.6.16', minVersion: '3.6.16' });
  });

  slowTest('a version below that of the data is refused in words, and the cluster serves on', async () => {
    stage.commit({ of: { orders: { version: EtcdVersion.of('3.5.35') } } });
    await stage.becomes('Stalled', 120, async () => (await conditionOf('Stalled'))?.status === 'True');
    expect(await conditionOf('Accepted')).toMatchObject({ status: 'False', reason: 'DowngradeRefused' });
    expect(await conditionOf('Available')).toMatchObject({ status: 'True' });
    const [said] = (await stage.rounds(20)).slice(-1);
    expect(said?.isHealthy).toBe(false);
    await isAsBefore('a lowered version taken back');
  });
});
