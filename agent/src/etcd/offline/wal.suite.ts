import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { availableMinors } from '../../../test/harness/etcd-binaries.ts';
import { EtcdCluster } from '../../../test/harness/etcd-cluster.ts';
import { EtcdMember } from '../etcd-member.ts';
import { walIdentity } from './wal.ts';

test('the ids in the log are the ids that the running etcd reports, in every version', async () => {
  const found = availableMinors().map(async (minor) => {
    await using etcd = await EtcdCluster.start({ minor });
    const member = await EtcdMember.connect(etcd.endpoints[0]!, { endpoints: etcd.endpoints, dialTimeout: 5_000 });
    const { memberId, clusterId } = await member.status();
    member.close();
    expect({ minor, ...(await walIdentity(etcd.member(0).dataDir)) }).toEqual({ minor, memberId, clusterId });
  });
  await Promise.all(found);
});

test('a directory that no etcd has used has none', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'wal-'));
  expect(await walIdentity(directory)).toBeUndefined();
  await mkdir(join(directory, 'member/wal'), { recursive: true });
  expect(await walIdentity(directory)).toBeUndefined();
  await rm(directory, { recursive: true });
});

test('a log that cannot be listed is not one that is absent', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'wal-'));
  await mkdir(join(directory, 'member'));
  await symlink('wal', join(directory, 'member/wal'));
  await expect(walIdentity(directory)).rejects.toThrow(/ELOOP/);
  await rm(directory, { recursive: true });
});

test('damaged metadata are a RangeError', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'wal-'));
  await mkdir(join(directory, 'member/wal'), { recursive: true });
  const metadata = Buffer.from([0x08, 1]);
  for (const record of [metadata, Buffer.concat([metadata, Buffer.from([0x18, 7])])]) {
    await writeFile(
      join(directory, 'member/wal/0.wal'),
      Buffer.concat([Buffer.from([record.length, ...Array(7).fill(0)]), record]),
    );
    await expect(walIdentity(directory)).rejects.toThrow(RangeError);
  }
  await writeFile(join(directory, 'member/wal/0.wal'), Buffer.alloc(1_000));
  await expect(walIdentity(directory)).rejects.toThrow(RangeError);
  await rm(directory, { recursive: true });
});
