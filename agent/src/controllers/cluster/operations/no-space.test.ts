import { known, unknown } from '../../../protocol/known.ts';
import type { RestoreOp } from '../../../protocol/record.ts';
import { troubleOf } from '../../kubernetes/restore-progress.ts';
import { agent, idOf, now, status, World } from '../../port/observed.fixture.ts';
import { defaultSettings } from '../../port/settings.ts';
import { clusterStatus } from '../conditions/status.ts';

const full = 2 * 2 ** 30;

const alarmed = (change = {}) => {
  const world = new World(3, change);
  for (const i of [0, 1, 2]) world.o.status[idOf(i)] = known(status({ dbSize: full, quota: full }));
  return world.set({ alarms: known([1, 2].map((i) => ({ memberId: idOf(i), type: 'NoSpace' as const }))) });
};

const iso = (time: number) => new Date(time).toISOString();

const clearing = { id: 'op', kind: 'ClearNoSpace', done: [] as string[], holder: '', startedAt: '' } as const;

const done = (world: World) => {
  const { effect } = world.plan();
  if (effect && 'done' in effect && effect.done) world.o.done.push(effect.done);
  return world;
};

test('compact, followers, leader, and disarmed one by one when there is room', () => {
  const world = alarmed().commit();
  expect(world.effect).toMatchObject({ kind: 'Compact', revision: 4000 });
  done(world).commit();
  for (const expected of [idOf(1), idOf(2), idOf(0)]) {
    expect(world.effect).toMatchObject({ kind: 'Defrag', memberId: expected });
    done(world).commit();
  }
  world.commit();
  expect(world.record.op).toMatchObject({ step: 'disarm' });
  for (const i of [0, 1, 2]) world.o.status[idOf(i)] = known(status({ quota: full }));
  expect(world.effect).toEqual({ kind: 'Disarm', memberId: idOf(1), alarm: 'NoSpace' });
  world.set({ alarms: known([]) });
  expect(world.written).not.toHaveProperty('op');
});

test('still full: held, and not at once again', () => {
  const world = alarmed().op({
    id: 'op',
    kind: 'ClearNoSpace',
    step: 'disarm',
    revision: 1,
    done: [],
    holder: '',
    startedAt: '',
  });
  for (const i of [0, 1, 2]) world.o.status[idOf(i)] = known(status({ dbSize: full, dbInUse: full, quota: full }));
  world.commit();
  expect(world.record).toMatchObject({ failure: { of: 'ClearNoSpace', reason: 'NoSpace' } });
  world.o.since.failure = now;
  expect(world.effect).toBeUndefined();
  expect(world.reason('Stalled')).toBe('NoSpace');
  expect(world.reason('Available')).toBe('NoSpace');
});

test('no room for a copy: not defragmented', () => {
  const world = alarmed().op({
    id: 'op',
    kind: 'ClearNoSpace',
    step: 'defrag',
    revision: 1,
    done: [],
    holder: '',
    startedAt: '',
  });
  world.agent(1, agent(1, { volume: { ...agent(1).volume, freeBytes: 1 } }));
  expect(world.written?.failure?.message).toContain('id-1');
});

test('no room for a copy: a larger volume ends it, however much is in use', () => {
  const world = alarmed().op({ ...clearing, step: 'defrag', revision: 1, deep: true });
  const [volume] = [agent(1).volume];
  for (const i of [0, 1, 2])
    world.o.status[idOf(i)] = known(status({ dbSize: full, dbInUse: 0.88 * full, quota: full }));
  world.agent(1, agent(1, { volume: { ...volume, freeBytes: 1 } })).commit();
  world.o.since.failure = now;
  expect([world.record.failure?.message, world.effect]).toEqual([expect.stringContaining('larger'), undefined]);
  world.agent(1, agent(1));
  expect(world.written?.op).toMatchObject({ kind: 'ClearNoSpace', step: 'compact' });
});

test('a member that does not answer gets the slot first', () => {
  expect(alarmed().commit().down(2).rule).toBe('ClearNoSpace.drop');
});

