import type { ClusterStatus } from '../../../../protocol/cluster-status.ts';
import { known } from '../../../../protocol/known.ts';
import type { MaintenanceKind } from '../../../../protocol/record.ts';
import { idOf, longAgo, now, status, World } from '../../../port/observed.fixture.ts';
import { defaultSettings } from '../../../port/settings.ts';
import { maintenanceOf, maintenanceWithoutRecord } from '../../conditions/maintenance-report.ts';
import { operationsOf } from '../../conditions/operation-report.ts';
import { View } from '../../engine/view.ts';
import { rebuilt } from '../record/new-record.ts';
import { suspended } from '../restore/operation.ts';

const second = 1_000;
const at = (ago = second): string => new Date(now - ago).toISOString();
const mebibyte = 2 ** 20;

const asked = (kind: MaintenanceKind, request: { at?: string; ordinal?: number } = {}, size = 3): World =>
  new World(size).spec({ maintenance: { [kind]: { at: at(), ...request } } });

const told = (world: World) => maintenanceOf(new View(world.o, now, defaultSettings));

/** The effect succeeds, and changes what is observed. */
function succeeds(world: World): World {
  const { effect } = world.plan();
  if (!effect || !('done' in effect) || !effect.done) throw new Error(`nothing that can be done: ${world.plan().why}`);
  world.o.done.push(effect.done);
  if (effect.kind === 'MoveLeader') leads(world, effect.to);
  if (effect.kind === 'Defrag')
    world.o.status[effect.memberId] = known({ ...present(world, effect.memberId), dbSize: mebibyte });
  return world;
}

const present = (world: World, id: string) => {
  const found = world.o.status[id]!;
  return found.known ? found.v : status();
};

function leads(world: World, leader: string): World {
  for (const id of Object.keys(world.o.status)) world.o.status[id] = known({ ...present(world, id), leader });
  return world;
}

function filled(world: World, ordinal: number): World {
  const found = world.o.agents[ordinal]!;
  if (!found.known) throw new Error('no agent');
  return world.agent(ordinal, { ...found.v, volume: { ...found.v.volume, freeBytes: mebibyte } });
}

/** The last effect failed. */
function fails(world: World, error = 'Defragment.call: deadline exceeded'): World {
  const { effect } = world.plan();
  if (!effect || !('done' in effect) || !effect.done) throw new Error(`nothing that can fail: ${world.plan().why}`);
  return world.set({ failed: { ...world.o.failed, [effect.done]: error }, failures: 1, error: 'another error' });
}

