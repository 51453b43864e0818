import { ago, condition, PluginTest, paths } from './plugin.fixture.ts';

let plugin: PluginTest;
beforeEach(async () => {
  plugin = await PluginTest.start();
  plugin.putCluster('orders', {}, { backup: { schedules: [{ name: 'hourly', stores: [{ s3: { bucket: 'b' } }] }] } });
});
afterEach(() => plugin[Symbol.asyncDispose]());

/** What a verb prints, on one line. */
async function printed(args: string): Promise<string> {
  const { out, err } = await plugin.run(args);
  return `${out} ${err}`.replaceAll(/\s+/g, ' ');
}

const ours = String.raw`-n shop --context=test --kubeconfig=\S+config\b`;
const theirs = String.raw`--context=test --kubeconfig=\S+config`;

describe('a command that is printed is for the same namespace and context', () => {
  test.each([
    ['backup --no-wait', 'kubectl etcd backups orders'],
    ['restore --snapshot s1 --no-wait --yes', 'kubectl etcd status orders --watch'],
    ['restart', 'kubectl etcd status orders --watch'],
    ['replace 1 --yes', 'kubectl etcd status orders --watch'],
    ['pause', 'kubectl etcd resume orders'],
  ])('after %s: %s', async (verb, command) => {
    plugin.api.put(paths.of('statefulsets', 'orders'), { spec: { template: {} } });
    expect(await printed(verb)).toMatch(new RegExp(`${command} ${ours}`));
  });

  test('in the status', async () => {
    plugin.putCluster('orders', { observedAt: ago(90_000) }, { paused: true });
    plugin.api.put(paths.of('pods', 'orders-1'), {
      metadata: {
        labels: {
          'app.kubernetes.io/name': 'etcd',
          'app.kubernetes.io/instance': 'orders',
          'app.kubernetes.io/component': 'member',
        },
      },
      status: { initContainerStatuses: [{ name: 'gate', state: { running: {} } }] },
    });
    plugin.api.put(paths.of('etcdrestores', 'r1'), {
      spec: { clusterName: 'orders' },
      status: { phase: 'Completed', startTime: ago(1000) },
    });
    const text = await printed('status');
    expect(text).toMatch(new RegExp(`kubectl ${theirs} get deployment,pods,lease -n shop`));
    expect(text).toMatch(new RegExp(`kubectl ${theirs} logs orders-1 -c gate -n shop says`));
    expect(text).toMatch(new RegExp(`nothing is changed until kubectl etcd resume orders ${ours}`));
    expect(text).toMatch(new RegExp(`no later backup is known: kubectl etcd backup orders ${ours}`));
  });

  test('if a verb is refused', async () => {
    expect(await printed('status none')).toMatch(new RegExp(`kubectl etcd list -A ${theirs} shows all`));
    const { status } = plugin.api.object<{ status: { members: object[] } }>(paths.of('etcdclusters', 'orders'))!;
    const members = status.members.map((each) => ({ ...each, healthy: false }));
    plugin.putCluster('orders', {
      members: members as never,
      conditions: [condition('Available', 'True', 'Serving', 'x')],
    });
    expect(await printed('defrag')).toMatch(new RegExp(`kubectl etcd status orders ${ours} says why`));
  });
});