test('members unknown: none counts as defragmented', () => {
  const world = alarmed().op({
    id: 'op',
    kind: 'ClearNoSpace',
    step: 'defrag',
    revision: 1,
    done: [],
    holder: '',
    startedAt: '',
  });
  expect(world.noQuorum().effect).toBeUndefined();
});

test('policy Report: only reported', () => {
  const world = alarmed({ onNoSpace: 'Report' });
  expect(world.effect).toBeUndefined();
  expect(world.reason('Alarm')).toBe('NoSpace');
});

describe('on 3.5, which shows its quota only in its metrics', () => {
  const on35 = (quota: number | undefined) => {
    const world = alarmed().op({
      id: 'op',
      kind: 'ClearNoSpace',
      step: 'disarm',
      revision: 1,
      done: [0, 1, 2].map(idOf),
      holder: '',
      startedAt: '',
    });
    for (const i of [0, 1, 2]) {
      world.o.status[idOf(i)] = known(status({ version: '3.5.35', dbSize: full }));
      world.agent(i, agent(i, { etcd: { ...agent(i).etcd!, ...(quota !== undefined && { quota }) } }));
    }
    return world;
  };

  test('a database as large as its quota has no room, whatever the volume could hold', () => {
    expect(on35(full).rule).toBe('ClearNoSpace.full');
    expect(on35(2 * full).rule).toBe('ClearNoSpace.disarm');
  });

  test('with an unknown quota nothing is disarmed, and the operation ends until it is known', () => {
    const world = on35(undefined);
    expect(world.rule).toBe('ClearNoSpace.full');
    world.commit();
    world.o.since.failure = now;
    expect(world.message('Stalled')).toMatch(/^the quota of member id-0 is unknown/);
    expect(world.effect).toBeUndefined();
    for (const i of [0, 1, 2]) world.agent(i, agent(i, { etcd: { ...agent(i).etcd!, quota: 2 * full } }));
    expect(world.rule).toBe('ClearNoSpace');
  });

  test('an agent that does not answer does not keep the slot', () => {
    expect(on35(full).agent(1, undefined).rule).toBe('ClearNoSpace.drop');
    expect(alarmed().agent(1, undefined).effect).toBeUndefined();
  });
});

describe('the second time within minutes', () => {
  const failure = { of: 'ClearNoSpace', reason: 'NoSpace', message: 'full', revision: 5000 };
  /** Cleared in vain a moment ago. */
  const stuck = (sizes: { dbSize: number; dbInUse: number; quota: number; revision?: number }) => {
    const world = alarmed().doc({ failure });
    world.o.since.failure = now;
    for (const i of [0, 1, 2]) world.o.status[idOf(i)] = known(status(sizes));
    return world;
  };

  test('what has not changed is left to people', () => {
    expect(stuck({ dbSize: full, dbInUse: full, quota: full }).effect).toBeUndefined();
    const later = stuck({ dbSize: full, dbInUse: full, quota: full });
    later.o.since.failure = 0;
    expect(later.effect).toBeUndefined();
  });

  test('the quota was raised: writes go on at once, and nobody is defragmented', () => {
    const world = stuck({ dbSize: full, dbInUse: full, quota: 4 * full }).commit();
    expect(world.record.op).toMatchObject({ step: 'disarm' });
    expect(world.effect).toMatchObject({ kind: 'Disarm' });
  });

  test('somebody compacted: it is defragmented at once, unless a volume has no room for that', () => {
    const compacted = { dbSize: full, dbInUse: full / 4, quota: full };
    expect(stuck(compacted).rule).toBe('ClearNoSpace');
    const tight = stuck(compacted);
    tight.agent(1, agent(1, { volume: { ...agent(1).volume, freeBytes: 1 } }));
    expect(tight.effect).toBeUndefined();
  });

  test('keys were deleted: their history is compacted a minute after the failure', () => {
    const world = stuck({ dbSize: full, dbInUse: full, quota: full, revision: 5001 });
    expect(world.effect).toBeUndefined();
    world.o.since.failure = now - defaultSettings.noSpaceBackoff;
    expect(world.commit().effect).toMatchObject({ kind: 'Compact' });
  });

  test('it is full again: it is cleared again, as often as it comes', () => {
    const clear = (before: number) => {
      const world = alarmed().doc({ spaceCleared: { at: iso(before) } });
      expect(world.rule).toBe('ClearNoSpace');
      world.commit();
      return world.set({ alarms: known([]) }).commit();
    };
    expect(clear(now - 2 * 60_000).record.spaceCleared).toEqual({ at: iso(now), before: iso(now - 2 * 60_000) });
  });

  test('a member that does not answer when the alarm is gone does not hide that it was cleared', () => {
    const world = alarmed().op({ ...clearing, step: 'disarm', revision: 4000 });
    world.set({ alarms: known([]) });
    world.o.status[idOf(2)] = unknown('no answer');
    expect(world.rule).toBe('ClearNoSpace.done');
    expect(world.written?.spaceCleared).toBeDefined();
  });
});

