import { isSameStatus } from '../../../kube/merge-patch.ts';
import type { ClusterStatus } from '../../../protocol/cluster-status.ts';
import type { Condition } from '../../../protocol/condition.ts';
import { unknown } from '../../../protocol/known.ts';
import { agent, now, World } from '../../port/observed.fixture.ts';
import { defaultSettings } from '../../port/settings.ts';
import { clusterStatus, statusToWrite } from './status.ts';

const statusOf = (world: World, conditions = world.plan().conditions): ClusterStatus | undefined =>
  clusterStatus(world.o, conditions, now, defaultSettings);

const condition = (type: Condition['type'], status: Condition['status'], reason: Condition['reason']): Condition => ({
  type,
  status,
  reason,
  message: `${type} ${reason}`,
});

test('a cluster that is as asked for', () => {
  expect(statusOf(new World())).toMatchObject({
    phase: 'Ready',
    reason: 'UpToDate',
    epoch: 1,
    clusterId: 'cluster-1',
    clusterUid: 'uid-1',
    size: 3,
    voters: 3,
    readyVoters: 3,
    version: '3.6.16',
    minVersion: '3.6.16',
    members: [
      { ordinal: 0, pod: 'c-0', memberId: 'id-0', healthy: true },
      { ordinal: 1, healthy: true },
      { ordinal: 2, healthy: true },
    ],
  });
});

test('reports what each member lacks', () => {
  const reasonOf = (world: World) => statusOf(world)?.members[1]?.reason;
  expect(reasonOf(new World())).toBeUndefined();
  expect(reasonOf(new World().pods((pods) => pods.filter(({ ordinal }) => ordinal !== 1)))).toBe('PodMissing');
  expect(reasonOf(new World().pod(1, { running: false }))).toBe('PodNotRunning');
  expect(reasonOf(new World().agent(1, undefined))).toBe('AgentUnreachable');
  expect(reasonOf(new World().volumeLost(1))).toBe('VolumeLost');
});

test('a voter is ready when its pod is', () => {
  expect(statusOf(new World().pod(1, { ready: false }))?.readyVoters).toBe(2);
  expect(statusOf(new World().pod(1, { deleting: true }))?.readyVoters).toBe(2);
});

test('omits unknown fields, and is empty without the record or the resource', () => {
  const { voters, readyVoters, leader, epoch } = statusOf(new World().noQuorum())!;
  expect({ voters, readyVoters, leader, epoch }).toEqual({ epoch: 1 });
  expect(statusOf(new World().set({ record: unknown('no API') }), [])).toBeUndefined();
  expect(statusOf(new World().set({ cluster: unknown('no API') }), [])).toBeUndefined();
});

test('the newest backup is reported: the record’s, a schedule’s, or the one reported before', () => {
  const backup = (id: string, minute: number) => ({ id, at: `2026-11-22T02:0${minute}:00Z` });
  const recorded = { ...backup('record', 2), revision: 1, sha256: 'ab' };
  const id = (told: number, seen: number) => {
    const cluster = { status: { lastBackup: backup('told', told) }, backups: { last: backup('seen', seen) } };
    return statusOf(new World().doc({ lastBackup: recorded }).resource(cluster))?.lastBackup?.id;
  };
  expect([id(1, 3), id(3, 1), id(1, 1)]).toEqual(['seen', 'told', 'record']);
  expect(statusOf(new World())).not.toHaveProperty('lastBackup');
});

test('a record that began nothing does not prove a cluster', () => {
  expect(statusOf(new World().doc({ epoch: 0 }), [])).not.toHaveProperty('epoch');
});

test.each<[string, ...Condition[]]>([
  ['Paused', condition('Stalled', 'True', 'NoSpace'), condition('Progressing', 'False', 'Paused')],
  ['Stalled', condition('QuorumLost', 'True', 'MajorityDown'), condition('Stalled', 'True', 'RestoreBlocked')],
  [
    'PreparingRestore',
    condition('QuorumLost', 'True', 'MajorityDown'),
    condition('Progressing', 'True', 'PreparingRestore'),
  ],
  ['Recovering', condition('QuorumLost', 'True', 'MajorityDown'), condition('Progressing', 'True', 'Recovering')],
  ['QuorumLost', condition('QuorumLost', 'True', 'MajorityDown'), condition('Progressing', 'True', 'Growing')],
  ['Upgrading', condition('Degraded', 'True', 'MemberDown'), condition('Progressing', 'True', 'Upgrading')],
  ['Degraded', condition('Ready', 'True', 'UpToDate'), condition('Degraded', 'True', 'DiskPressure')],
  ['Ready', condition('Ready', 'True', 'UpToDate'), condition('BackupHealthy', 'False', 'LastBackupFailed')],
  ['Waiting', condition('Ready', 'False', 'NotUpToDate'), condition('Available', 'True', 'Serving')],
  ['Unknown'],
])('phase %s', (phase, ...conditions) => {
  expect(statusOf(new World(), conditions)?.phase).toBe(phase);
});

