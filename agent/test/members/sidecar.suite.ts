import { mkdir, readFile, rename, rm, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sealConfig } from '../../src/member/etcd-config.ts';
import { noIdentity } from '../../src/member/identity.ts';
import type { Permit } from '../../src/protocol/record.ts';
import { TestMember } from './support/test-member.ts';

const tombstone = (memberId: string) => ({ memberId, ordinal: 0, epoch: 1, at: '', why: 'Dead' });

test('seals the new cluster, is ready once the seed was observed, and stays ready without a record', async () => {
  await using member = await TestMember.make();
  await member.record();
  await member.serve();
  expect(await member.until({ state: 'Starting' })).toMatchObject({ request: { volumeId: member.permit.volumeId } });
  await member.startEtcd();
  const running = await member.until({ state: 'Running' });
  expect(member.steps).toEqual(['cache.written', 'wal.seen', 'config.sealed', 'identity.sealed', 'identity.verified']);
  expect(running).toMatchObject({ etcd: { up: true, isLearner: false }, recordRev: 1 });
  expect(running.reason).toBeUndefined();
  expect(running.request).toBeUndefined();
  const { memberId, clusterId } = running.etcd!;
  await member.untilFile('identity.json', /"clusterVersion": "3/);
  const sealed = await readFile(join(member.dir, 'identity.json'), 'utf8');
  expect(JSON.parse(sealed)).toMatchObject({ state: 'sealed', memberId, clusterId });
  await member.untilFile('etcd.yaml', /initial-cluster-state: "existing"/);

  await member.untilReady(false, /waiting for the reconciler to see/);
  await member.record({ seeded: true, clusterId });
  await member.untilReady(true, /ok/);

  await writeFile(member.config.settingsFile, JSON.stringify({ 'max-wals': 7 }));
  await member.untilFile('etcd.yaml', /max-wals: 7/);
  await writeFile(join(member.dir, 'etcd.yaml'), 'force-new-cluster: true\n');
  await member.untilFile('etcd.yaml', /max-wals: 7/);
  // The file appears a moment before the line.
  await member.until({ state: 'Running' });
  expect(member.log.join()).toMatch(/edited by hand/);
  await writeFile(member.config.settingsFile, '{"quota-backend-bytes": 100000000}');
  await member.untilFile('etcd.yaml', /quota-backend-bytes: 100000000/);
  await member.until({
    message: `etcd runs with a quota of ${2 ** 31} bytes, but etcd.yaml sets 100000000: the new quota takes effect at the next restart`,
  });
  await writeFile(member.config.settingsFile, '{"max-wals": "many"}');
  expect((await member.until({ state: 'Running' })).etcd?.up).toBe(true);

  await rm(member.recordFile);
  await member.until({ reason: 'NoRecord', state: 'Running' });
  await mkdir(member.recordFile);
  await member.until({ reason: 'RecordUnreachable', state: 'Running' });
  await rmdir(member.recordFile);
  await member.recordText('{"v":1,"novelty":2}');
  expect(await member.until({ reason: 'RecordNotUnderstood' })).toMatchObject({ state: 'Running', recordRev: 2 });
  await member.record({ rev: 1 });
  await member.until({ reason: 'RecordRolledBack' });
  await member.untilReady(true, /ok/);

  // A sidecar that restarts without a record, using its cache.
  await member.end();
  await rm(member.recordFile);
  await member.serve();
  await member.untilReady(true, /ok/);

  await member.killEtcd();
  const down = await member.until({ reason: 'EtcdDown' });
  expect(down.etcd).toMatchObject({ up: false, memberId, clusterId, version: member.config.etcdVersion });
  expect(down.etcd!.appliedIndex).toBeGreaterThan(0);
  expect(down.etcd!.term).toBeGreaterThan(1);
  await member.untilReady(false, /does not answer/);
  await member.record({ rev: 9, tombstones: [tombstone(memberId)] });
  expect(await member.until({ reason: 'Removed' })).toMatchObject({ message: expect.stringMatching(/Dead/) });
});

test('a failed write is retried later, and the member is observed meanwhile', async () => {
  await using member = await TestMember.make();
  const files = ['identity.json', 'etcd.yaml', 'record-cache.json'];
  for (const name of files) await mkdir(join(member.dir, `${name}.tmp`));
  await member.record({ seeded: true });
  await member.serve();
  await member.startEtcd();
  expect(await member.until({ state: 'Running' })).toMatchObject({
    message: expect.stringMatching(/cannot write/),
  });
  await member.untilReady(true, /ok/);
  expect(member.steps).toEqual(['wal.seen']);
  for (const name of files) await rmdir(join(member.dir, `${name}.tmp`));
  await member.untilFile('identity.json', /"state": "sealed"/);
  await member.untilFile('etcd.yaml', /"existing"/);
  await member.untilFile('record-cache.json', /"seeded":true/);
  expect(member.log.filter((line) => /cannot write identity.json/.test(line))).toHaveLength(1);
});

test('etcd of another release, and data of another cluster, are not served', async () => {
  await using member = await TestMember.make();
  await member.record({ seeded: true });
  await member.serve({ etcdVersion: '3.7.99' });
  await member.startEtcd();
  const wrong = await member.until({ state: 'Refused', reason: 'VersionMismatch' });
  expect(wrong.message).toMatch(/etcd 3\.\d+\.\d+ runs, but the pod template names 3.7.99/);
  await member.untilReady(false, /pod template names/);
  await member.untilFile('identity.json', new RegExp(`"lastVersion": "${member.config.etcdVersion}"`));
  await member.end();

  await member.serve();
  await member.untilReady(true, /ok/);
  await member.record({ clusterId: 'c2' });
  await member.until({ state: 'Refused', reason: 'DuplicateMember' });
  await member.untilReady(false, /c2/);
  expect(member.log.join()).toMatch(/the record names c2/);
  await member.end();

  await member.serve({ minEpoch: 2 });
  await member.record({ clusterId: undefined });
  await member.untilReady(false, /epoch 1, but the cluster is at epoch 2/);

  await rename(join(member.dir, 'identity.json'), join(member.dir, 'gone'));
  await member.until({ state: 'Refused', reason: 'ForeignData', message: noIdentity });
});

test('a member that could not join gets the newer permit of its volume, and of no other', async () => {
  await using member = await TestMember.make();
  const restore = { id: 'r', source: { url: 'https://job/snapshot', token: '', sha256: 'a' }, bumpRevision: 1 };
  const joins = (change: Partial<Permit>): Permit => ({
    ...member.permit,
    ...{ id: 'p2', mode: 'existing', memberId: 'a9', initialCluster: `db-0=${member.config.peerUrl},db-1=http://x:1` },
    ...change,
  });
  await member.identity({ mode: 'existing', memberId: 'a1' });
  await member.record({ permits: { 0: joins({ volumeId: 'other' }) } });
  await member.serve();
  await member.until({ state: 'Starting', recordRev: 1 });
  await member.record({ permits: { 0: joins({ epoch: 2 }) } });
  await member.until({ recordRev: 2 });
  await member.record({ permits: { 0: joins({ mode: 'restore', restore }) } });
  await member.until({ recordRev: 3 });
  expect(await readFile(join(member.dir, 'etcd.yaml'), 'utf8')).not.toMatch(/db-1/);

  await member.record({ permits: { 0: joins({}) } });
  await member.untilFile('identity.json', /"permitId": "p2"/);
  await member.untilFile('etcd.yaml', /,db-1=http:\/\/x:1/);
  await member.record({ permits: { 0: joins({ initialCluster: `db-0=${member.config.peerUrl}` }) } });
  await member.untilFile('etcd.yaml', /initial-cluster: "db-0=[^,]*"\n/);
  expect(await member.status()).toMatchObject({ request: { volumeId: member.permit.volumeId } });
});

test('a volume whose data were emptied becomes another volume', async () => {
  await using member = await TestMember.make();
  const { volumeId } = member.permit;
  await member.identity({ state: 'sealed', memberId: 'a1', clusterId: 'c1', lastRestoreId: 'r1' });
  await sealConfig(member.config, { token: 't1' });
  await member.record({ seeded: true });
  await member.serve();
  const waits = await member.until({ state: 'WaitPermit' });
  expect(waits.request).toEqual({ volumeId: expect.stringMatching(/^[0-9a-f]{32}$/), lastRestoreId: 'r1' });
  expect(waits.request!.volumeId).not.toBe(volumeId);
  expect(waits.volume.identity).toMatchObject({ volumeId, memberId: 'a1' });
  await member.untilReady(false, /./);
  expect((await member.status()).request).toEqual(waits.request);

  await rm(join(member.dir, 'identity.json'));
  await member.until({ state: 'Refused', reason: 'NoIdentity' });
  await rename(member.dir, `${member.dir}.away`);
  expect((await member.until({ state: 'Failed', reason: 'VolumeUnreadable' })).request).toBeUndefined();
  await rename(`${member.dir}.away`, member.dir);
  await member.until({ reason: 'NoIdentity' });
});