describe('the alarm came back within minutes, and was cleared again', () => {
  const minute = 60_000;
  const use = (world: World, dbInUse: number, quota: number | undefined) => {
    for (const i of [0, 1, 2]) world.o.status[idOf(i)] = known(status({ dbSize: dbInUse, dbInUse, quota }));
    return world;
  };
  const again = (before = now - 2 * minute, at = now - minute, world = new World(3)) =>
    use(world.doc({ spaceCleared: { at: iso(at), before: iso(before) } }), 0.85 * full, full);
  const state = (world: World) => {
    const { conditions } = world.plan();
    const { phase, reason } = clusterStatus(world.o, conditions, now, defaultSettings)!;
    return `${phase} (${reason})`;
  };

  test('its values leave too little room: a person is called, and nothing is said to wait', () => {
    const world = again();
    expect(state(world)).toBe('Degraded (SpaceShort)');
    expect(world.reason('Stalled')).toBe('NoActionRequired');
    expect(world.message('Stalled')).not.toContain('NOSPACE');
    expect(world.reason('Available')).toBe('Serving');
    expect(world.message('Degraded')).toMatch(
      /writes go on now.* 1\.7 GiB of 2(\.0)? GiB.*Delete keys.*each alarm.*raise the quota.*ends by itself.*85 %/,
    );
  });

  test.each<[string, World]>([
    ['keys were deleted', use(again(), 0.01 * full, full)],
    ['the quota was raised', use(again(), 0.85 * full, 2 * full)],
    ['how full it is, is unknown', use(again(), full, undefined)],
    ['it was long ago', again(now - 13 * minute, now - 11 * minute)],
    ['it came back later', again(now - 12 * minute, now - minute)],
    ['the clock was set back after the first', again(now + 60 * minute, now)],
    ['the clock was set back after the second', again(now + 59 * minute, now + 60 * minute)],
  ])('%s: that ends the report', (_, world) => {
    expect(state(world)).toBe('Ready (UpToDate)');
    expect(world.plan().conditions.find(({ reason }) => reason === 'SpaceShort')).toBeUndefined();
  });

  test('while it is raised once more, the report stays, and says that writes are refused', () => {
    const world = again().set({ alarms: known([{ memberId: idOf(1), type: 'NoSpace' }]) });
    expect(world.reason('Degraded')).toBe('SpaceShort');
    expect(world.message('Degraded')).toContain('writes are refused until');
    expect(world.message('Degraded')).not.toContain('writes go on');
    expect(world.reason('Available')).toBe('NoSpace');
    const busy = world.op({ ...clearing, step: 'compact', revision: 4000 });
    expect(state(busy)).toBe('ClearingNoSpace (ClearingNoSpace)');
    expect(
      again()
        .set({ alarms: unknown('no answer') })
        .reason('Degraded'),
    ).not.toBe('SpaceShort');
  });

  test('what only a person can end is reported as that alone', () => {
    const kept = again().set({ alarms: known([{ memberId: idOf(1), type: 'NoSpace' }]) });
    const failure = { of: 'ClearNoSpace', reason: 'NoSpace', message: 'x', revision: 5000 };
    expect(state(kept.doc({ failure }))).toBe('Stalled (NoSpace)');
    expect(kept.reason('Degraded')).toBe('AllMembersHealthy');
    const reported = again().spec({ onNoSpace: 'Report' });
    expect(reported.reason('Degraded')).toBe('AllMembersHealthy');
  });

  test('an outage is reported instead', () => {
    const world = again().noQuorum();
    expect(state(world)).toBe('QuorumLost (MajorityDown)');
    expect(world.plan().conditions.find(({ reason }) => reason === 'SpaceShort')).toBeUndefined();
    expect(state(again().down(1))).toBe('Degraded (MemberDown)');
  });

  test('a restore that runs, and one that waits, are not said to be hindered by it', () => {
    const args = { id: 'monday', uid: 'u', snapshotId: 's', safetyBackup: false };
    const op = { id: 'op', kind: 'Restore', step: 'verify', holder: '', startedAt: '', args } as unknown as RestoreOp;
    const world = again().op(op);
    expect(state(world)).toBe('PreparingRestore (PreparingRestore)');
    const reported = clusterStatus(world.o, world.plan().conditions, now, defaultSettings);
    expect(troubleOf(reported)).toBeUndefined();
  });
});