test('the phase shows the operation, the reason the problem', () => {
  const told = (...conditions: Condition[]) => {
    const { phase, reason } = statusOf(new World(), conditions)!;
    return `${phase} ${reason}`;
  };
  const growing = condition('Progressing', 'True', 'Growing');
  expect(told(growing, condition('Degraded', 'True', 'MemberDown'))).toBe('Growing MemberDown');
  expect(told(growing, condition('Degraded', 'True', 'Starting'))).toBe('Growing Growing');
  const ready = condition('Ready', 'True', 'UpToDate');
  expect(told(ready, condition('BackupHealthy', 'False', 'LastBackupFailed'))).toBe('Ready LastBackupFailed');
  expect(told(ready, condition('BackupHealthy', 'False', 'NoSchedule'))).toBe('Ready UpToDate');
  const waiting = condition('Ready', 'False', 'NotUpToDate');
  expect(told(waiting, condition('BackupHealthy', 'False', 'LastBackupFailed'))).toBe('Waiting NotUpToDate');
  const held = condition('Stalled', 'True', 'CorruptAlarm');
  expect(told(held, condition('Degraded', 'True', 'MemberDown'))).toBe('Stalled CorruptAlarm');
  expect(told(growing, condition('Available', 'Unknown', 'QuorumUnknown'))).toBe('Unknown QuorumUnknown');
});

test('a record that cannot be read is reported after a minute, and the last known state stays', () => {
  const world = new World().set({ record: unknown('forbidden') });
  world.o.since.blind = now - defaultSettings.unreachable + 1;
  expect(statusOf(world)).toBeUndefined();
  world.o.since.blind = now - defaultSettings.unreachable;
  expect(statusOf(world)).toMatchObject({ phase: 'Unknown', epoch: 1, clusterUid: 'uid-1', members: [] });
  expect(statusOf(world)?.message).toContain('forbidden');
});

test('small changes of size and lag are no news, large ones are', () => {
  const world = new World();
  const before = statusOf(world)!;
  const change = (dbSize: number, appliedIndex: number) => {
    const status = world.o.status['id-1']!;
    if (!status.known) throw new Error('unknown');
    const changed = { known: true as const, v: { ...status.v, dbSize: status.v.dbSize + dbSize, appliedIndex } };
    const o = { ...world.o, status: { ...world.o.status, 'id-1': changed } };
    return clusterStatus(o, world.plan().conditions, now, defaultSettings)!;
  };
  const { appliedIndex } = (world.o.status['id-1'] as { v: { appliedIndex: number } }).v;
  expect(isSameStatus(before, change(0, appliedIndex - 50))).toBe(true);
  expect(isSameStatus(before, change(0, appliedIndex - 1500))).toBe(false);
  expect(isSameStatus(before, change(4_000_000, appliedIndex))).toBe(false);
  expect(isSameStatus(undefined, before)).toBe(false);
});

test('an unchanged status is written again when it gets old, with the time of the write', () => {
  const world = new World();
  const first = statusToWrite(undefined, statusOf(world)!, now, defaultSettings)!;
  expect(first.observedAt).toBe('2026-01-01T00:00:00Z');
  const later = (ms: number) => statusToWrite(first, statusOf(world)!, now + ms, defaultSettings)?.observedAt;
  expect(later(defaultSettings.heartbeat - 1)).toBeUndefined();
  expect(later(defaultSettings.heartbeat)).toBe('2026-01-01T00:10:00Z');
  expect(later(-1)).toBeDefined();
  const { observedAt: _, ...old } = first;
  expect(statusToWrite(old, statusOf(world)!, now, defaultSettings)).toBeDefined();
  expect(statusToWrite(first, { ...statusOf(world)!, phase: 'Stalled' }, now + 1, defaultSettings)).toBeDefined();
});

test('the order of keys is not a change: the API server has its own', () => {
  const status = statusOf(new World())!;
  expect(isSameStatus(Object.fromEntries(Object.entries(status).reverse()), status)).toBe(true);
});

test('the use of a volume is reported in steps of 5 percent', () => {
  const use = (freeBytes: number, totalBytes: number) => {
    const { volume, ...rest } = agent(1);
    const world = new World().agent(1, { ...rest, volume: { ...volume, freeBytes, totalBytes } });
    return statusOf(world)?.members[1]?.volumeUse;
  };
  expect([use(100, 100), use(99, 100), use(45, 100), use(0, 100)]).toEqual([0, 5, 55, 100]);
  expect(use(0, 0)).toBeUndefined();
  expect(statusOf(new World().agent(1, undefined))?.members[1]).not.toHaveProperty('volumeUse');
});

test('the use of a volume is a percentage, whatever the filesystem says, and does not flap at a boundary', () => {
  const gibibyte = 2 ** 30;
  const useOf = (used: number, before?: number): number | undefined => {
    const volume = { ...agent(1).volume, freeBytes: (100 - used) * gibibyte, totalBytes: 100 * gibibyte };
    const members = before === undefined ? [] : [{ ordinal: 1, pod: 'c-1', healthy: true, volumeUse: before }];
    return statusOf(new World().resource({ status: { members } }).agent(1, agent(1, { volume })))?.members[1]
      ?.volumeUse;
  };
  expect([useOf(-3), useOf(0), useOf(101), useOf(Number.NaN)]).toEqual([0, 0, 100, undefined]);
  expect([useOf(50.1), useOf(49.9), useOf(49.9, 55), useOf(50.1, 55), useOf(48, 55), useOf(55.1, 55)]).toEqual([
    55, 50, 55, 55, 50, 60,
  ]);
});
