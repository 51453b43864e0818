import { failure } from '../controllers/kubernetes/fake-api.fixture.ts';
import { PluginTest, paths } from './plugin.fixture.ts';

let plugin: PluginTest;
beforeEach(async () => {
  plugin = await PluginTest.start();
  plugin.putCluster('orders');
});
afterEach(() => plugin[Symbol.asyncDispose]());

const labels = {
  'app.kubernetes.io/name': 'etcd',
  'app.kubernetes.io/instance': 'orders',
  'app.kubernetes.io/component': 'member',
};

function putPod(name: string, containers: readonly { name: string }[], more: object = labels, status?: object): void {
  plugin.api.put(paths.of('pods', name), {
    metadata: { labels: more },
    spec: { containers },
    status: { containerStatuses: containers.map((each) => ({ name: each.name, ...status })) },
  });
}

const putLog = (pod: string, ...lines: string[]) =>
  plugin.texts.set(`${paths.of('pods', pod)}/log`, `${lines.join('\n')}\n`);

beforeEach(() => {
  putPod('orders-0', [{ name: 'etcd' }]);
  putPod('etcd-reconciler-x', [{ name: 'reconciler' }], { 'app.kubernetes.io/name': 'etcd-reconciler' });
  putLog('orders-0', '2026-11-26T10:00:00.1Z first', '2026-11-26T10:00:02.123456789Z third');
  putLog('etcd-reconciler-x', '2026-11-26T10:00:01.5Z second');
});

test('of all containers, by time', async () => {
  const { out, exit } = await plugin.run('logs');
  expect(exit).toBe(0);
  expect(
    out
      .trimEnd()
      .split('\n')
      .map((line) => line.split(' ').at(-1)),
  ).toEqual(['first', 'second', 'third']);
  expect(out).toContain('2026-11-26T10:00:02.123Z orders-0 etcd: third\n');
  expect((await plugin.run('logs -c reconciler')).out).toMatch(/^\S+ etcd-reconciler-x reconciler: second\n$/);
});

test('one that cannot be read is named, and the others go on', async () => {
  plugin.texts.delete(`${paths.of('pods', 'orders-0')}/log`);
  const { out, err, exit } = await plugin.run('logs --since 1h');
  expect({ exit, lines: out.split('\n').length }).toEqual({ exit: 0, lines: 2 });
  expect(err).toMatch(/^orders-0 etcd: .* not found\n$/);
});

test('of containers that never ran before: it says so', async () => {
  plugin.api.fault = (request, response, path) => {
    if (!path.endsWith('/log') || !request.url?.includes('previous=true')) return false;
    failure(response, 400, 'BadRequest', 'previous terminated container "etcd" in pod "orders-0" not found');
    return true;
  };
  expect(await plugin.run('logs --previous')).toMatchObject({
    exit: 3,
    out: '',
    err: 'error: no container was restarted in its pod, so none has an earlier log\n',
  });
});

describe('followed', () => {
  let stop: AbortController;
  beforeEach(() => {
    stop = new AbortController();
  });
  const running = { state: { running: {} }, restartCount: 0 };
  const terminated = { state: { terminated: { exitCode: 1 } }, restartCount: 0 };
  const put = (pod: string, status: object) => putPod(pod, [{ name: 'etcd' }], labels, status);
  const asked = (pod: string) => plugin.api.asked(`GET ${paths.of('pods', pod)}/log`);
  const looks = async (count: number) => {
    const before = plugin.api.asked(`GET ${paths.of('pods')}`);
    // Two for each look: of the members, and of reconcilers.
    while (plugin.api.asked(`GET ${paths.of('pods')}`) < before + 2 * count)
      await new Promise((resolve) => setTimeout(resolve, 20));
  };
  const follow = async (during: () => Promise<void>, args = '') => {
    const ended = plugin.run(`logs -f -c etcd ${args}`, { signal: stop.signal });
    await looks(2);
    await during();
    await looks(2);
    stop.abort();
    const { exit, out } = await ended;
    expect(exit).toBe(130);
    return out.split('\n').flatMap((line) => (line === '' ? [] : [line.split(' ').slice(1).join(' ')]));
  };

  test('until Ctrl-C, with pods that start later, and each line once', async () => {
    put('orders-0', running);
    const lines = await follow(async () => {
      put('orders-1', {});
      putLog('orders-1', '2026-11-26T10:00:05Z new');
      await looks(2);
      expect(asked('orders-1')).toBe(0);
      put('orders-1', running);
      // The connection for the first log ends each time.
      putLog('orders-0', '2026-11-26T10:00:02.123456789Z third', '2026-11-26T10:00:02.1234568Z fourth');
    });
    expect(asked('orders-0')).toBeGreaterThan(2);
    expect(lines.sort()).toEqual([
      ...['orders-0 etcd: first', 'orders-0 etcd: fourth', 'orders-0 etcd: third', 'orders-1 etcd: new'],
    ]);
  }, 30_000);

  test('with what a container writes after its restart; one that has ended is not read again', async () => {
    put('orders-0', terminated);
    const lines = await follow(async () => {
      await looks(2);
      expect(asked('orders-0')).toBe(1);
      putLog('orders-0', '2026-11-26T10:01:00Z restarted');
      put('orders-0', { ...running, restartCount: 1 });
    });
    expect(lines).toEqual(['orders-0 etcd: first', 'orders-0 etcd: third', 'orders-0 etcd: restarted']);
  }, 30_000);

  test('without the right to read logs, it ends', async () => {
    put('orders-0', running);
    plugin.forbid('log');
    expect(await plugin.run('logs -f')).toMatchObject({ exit: 4 });
  });
});

test('one that hangs is named, and the others are printed', async () => {
  plugin.silence('orders-0');
  const { out, err } = await plugin.run('logs');
  expect(out).toContain('second');
  expect(err).toMatch(/^orders-0 etcd: .*nothing arrived for/);
}, 60_000);

test.each(['--since soon', '--tail 0', '--member web-0', '-f -p'])('%s is refused', async (args) => {
  expect([2, 3]).toContain((await plugin.run(`logs ${args}`)).exit);
});