describe('a request', () => {
  test.each(['defragment', 'moveLeader'] as const)('%s begins once, as an operation of the record', (kind) => {
    const world = asked(kind, { ordinal: 1 });
    expect(told(world)).toEqual({ [kind]: { at: at(), phase: 'Waiting', message: 'another change comes first' } });
    world.commit();
    expect(world.record.op).toMatchObject({ holder: 'reconciler-1' });
    expect(world.record.maintenance).toEqual({ [kind]: { at: at(), phase: 'Running', message: 'it has begun' } });
    expect(told(world)).toEqual(world.record.maintenance);
    world.op(undefined);
    expect(world.effect).toBeUndefined();
    expect(told(world)?.[kind]).toMatchObject({
      phase: 'Failed',
      message: 'it was interrupted; its result is not known',
    });
  });

  test('the one before is not forgotten while another waits and the record is rebuilt', () => {
    const world = asked('moveLeader', { at: at(60 * second), ordinal: 1 });
    const last = { at: at(60 * second), phase: 'Completed', message: 'c-1 leads' } as const;
    world.doc({ maintenance: { moveLeader: last } });
    // A newer one waits.
    world.spec({ maintenance: { moveLeader: { at: at(-60 * second), ordinal: 1 } } });
    const waiting = { at: at(-60 * second), phase: 'Waiting', message: 'its time has not come', last } as const;
    expect(told(world)).toEqual({ moveLeader: waiting });
    // The record is lost, and the older one is put back into the spec.
    world.doc({ maintenance: undefined }).spec({ maintenance: { moveLeader: { at: last.at, ordinal: 1 } } });
    world.resource({ status: { ...world.cluster.status, maintenance: { moveLeader: waiting } } });
    expect(rebuilt(new View(world.o, now, defaultSettings)).maintenance).toEqual({ moveLeader: last });
    expect(world.effect).toBeUndefined();
    expect(told(world)).toEqual({ moveLeader: last });
  });

  test('while the record is not known, a new one waits', () => {
    const last = { at: at(60 * second), phase: 'Completed', message: 'done' } as const;
    const { cluster } = asked('defragment');
    const message = 'the record of the cluster is not known';
    const waits = { defragment: { at: at(), phase: 'Waiting', message, last } } as const;
    const toldAfter = (maintenance: ClusterStatus['maintenance']) =>
      maintenanceWithoutRecord({ ...cluster, status: { maintenance } });
    expect(toldAfter({ defragment: last })).toEqual(waits);
    expect(toldAfter(waits)).toEqual(waits);
    expect(toldAfter({ defragment: { ...last, at: at() } })).toEqual({ defragment: { ...last, at: at() } });
  });

  test('an older one, and one that the status knows although the record was rebuilt, do not begin', () => {
    const world = asked('moveLeader', { ordinal: 1 });
    const result = { at: at(0), phase: 'Completed', message: 'c-2 leads' } as const;
    world.doc({ maintenance: { moveLeader: result } });
    expect(world.effect).toBeUndefined();
    world.doc({ maintenance: undefined });
    expect(world.effect).toBeDefined();
    world.resource({ status: { ...world.cluster.status, maintenance: { moveLeader: { ...result, at: at() } } } });
    expect(world.effect).toBeUndefined();
    expect(told(world)).toEqual({ moveLeader: { ...result, at: at() } });
  });

  test('a record that was put back, or is rebuilt, forgets none that the status knows', () => {
    const world = asked('moveLeader', { ordinal: 1 });
    const [older, newer] = [at(9 * second), at()].map(
      (time) => ({ at: time, phase: 'Completed', message: '' }) as const,
    );
    world.doc({ maintenance: { moveLeader: older! } });
    world.resource({ status: { ...world.cluster.status, maintenance: { moveLeader: newer! } } });
    expect(world.effect).toBeUndefined();
    expect(told(world)).toEqual({ moveLeader: newer });
    expect(rebuilt(new View(world.o, now, defaultSettings)).maintenance).toEqual({ moveLeader: newer });
  });

  test('one that waits for too long is reported as failed, also while the cluster is paused', () => {
    const world = asked('defragment', { at: at(defaultSettings.maintenanceLate) }).spec({ paused: true });
    expect(told(world)?.defragment).toMatchObject({ phase: 'Failed', message: expect.stringContaining('in time') });
  });

  test('waits while a pod has another template', () => {
    const world = asked('moveLeader', { ordinal: 1 }).sts({ updateRevision: 'r2' });
    world.set({ refused: { at: now, since: now, podUid: 'pod-2', message: '' } });
    expect(world.effect).toBeUndefined();
  });

  test('one that was only reported as waiting begins', () => {
    const world = asked('moveLeader', { ordinal: 1 });
    const waiting = { at: at(), phase: 'Waiting', message: '' } as const;
    world.resource({ status: { ...world.cluster.status, maintenance: { moveLeader: waiting } } });
    expect(world.rule).toBe('MoveLeader');
  });

  test('a newer one with the time in another zone begins', () => {
    const world = asked('defragment', { at: '2026-01-01T00:59:59+01:00' });
    world.doc({ maintenance: { defragment: { at: at(2 * second), phase: 'Completed', message: '' } } });
    expect(world.rule).toBe('Defragment');
  });

  test.each([
    ['whose time has not come', at(-60 * second), 'its time has not come', {}],
    ['while the cluster is paused', at(), 'the cluster is paused', { paused: true }],
  ])('%s waits', (_, time, message, spec: { paused?: boolean } = {}) => {
    const world = asked('defragment', { at: time }).spec(spec);
    expect(world.effect).toBeUndefined();
    expect(told(world)?.defragment).toMatchObject({ phase: 'Waiting', message });
  });

  test('a time that is none asks for nothing', () => {
    const world = asked('defragment', { at: 'soon' });
    expect(world.effect).toBeUndefined();
    expect(told(world)).toBeUndefined();
  });

  test.each(['defragment', 'moveLeader'] as const)('%s waits for a member that is down, then is given up', (kind) => {
    const world = asked(kind, { ordinal: 1 }).down(2);
    expect(world.effect).toBeUndefined();
    expect(told(world)?.[kind]).toMatchObject({
      phase: 'Waiting',
      message: 'the cluster is not ready: member id-2 (c-2) does not answer',
    });
    world.spec({ maintenance: { [kind]: { at: at(defaultSettings.maintenanceLate), ordinal: 1 } } }).commit();
    expect(world.record.op).toBeUndefined();
    expect(world.record.maintenance?.[kind]).toMatchObject({
      phase: 'Failed',
      message: expect.stringMatching(/could not begin in time/),
    });
  });

  test.each(['defragment', 'moveLeader'] as const)('%s of no member is given up', (kind) => {
    const world = asked(kind, { ordinal: 6 }).commit();
    expect(world.record.op).toBeUndefined();
    expect(world.record.maintenance?.[kind]).toMatchObject({ phase: 'Failed', message: 'c-6 is not a voting member' });
    expect(world.effect).toBeUndefined();
  });

  test('waits while another operation is in flight, and says which', () => {
    const world = asked('defragment').op({
      ...{ id: 'op', kind: 'ClearNoSpace', step: 'compact', revision: 1, done: [], holder: '', startedAt: '' },
    });
    expect(told(world)?.defragment).toMatchObject({ message: 'operation ClearNoSpace is in flight' });
  });
});

