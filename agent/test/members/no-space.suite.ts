// A database that reaches its quota; a volume that is really full.
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { openVoters } from './checks/member-view.ts';
import { overwrite } from './support/fill.ts';
import { fullScenario, type Play, scenario } from './support/scenario.ts';
import { smoke } from './support/smoke.ts';

const execute = promisify(execFile);
const mebibyte = 1024 ** 2;
const quota = 16 * mebibyte;

/** The containers of etcd were not restarted. */
const pids = ({ cluster }: Play) => [0, 1, 2].map((i) => cluster.pod(i).etcdPid);

/** The last 1,000 revisions, which the first compaction keeps, hold everything. */
const full = { etcd: { 'quota-backend-bytes': quota } };
const report = { onNoSpace: 'Report' } as const;

scenario('NOSPACE is cleared by compaction and defragmentation', { size: 3, tls: true, ...full }, async (play) => {
  const { cluster, writer } = play;
  await play.formed();
  const before = pids(play);
  for (const time of ['cleared', 'and at once again']) {
    expect(await overwrite(cluster, 100)).toBeDefined();
    await play.converges(time, () =>
      cluster.until(
        () => cluster.condition('Alarm')?.status === 'True' || cluster.record()?.op?.kind === 'ClearNoSpace',
        'the alarm is seen',
      ),
    );
    await writer.more(50);
  }
  expect(pids(play)).toEqual(before);
  for (const member of await openVoters(cluster)) {
    using voter = member;
    expect(voter.status.errors).toEqual([]);
    expect(voter.status.dbSize).toBeLessThan(0.5 * quota);
  }
});

if (!smoke) {
  scenario(
    'NOSPACE is only reported where the policy says so',
    { size: 3, tls: false, ...full, spec: report },
    async (play) => {
      const { cluster } = play;
      await play.formed();
      const before = pids(play);
      expect(await overwrite(cluster, 100)).toBeDefined();
      await cluster.until(() => cluster.condition('Alarm')?.status === 'True', 'the alarm is reported');
      await cluster.until(() => cluster.condition('Available')?.reason === 'NoSpace', 'Available says why');
      expect(await overwrite(cluster, 1)).toBeDefined();
      expect(cluster.record()?.op).toBeUndefined();
      await play.converges('cleared', () => cluster.apply({ spec: { onNoSpace: 'CompactDefragDisarm' } }));
      await play.writer.more(20);
      expect(pids(play)).toEqual(before);
    },
  );
}

/** A small separate file system, or the reason why there is none. */
async function mountSmall(): Promise<{ path: string; remove: () => Promise<void> } | string> {
  const root = await mkdtemp(join(tmpdir(), 'small-'));
  const [image, path] = [join(root, 'image'), join(root, 'mounted')];
  try {
    await execute('truncate', ['-s', '300M', image]);
    await execute('mkfs.ext4', ['-q', '-m', '0', image]);
    await execute('mkdir', [path]);
    await execute('mount', ['-o', 'loop', image, path]);
  } catch (error) {
    await rm(root, { recursive: true, force: true });
    return String(error);
  }
  return {
    path,
    remove: async () => {
      await execute('umount', ['-l', path]);
      await rm(root, { recursive: true, force: true });
    },
  };
}

/** Fills it to the last byte. */
async function fillUp(file: string): Promise<void> {
  const full = await writeFile(file, Buffer.alloc(512 * mebibyte)).then(
    () => false,
    ({ code }) => code === 'ENOSPC',
  );
  expect(full).toBe(true);
}

const mounted = await mountSmall();
if (typeof mounted === 'string') {
  test.skip(`a full disk: no small file system can be mounted here (${mounted.slice(0, 80)})`, () => undefined);
} else {
  const { path, remove } = mounted;
  afterAll(remove);
  const place = {
    volumeRoot: (ordinal: number) => (ordinal === 1 ? path : `${path}-others`),
    volumeRoots: [path, `${path}-others`],
  };

  fullScenario(
    'the disk of one member is full: told, nothing lost, whole again with space',
    { size: 3, tls: false, ...place },
    async (play) => {
      const { cluster, writer } = play;
      await play.formed();
      await fillUp(join(path, 'ballast'));
      await cluster.until(() => cluster.condition('Degraded')?.reason === 'DiskPressure', 'the status tells of it');
      const ids = cluster.record()!.members;
      await overwrite(cluster, 40);
      await cluster.until(() => cluster.status().readyVoters === 2, 'the member ends');
      const since = writer.now;
      await writer.more(200);
      expect(play.missed(since)).toEqual([]);
      // The space that etcd had reserved for its log is free again when it ends.
      await fillUp(join(path, 'more'));
      await cluster.until(async () => (await cluster.agent(1)).volume.freeBytes < mebibyte, 'the agent tells of it');
      await writer.more(50);
      await play.converges('whole again with space', async () => {
        for (const ballast of ['ballast', 'more']) await rm(join(path, ballast));
      });
      expect(cluster.record()!.members).toEqual(ids);
    },
  );
}
