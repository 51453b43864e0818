// Times of machines whose clocks are ahead.
import { ago, PluginTest, paths } from '../plugin.fixture.ts';

let plugin: PluginTest;
beforeEach(async () => {
  plugin = await PluginTest.start();
  plugin.putCluster('orders');
});
afterEach(() => plugin[Symbol.asyncDispose]());

const future = ago(-7200);
const status = async (): Promise<string> => (await plugin.run('status')).out;

test('a restore that began in the future', async () => {
  plugin.api.put(paths.of('etcdrestores', 'r1'), {
    spec: { clusterName: 'orders' },
    status: { phase: 'Draining', startTime: future, message: 'on its way' },
  });
  expect(await status()).toContain('Restoring, phase Draining by EtcdRestore r1, for ?\n');
});

test('a last backup in the future hides no failure, and is not new', async () => {
  plugin.putCluster('orders', { lastBackup: { id: 's1', at: future, schedule: 'hourly' } });
  plugin.api.put(paths.of('etcdbackups', 'b1'), {
    metadata: { creationTimestamp: ago(60) },
    spec: { clusterName: 'orders' },
    status: { phase: 'Failed', completionTime: ago(30), message: 'no space' },
  });
  const out = await status();
  expect(out).toContain('last good: ? ago');
  expect(out).toMatch(/failed since: b1, \d+s ago: no space/);
});

test('a backup that failed in the future is not newer than a good one after it', async () => {
  const put = (created: number) =>
    plugin.api.put(paths.of('etcdbackups', 'b1'), {
      metadata: { creationTimestamp: ago(created) },
      spec: { clusterName: 'orders' },
      status: { phase: 'Failed', completionTime: future, message: 'no space' },
    });
  // The last good one is 1400 seconds old.
  put(2000);
  expect(await status()).not.toContain('failed since');
  put(125);
  expect(await status()).toMatch(/failed since: b1, 2m [\ds ]*ago/);
});

test('a warning in the future is as old as its Event', async () => {
  const put = (name: string, created: number, lastTimestamp: string) =>
    plugin.api.put(paths.of('events', name), {
      metadata: { creationTimestamp: ago(created) },
      involvedObject: { kind: 'Pod', name: 'orders-0' },
      ...{ type: 'Warning', reason: name, message: 'x', lastTimestamp },
    });
  put('Old', 3000, future);
  put('Recent', 305, future);
  put('New', 300, ago(100));
  const out = await status();
  expect(out).not.toContain('Old');
  expect(out).toMatch(/1m \d+s ago: Pod orders-0: New: x\n {2}5m [\ds ]*ago: Pod orders-0: Recent/);
});

test('what is lost with a backup of the future is what came after the request for it', async () => {
  plugin.api.put(paths.of('etcdbackups', 'b1'), {
    metadata: { creationTimestamp: ago(5405) },
    spec: { clusterName: 'orders' },
    status: { phase: 'Completed', snapshotId: 's1', startTime: future, completionTime: future },
  });
  const { err } = await plugin.run('restore --backup b1', { answers: ['no'] });
  expect(err).toMatch(/LOST is everything that was written after \S+ \(1h 30m[\ds ]* ago\)/);
});

test('a restore that ends before it began took an unknown time', async () => {
  plugin.api.put(paths.of('etcdbackups', 'b1'), {
    spec: { clusterName: 'orders' },
    status: { phase: 'Completed', snapshotId: 's1', startTime: ago(60) },
  });
  const running = plugin.run('restore --backup b1 --yes --as r1');
  const path = paths.of('etcdrestores', 'r1');
  while (!plugin.api.object(path)) await new Promise((resolve) => setTimeout(resolve, 20));
  plugin.api.put(path, {
    ...plugin.api.object(path),
    status: { phase: 'Completed', snapshotId: 's1', startTime: future, completionTime: ago(0) },
  });
  expect(await running).toMatchObject({ exit: 0, out: expect.stringContaining('Completed in ?: snapshot s1') });
});
