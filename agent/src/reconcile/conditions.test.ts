import { agent, World } from './observed.fixture.ts';
import type { Cluster } from './observed.ts';

test('between two restarts of a roll something is in progress', () => {
  const world = new World(3).sts({ updateRevision: 'r2' }).pod(2, { revision: 'r2' });
  expect(world.reason('Progressing')).toBe('RollingRestart');
  expect(new World(3).reason('Progressing')).toBe('Idle');
});

test('a pod that is kept says why, in its agent’s own words', () => {
  const kept = (reason: string, state: 'Failed' | 'Refused' | 'Init', message?: string) =>
    new World(3).agent(1, { ...agent(1), state, reason, ...(message && { message }) });
  const full = kept('DiskFull', 'Failed', 'no space left');
  expect(full.reason('Degraded')).toBe('PodHeld');
  expect(full.message('Degraded')).toBe('pod 1: DiskFull: no space left');
  expect(kept('VersionRefused', 'Refused').reason('Degraded')).toBe('VersionRefused');
  expect(kept('VolumeBusy', 'Init').reason('Degraded')).toBe('PodHeld');
  expect(kept('RecordUnreachable', 'Init').reason('Degraded')).toBe('Well');
});

test('without a quorum the cluster is not called well', () => {
  const world = new World(3).down(1).down(2);
  expect(world.reason('Degraded')).toBe('UnknownState');
  world.agent(1, undefined).agent(2, undefined).o.since.quorumLost = 0;
  expect(world.reason('Degraded')).toBe('MajorityDown');
});

test('a cluster whose members are not known is not said to grow', () => {
  expect(new World(2, { size: 3 }).reason('Progressing')).toBe('Growing');
  expect(new World(3).noQuorum().reason('Progressing')).toBe('Idle');
});

test('backups are healthy when the newest run of each schedule was good, and nothing is said before there was one', () => {
  const last = { id: 's1', at: '2026-11-22T02:00:00Z' };
  const failed = { schedule: 'nightly', message: 'Job c-nightly-1: access denied' };
  const world = (backups?: Cluster['backups']) =>
    new World(3).spec({ schedule: 'nightly' }).resource({ ...(backups && { backups }) });
  expect(world({ last }).reason('BackupHealthy')).toBe('Fresh');
  expect(world({ last, failed }).reason('BackupHealthy')).toBe('LastFailed');
  expect(world({ failed }).message('BackupHealthy')).toBe('nightly: Job c-nightly-1: access denied');
  expect([world(), world({})].map((each) => each.reason('BackupHealthy'))).toEqual([undefined, undefined]);
  expect(new World(3).spec({ schedule: undefined }).resource({ backups: { last } }).reason('BackupHealthy')).toBe(
    'NoSchedule',
  );
});