describe('the compaction goes as deep as the space needs', () => {
  const compacted = (inUse: number, change = {}) => {
    const world = alarmed().op({ ...clearing, step: 'defrag', revision: 4000, ...change });
    for (const i of [0, 1, 2]) world.o.status[idOf(i)] = known(status({ dbSize: full, dbInUse: inUse, quota: full }));
    return world;
  };

  test('the last revisions hold everything: none is kept', () => {
    const world = compacted(0.8 * full);
    expect(world.rule).toBe('ClearNoSpace.deeper');
    expect(world.commit().effect).toMatchObject({ kind: 'Compact', revision: 5000 });
    expect(done(world).commit().rule).toBe('ClearNoSpace.defrag');
  });

  test('half of the quota is enough, and one member that has compacted shows it', () => {
    expect(compacted(0.4 * full).rule).toBe('ClearNoSpace.defrag');
    const late = compacted(0.8 * full);
    late.o.status[idOf(2)] = known(status({ dbSize: full, dbInUse: 0.1 * full, quota: full }));
    expect(late.rule).toBe('ClearNoSpace.defrag');
  });

  test('the values alone fill it: no member is defragmented in vain, and the message says what ends it', () => {
    const world = compacted(0.95 * full, { deep: true });
    expect(world.rule).toBe('ClearNoSpace.useless');
    world.commit();
    world.o.since.failure = now;
    expect(world.message('Stalled')).toMatch(/1\.9 GiB of 2(\.0)? GiB.*Delete keys.*raise the quota/);
  });

  test('a member that has room is not defragmented', () => {
    const world = compacted(0.4 * full);
    world.o.status[idOf(1)] = known(status({ dbSize: full / 4, dbInUse: full / 4, quota: full }));
    expect(world.effect).toMatchObject({ kind: 'Defrag', memberId: idOf(2) });
  });
});

test('a database that is nearly full is looked at every two seconds', () => {
  expect(new World(3).plan().requeueMs).toBe(defaultSettings.steady);
  const world = new World(3);
  world.o.status[idOf(1)] = known(status({ dbSize: 0.91 * full, quota: full }));
  expect(world.plan().requeueMs).toBe(defaultSettings.op);
});

test('nothing is disarmed while the member list is unreadable', () => {
  const op = {
    id: 'op',
    kind: 'ClearNoSpace',
    step: 'disarm',
    revision: 1,
    done: [],
    holder: '',
    startedAt: '',
  } as const;
  const world = alarmed().op({ ...op, done: [] });
  expect(world.set({ members: unknown('no answer') }).effect).toBeUndefined();
});