describe('the leader moves', () => {
  test('by one call', () => {
    const world = asked('moveLeader', { ordinal: 2 }).commit();
    expect(world.effect).toMatchObject({ kind: 'MoveLeader', leader: idOf(0), to: idOf(2) });
    succeeds(world).commit();
    expect(world.record).toMatchObject({ maintenance: { moveLeader: { phase: 'Completed', message: 'c-2 leads' } } });
    expect(world.record.op).toBeUndefined();
    expect(world.effect).toBeUndefined();
  });

  test('without a call to the member that leads', () => {
    const world = asked('moveLeader', { ordinal: 0 }).commit().commit();
    expect(world.record.maintenance?.moveLeader).toMatchObject({ phase: 'Completed' });
  });

  test('not again after a call that failed, or that another holder may have made', () => {
    const world = fails(asked('moveLeader', { ordinal: 2 }).commit(), 'MoveLeader.call: not leader').commit();
    expect(world.record.maintenance?.moveLeader).toMatchObject({
      phase: 'Failed',
      message: 'MoveLeader.call: not leader',
    });
    const other = asked('moveLeader', { ordinal: 2 }).commit().set({ self: 'process-2' }).commit();
    expect(other.record.maintenance?.moveLeader).toMatchObject({
      phase: 'Failed',
      message: 'the reconciler was restarted, so the result is not known',
    });
  });

  test('not once its target is removed by hand', () => {
    const world = asked('moveLeader', { ordinal: 2 }).commit().removed(2).commit();
    expect(world.record.op).toBeUndefined();
    expect(world.record.maintenance?.moveLeader?.message).toBe('member id-2 is no longer a voting member');
  });

  test('not without a name', () => {
    const world = asked('moveLeader').commit();
    expect(world.record.maintenance?.moveLeader).toMatchObject({ phase: 'Failed', message: 'it names no member' });
  });

  test('not while a member is down for some time, nor without a quorum', () => {
    const world = asked('moveLeader', { ordinal: 2 }).commit().down(1);
    expect(world.effect).toBeUndefined();
    world.o.since.down[idOf(1)] = longAgo;
    world.commit();
    expect(world.record.maintenance?.moveLeader).toMatchObject({
      phase: 'Failed',
      message: 'c-1 does not answer, or lags behind',
    });
    const none = asked('moveLeader', { ordinal: 2 }).commit().noQuorum();
    for (const ordinal of [0, 1, 2]) none.down(ordinal);
    none.commit();
    expect(none.record.maintenance?.moveLeader).toMatchObject({ phase: 'Failed', message: 'no quorum answers' });
  });
});

