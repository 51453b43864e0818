import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Permit, RecordDoc } from '../../../src/protocol/record.ts';
import { type Logged, recordIsSound } from './record-checks.ts';
import { VolumeAudit } from './volume-audit.ts';

const record = (rev: number, change: Partial<RecordDoc> = {}): Logged => ({
  doc: {
    ...{
      v: 1,
      rev,
      clusterUid: 'uid',
      epoch: 1,
      minEpoch: 1,
      token: 't1',
      phase: 'Running',
      seeded: true,
      permits: {},
    },
    ...{ members: {}, tombstones: [], versions: { current: '3.6', allowedMinors: ['3.6'] }, restores: [] },
    ...change,
  } as RecordDoc,
});
const permit = (volumeId: string, change: Partial<Permit> = {}): Record<string, Permit> => ({
  0: { ordinal: 0, volumeId, epoch: 1, mode: 'new', ...change } as Permit,
});
const removed = { memberId: 'a', ordinal: 1, epoch: 1, at: '', why: 'Dead' };
const intent = { kind: 'Remove', memberId: 'a' } as RecordDoc['op'];

describe('the versions of a record', () => {
  test.each<[string, Logged[]]>([
    ['one after the other', [record(1), record(2, { permits: permit('n') }), record(3, { permits: permit('n') })]],
    ['logged by a writer that was killed, and written by the next', [record(1), record(2), record(2)]],
    ['deleted, and rebuilt with a gap', [record(1), { removed: true }, record(1000)]],
    ['a removal that was meant', [record(1, { op: intent }), record(2, { tombstones: [removed] })]],
    [
      'another epoch',
      [record(1, { permits: permit('n') }), record(2, { epoch: 2, token: 't2', permits: permit('m', { epoch: 2 }) })],
    ],
  ])('are sound: %s', (_, log) => expect(recordIsSound(log)).toEqual([]));

  test.each<[string, Logged[], string]>([
    ['one is missing', [record(1), record(3)], 'ConsecutiveRevs: record revision 3 follows 1'],
    ['one came again', [record(1), record(2), record(1)], 'ConsecutiveRevs: record revision 1 follows 2'],
    [
      'two seeds',
      [record(1, { permits: permit('n') }), record(2, { permits: permit('m') })],
      'OneSeedPerEpoch: epoch uid 1 has seed permits for 2 volumes',
    ],
    [
      'a seed beside ordinal 0',
      [record(1, { permits: permit('n', { ordinal: 2 }) })],
      'OneSeedPerEpoch: a new permit for ordinal 2',
    ],
    [
      'a token for two epochs',
      [record(1), record(2, { epoch: 2 })],
      'FreshTokenPerEpoch: epochs uid 1 and uid 2 share a token',
    ],
    [
      'a removal out of nowhere',
      [record(1), record(2, { tombstones: [removed] })],
      'IntentFirst: member a was removed without an intent',
    ],
  ])('are not: %s', (_, log, what) => expect(recordIsSound(log)).toEqual([what]));
});

describe('volumes', () => {
  let root: string;
  let audit: VolumeAudit;
  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'audit-'));
    audit = new VolumeAudit(() => ['0', '1'].map((name) => join(root, name)), 1e6);
  });
  afterEach(async () => {
    audit[Symbol.dispose]();
    await rm(root, { recursive: true });
  });
  const identity = async (volume: string, of: object) => {
    await mkdir(join(root, volume, 'etcd'), { recursive: true });
    await writeFile(join(root, volume, 'identity.json'), JSON.stringify({ state: 'sealed', epoch: 1, ...of }));
    audit.look();
  };

  test('one cluster id for each epoch', async () => {
    await identity('0', { clusterId: 'a' });
    await identity('1', { clusterId: 'b', epoch: 2 });
    expect(audit.clusterIds(['a', 'b'])).toEqual([]);
    await identity('1', { clusterId: 'c', epoch: 2 });
    expect(audit.clusterIds(['a', 'd'])).toEqual([
      'OneClusterIdPerEpoch: epoch 2 has clusters b,c',
      'OneClusterIdPerEpoch: cluster d is of no epoch',
    ]);
  });

  test('a member id is on one volume', async () => {
    await identity('0', { memberId: 'a', volumeId: 'n' });
    await identity('1', { memberId: 'b', volumeId: 'm' });
    expect(audit.memberIds()).toEqual([]);
    await identity('0', { memberId: 'b', volumeId: 'n' });
    expect(audit.memberIds()).toEqual(['OneVolumePerMember: member b was on the volumes of volumeIds m and n']);
  });

  test('a data directory is quarantined, not deleted', async () => {
    await identity('0', {});
    await identity('1', {});
    await mkdir(join(root, '0/quarantine/one'), { recursive: true });
    await rename(join(root, '0/etcd'), join(root, '0/quarantine/one/etcd'));
    expect(audit.dataDirsKept([])).toEqual([]);
    await rm(join(root, '1/etcd'), { recursive: true });
    expect(audit.dataDirsKept([])).toEqual([
      expect.stringMatching(/^NoDataDeleted: a data directory of .*\/1 \(inode \d+\) was deleted$/),
    ]);
    expect(audit.dataDirsKept([join(root, '1')])).toEqual([]);
  });
});
