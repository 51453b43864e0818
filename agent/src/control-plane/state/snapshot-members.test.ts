import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { errorLike } from '../../../test/support/error-like.ts';
import type { MemberFlags } from '../node/member-flags.ts';
import { initialClusterOf, membersToRestore, parseInitialCluster, snapshotMembers } from './snapshot-members.ts';

const members = [
  { name: 'cp1', peerUrls: ['https://10.0.0.1:2380'] },
  { name: 'cp2', peerUrls: ['https://10.0.0.2:2380', 'https://[fd00::2]:2380'] },
];
const node = (name: string, peerUrls: string) => ({ member: { name, peerUrls } as MemberFlags });

test('the members come from the snapshot', () => {
  expect(membersToRestore('x', members, undefined, node('cp1', 'https://10.0.0.1:2380/'))).toEqual(members);
  expect(membersToRestore('x', members, undefined, node('cp2', members[1]!.peerUrls.toReversed().join()))).toEqual(
    members,
  );
});

test('a snapshot of another cluster, or flags of another node, are refused', () => {
  const wrong = (name: string, urls: string) => () => membersToRestore('x', members, undefined, node(name, urls));
  expect(wrong('cp9', 'https://10.0.0.1:2380')).toThrow(
    errorLike(/member is cp9, but the snapshot lists cp1=.*another cluster/, { finding: { kind: 'newMachines' } }),
  );
  expect(wrong('cp1', 'https://10.0.0.9:2380')).toThrow(/member is cp1=https:..10.0.0.9:2380, but/);
});

test('new machines are listed in --initial-cluster', () => {
  const given = 'new=https://10.1.0.1:2380';
  const found = membersToRestore('x', members, given, node('new', 'https://10.1.0.1:2380'));
  expect(initialClusterOf(found)).toBe(given);
  expect(() => membersToRestore('x', members, given, node('cp1', 'https://10.0.0.1:2380'))).toThrow(
    errorLike(/^this node's member is cp1/, { at: 'initialCluster' }),
  );
});

test('parsing reverses formatting', () => {
  expect(parseInitialCluster(initialClusterOf(members))).toEqual(members);
});

test('a member that cannot be read is an error of the snapshot', async () => {
  const packed = join(import.meta.dirname, '../../../test/fuzz/corpus/bolt/etcd-3.6.packed.gz');
  const directory = await mkdtemp(join(tmpdir(), 'members-'));
  const file = join(directory, 'snapshot.db');
  const snapshot = gunzipSync(await readFile(packed));
  await writeFile(file, snapshot);
  expect(await snapshotMembers(file)).toHaveLength(1);
  // Freed pages hold copies of it.
  await writeFile(file, snapshot.toString('latin1').replaceAll('"peerURLs"', '"peerURLz"'), 'latin1');
  await expect(snapshotMembers(file)).rejects.toMatchObject({ exitCode: 30 });
  await rm(directory, { recursive: true });
});