describe('a defragmentation', () => {
  test('does the followers, then moves the leader away, then does that member', () => {
    const world = asked('defragment').commit();
    for (const ordinal of [1, 2]) {
      world.commit();
      expect(world.record.op).toMatchObject({ present: { memberId: idOf(ordinal), by: 'process-1' } });
      expect(world.effect).toMatchObject({ kind: 'Defrag', memberId: idOf(ordinal) });
      succeeds(world).commit();
    }
    expect(world.effect).toMatchObject({ kind: 'MoveLeader', leader: idOf(0) });
    succeeds(world).commit();
    expect(world.effect).toMatchObject({ kind: 'Defrag', memberId: idOf(0) });
    succeeds(world).commit().commit();
    expect(world.record.op).toBeUndefined();
    expect(world.record.maintenance?.defragment).toEqual({
      at: at(),
      phase: 'Completed',
      message: 'c-1: 256.0 MiB to 1.0 MiB, c-2: 256.0 MiB to 1.0 MiB, c-0: 256.0 MiB to 1.0 MiB',
    });
    expect(world.effect).toBeUndefined();
  });

  test('of one member does only that one', () => {
    const world = succeeds(asked('defragment', { ordinal: 2 }).commit().commit())
      .commit()
      .commit();
    expect(world.record.maintenance?.defragment?.message).toBe('c-2: 256.0 MiB to 1.0 MiB');
  });

  test('does not defragment a leader that could not be moved, or leads again', () => {
    const world = fails(asked('defragment', { ordinal: 0 }).commit(), 'leader transfer took too long').commit();
    expect(world.record.maintenance?.defragment).toMatchObject({
      phase: 'Failed',
      message: 'c-0 leads, and writes would stop: leader transfer took too long',
    });
    const again = leads(succeeds(asked('defragment', { ordinal: 0 }).commit()), idOf(0)).commit();
    expect(again.record.maintenance?.defragment?.message).toMatch(/it was elected again/);
  });

  test('waits between two members until the pod of the last is ready', () => {
    const world = succeeds(asked('defragment').commit().commit()).commit().pod(1, { ready: false });
    expect(world.effect).toBeUndefined();
    expect(world.pod(1, { ready: true }).rule).toBe('Defragment.next');
  });

  test('ends at once if a volume is lost, also while a member that was tried does not answer', () => {
    const world = fails(asked('defragment').commit().commit()).volumeLost(1);
    expect(world.rule).toBe('Defragment.stop');
    expect(world.commit().rule).toBe('RemoveDead');
  });

  test('does not resume after a restore or a recovery took its place', () => {
    const world = fails(asked('defragment').commit().commit());
    expect(suspended(new View(world.o, now, defaultSettings))).toEqual({});
  });

  test('begins under NOSPACE while the reconciler has just cleared in vain', () => {
    const world = asked('defragment').set({ alarms: known([{ memberId: idOf(0), type: 'NoSpace' }]) });
    expect(world.rule).toBe('ClearNoSpace');
    world.doc({ failure: { of: 'ClearNoSpace', reason: 'NoSpace', message: '' } });
    world.o.since.failure = now;
    expect(world.commit().record.op).toMatchObject({ kind: 'Defragment' });
    expect(world.rule).toBe('Defragment.next');
  });

  test('does the only member of a cluster of one', () => {
    const world = asked('defragment', {}, 1).commit().commit();
    expect(world.effect).toMatchObject({ kind: 'Defrag', memberId: idOf(0) });
  });

  test('is over, with what was done, after a call that failed, or that another holder may have made', () => {
    const first = () => succeeds(asked('defragment').commit().commit()).commit().commit();
    const world = fails(first()).commit();
    expect(world.record.op).toBeUndefined();
    expect(world.record.maintenance?.defragment).toMatchObject({
      phase: 'Failed',
      message:
        'Defragment.call: deadline exceeded; whether c-2 is defragmented is not known; defragmented: c-1: 256.0 MiB to 1.0 MiB',
    });
    const other = first().set({ self: 'process-2', done: [] }).commit();
    expect(other.record.maintenance?.defragment).toMatchObject({
      phase: 'Failed',
      message: expect.stringMatching(/^the reconciler was restarted; whether c-2 is defragmented is not known/),
    });
  });

  test('goes on under another holder between two members', () => {
    const world = succeeds(asked('defragment').commit().commit()).commit();
    world.set({ self: 'process-2', done: [] });
    expect(world.rule).toBe('Defragment.next');
  });

  test('does not begin beside a backup', () => {
    const world = asked('defragment').resource({ backups: { running: 'nightly-1' } });
    expect(world.effect).toBeUndefined();
    expect(told(world)?.defragment?.message).toBe('it waits: a backup is being taken');
  });

  test.each<[string, (world: World) => unknown]>([
    ['a backup is being taken', (world) => world.resource({ backups: { running: 'nightly-1' } })],
    [
      'the cluster is being deleted',
      (world) => world.spec({ onDelete: 'Delete' }).resource({ deleting: true, finalizer: true }),
    ],
    ['alarm NOSPACE is raised', (world) => world.set({ alarms: known([{ memberId: idOf(0), type: 'NoSpace' }]) })],
    ['alarm CORRUPT is raised', (world) => world.set({ alarms: known([{ memberId: idOf(0), type: 'Corrupt' }]) })],
    ['pods are to be restarted', (world) => world.sts({ updateRevision: 'r2' })],
    ['it is no longer asked for', (world) => world.spec({ maintenance: {} })],
    ['it is no longer asked for', (world) => world.spec({ maintenance: { defragment: { at: at(0) } } })],
  ])('gives way between two members: %s', (why, change) => {
    const world = succeeds(asked('defragment').commit().commit()).commit();
    change(world);
    world.commit();
    expect(world.record.op).toBeUndefined();
    expect(world.record.maintenance?.defragment?.message).toBe(
      `it gave way: ${why}; defragmented: c-1: 256.0 MiB to 1.0 MiB`,
    );
  });

  test.each<[string, (world: World) => unknown]>([
    ['a backup begins', (world) => world.resource({ backups: { running: 'nightly-1' } })],
    ['it becomes the leader', (world) => leads(world, idOf(1))],
    ['it is not healthy', (world) => world.down(2)],
    ['its volume fills', (world) => filled(world, 1)],
    ['it is removed by hand', (world) => world.removed(1)],
  ])('takes the intent back if %s before the call', (_, change) => {
    const world = asked('defragment').commit().commit();
    change(world);
    expect(world.rule).toBe('Defragment.back');
    expect(world.commit().record.op).toMatchObject({ kind: 'Defragment', present: undefined });
  });

  test('keeps the slot while a member that was tried does not answer, then says what is not known', () => {
    const world = fails(asked('defragment').commit().commit()).down(1);
    world.o.since.down[idOf(1)] = longAgo;
    world.o.since.unwell = now - defaultSettings.unreachable;
    expect(world.effect).toBeUndefined();
    world.o.since.unwell = now - defaultSettings.defragmentLate;
    world.commit();
    expect(world.record.maintenance?.defragment).toMatchObject({
      phase: 'Failed',
      message: 'c-1 does not answer, or lags behind',
    });
  });

  test('ends if a member answers, but is not healthy for long', () => {
    const world = asked('defragment').commit().pod(2, { deleting: true });
    expect(world.effect).toBeUndefined();
    world.o.since.unwell = now - defaultSettings.unreachable;
    world.commit();
    expect(world.record.maintenance?.defragment?.message).toBe('not every member is healthy');
  });

  test('of a member that is removed meanwhile is not completed', () => {
    const world = asked('defragment', { ordinal: 2 }).commit().removed(2).commit();
    expect(world.record.maintenance?.defragment).toMatchObject({
      phase: 'Failed',
      message: 'c-2 is no longer a voting member',
    });
  });

  test('waits for a member that is not healthy for a moment, and ends if it stays so', () => {
    const world = asked('defragment').commit().down(2);
    expect(world.effect).toBeUndefined();
    world.o.since.down[idOf(2)] = longAgo;
    world.commit();
    expect(world.record.maintenance?.defragment).toMatchObject({
      phase: 'Failed',
      message: 'c-2 does not answer, or lags behind',
    });
  });

  test('ends before a member whose volume has no room', () => {
    const world = asked('defragment').commit();
    filled(world, 1).commit();
    expect(world.record.maintenance?.defragment).toMatchObject({
      phase: 'Failed',
      message: expect.stringMatching(/^the volume of c-1 has no room/),
    });
  });

  test('is an operation of the status, with its steps and its outcome', () => {
    const world = asked('defragment').commit();
    const reported = () => operationsOf(new View(world.o, now, defaultSettings), world.plan().conditions, now);
    expect(world.reason('Progressing')).toBe('Defragmenting');
    world.commit();
    const { operation } = reported();
    expect(operation).toMatchObject({
      type: 'Defragmenting',
      steps: [{ name: 'defragment c-1' }],
      next: ['defragment c-2', 'defragment c-0'],
    });
    fails(world).commit();
    world.resource({ status: { ...world.cluster.status, operation: operation! } });
    expect(reported().lastOperation).toMatchObject({ type: 'Defragmenting', outcome: 'Failed' });
  });
});
