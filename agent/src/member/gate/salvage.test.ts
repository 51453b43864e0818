import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { enableAuth } from '../../../test/harness/etcd-auth.ts';
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

test('data with authentication enabled are refused', async () => {
  const root = await mkdtemp(join(tmpdir(), 'salvage-'));
  await using etcd = await EtcdCluster.start();
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
  const salvaged = salvage(config, identity({ lastVersion: version }), { signal, at: () => {} });
  await expect(salvaged).rejects.toThrow(/^etcd authentication is enabled in the data/);
  await rm(root, { recursive: true });
});
