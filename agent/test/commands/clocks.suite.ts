import { backup, command, run, succeed } from '../faults/commands.ts';
import { DirectoryPlace } from '../faults/directory-place.ts';
import { EtcdCluster } from '../harness/etcd-cluster.ts';

let etcd: EtcdCluster;
let place: DirectoryPlace;
beforeAll(async () => {
  [etcd, place] = await Promise.all([EtcdCluster.start(), DirectoryPlace.make()]);
  await succeed(backup(etcd, place.store));
});
afterAll(async () => {
  await place?.[Symbol.asyncDispose]();
  await etcd?.stop();
});

describe.each([
  ['a day behind', -86_400_000, 'ahead of'],
  ['a day ahead', 86_400_000, 'behind'],
])('our clock is %s', (_, shift, theirs) => {
  const env = {
    NODE_OPTIONS: `--import ${import.meta.resolve('../faults/shifted-clock.ts')}`,
    CLOCK_SHIFT: String(shift),
  };

  test('a backup says what that does to its date, once', async () => {
    const { code, log } = await run(backup(etcd, place.store, '--retention=last=9'), { env });
    expect(code).toBe(0);
    const wrong = shift < 0 ? 'dated too early, so that earlier ones may' : 'dated in the future, and does not';
    expect(log.filter(({ msg }) => /^the store's clock/.test(msg))).toMatchObject([
      {
        level: 'warn',
        store: place.store,
        msg: expect.stringMatching(
          `^the store's clock is .* ${theirs} ours; if ours is wrong, this snapshot is ${wrong}`,
        ),
      },
    ]);
  });

  test('status counts by the later clock, and says so', async () => {
    const { stores } = await succeed(command('status', place.store, '--max-age', '6h'), { env });
    expect(stores).toMatchObject([
      { ok: true, detail: expect.stringMatching(`; the store's clock is .* ${theirs} ours$`) },
    ]);
  });

  test('check fails, because retention would delete nothing', async () => {
    const { code, result } = await run(command('check', place.store), { env });
    expect(code).toBe(40);
    expect(result.findings.filter(({ outcome }: { outcome: string }) => outcome === 'failed')).toMatchObject([
      {
        check: 'clock',
        detail: expect.stringMatching(`${theirs} this machine.s clock: retention would delete nothing`),
      },
    ]);
  });
});
