import { cp, mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { enableAuth } from '../../../test/harness/etcd-auth.ts';
import { availableMinors } from '../../../test/harness/etcd-binaries.ts';
import { EtcdCluster } from '../../../test/harness/etcd-cluster.ts';
import type { MemberConfig } from '../member-config.ts';
import { identity } from './gate.fixture.ts';
import { salvage } from './salvage.ts';

test('a log that is missing or damaged is named, with what to do', async () => {
  const root = await mkdtemp(join(tmpdir(), 'salvage-'));
  const log = join(root, 'etcd/member/wal');
  await mkdir(log, { recursive: true });
  const config = { pod: 'c-0', dataDir: root, scratchDir: join(root, 'scratch') } as MemberConfig;
  const salvaged = () => salvage(config, identity(), { signal: AbortSignal.timeout(60_000), at: () => {} });
  await expect(salvaged()).rejects.toThrow(
    `no write-ahead log can be read in ${log}, so nothing can be recovered from this member; restore a backup`,
  );
  const file = join(log, '0000000000000000-0000000000000000.wal');
  await writeFile(file, Buffer.alloc(20 * 1024 * 1024, 0x7f));
  await expect(salvaged()).rejects.toThrow(
    `the write-ahead log cannot be read (${file}: no valid record at byte 0), so nothing`,
  );
  await rm(root, { recursive: true });
});

test('an image without the etcd of the data is refused before anything is copied, with what to do', async () => {
  const root = await mkdtemp(join(tmpdir(), 'salvage-'));
  await using etcd = await EtcdCluster.start();
  await etcd.member(0).stop();
  await cp(etcd.member(0).dataDir, join(root, 'etcd'), { recursive: true });
  const dirs = { dataDir: root, scratchDir: join(root, 'scratch'), etcdDir: join(root, 'bin') };
  const config = { pod: 'c-0', ...dirs } as MemberConfig;
  const salvaged = salvage(config, identity({ lastVersion: '3.5.35' }), {
    signal: AbortSignal.timeout(60_000),
    at() {},
  });
  await expect(salvaged).rejects.toThrow(
    `the gate's image contains no etcd 3.5 (${dirs.etcdDir}/3.5/etcd), so it cannot salvage the data of this member; set agentImage`,
  );
  expect(await readdir(root)).toEqual(['etcd']);
  await rm(root, { recursive: true });
}, 60_000);

test.each(availableMinors())(
  'data of etcd %s with authentication enabled are salvaged',
  async (release) => {
    const root = await mkdtemp(join(tmpdir(), 'salvage-'));
    await using etcd = await EtcdCluster.start({ minor: release });
    await etcd.put(20);
    await enableAuth(etcd);
    const { minor, version, etcd: program } = etcd.binaries;
    await etcd.member(0).stop();
    await cp(etcd.member(0).dataDir, join(root, 'etcd'), { recursive: true });
    await mkdir(join(root, 'bin', minor), { recursive: true });
    await symlink(program, join(root, 'bin', minor, 'etcd'));
    const config = {
      ...{ pod: 'c-0', dataDir: root, scratchDir: join(root, 'scratch'), etcdDir: join(root, 'bin') },
      idleTimeout: 20_000,
    } as MemberConfig;
    const signal = AbortSignal.timeout(60_000);
    const salvaged = await salvage(config, identity({ lastVersion: version }), { signal, at: () => {} });
    expect(salvaged.revision).toBe(21);
    // Neither the copy nor a certificate is left.
    expect(await readdir(config.scratchDir)).toEqual(['salvage.db']);
    await rm(root, { recursive: true });
  },
  60_000,
);
