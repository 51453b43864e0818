import { known, unknown } from '../../../protocol/known.ts';
import { agent, idOf, now, status, World } from '../observed.fixture.ts';
import { defaultSettings } from '../settings.ts';

const full = 2 * 2 ** 30;

const alarmed = (change = {}) => {
  const world = new World(3, change);
  for (const i of [0, 1, 2]) world.o.status[idOf(i)] = known(status({ dbSize: full, quota: full }));
  return world.set({ alarms: known([1, 2].map((i) => ({ memberId: idOf(i), type: 'NoSpace' as const }))) });
};

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

  test('it is full again: it is cleared again, and a person is called', () => {
    const used = { dbSize: 0.86 * full, dbInUse: 0.85 * full, quota: full };
    const at = (time: number) => new Date(time).toISOString();
    const clear = (before: number) => {
      const world = alarmed().doc({ spaceCleared: { at: at(before) } });
      expect(world.rule).toBe('ClearNoSpace');
      world.commit();
      world.set({ alarms: known([]) }).commit();
      for (const i of [0, 1, 2]) world.o.status[idOf(i)] = known(status(used));
      return world;
    };
    const soon = clear(now - 2 * 60_000);
    expect(soon.record.spaceCleared).toEqual({ at: at(now), before: at(now - 2 * 60_000) });
    expect(soon.reason('Stalled')).toBe('NoSpace');
    expect(soon.message('Stalled')).toMatch(/1\.7 GiB of 2(\.0)? GiB.*Delete keys.*raise the quota/);
    expect(soon.reason('Available')).toBe('Serving');
    soon.o.date = now + 11 * 60_000;
    expect(soon.reason('Stalled')).not.toBe('NoSpace');
    expect(clear(now - 11 * 60_000).reason('Stalled')).not.toBe('NoSpace');
    // A clock was set back.
    expect(clear(now + 60 * 60_000).reason('Stalled')).not.toBe('NoSpace');
    soon.o.date = now - 60 * 60_000;
    expect(soon.reason('Stalled')).not.toBe('NoSpace');
  });

  test('it is full again, and how full is unknown: no amounts are made up', () => {
    const at = (time: number) => new Date(time).toISOString();
    const world = new World(3).doc({ spaceCleared: { at: at(now - 60_000), before: at(now - 120_000) } });
    world.o.date = now;
    for (const i of [0, 1, 2]) world.o.status[idOf(i)] = known(status({ dbInUse: full, quota: undefined }));
    expect(world.message('Stalled')).toMatch(/came back within minutes and was cleared again\. Delete keys/);
    for (const i of [0, 1, 2]) world.o.status[idOf(i)] = unknown('no answer');
    expect(world.message('Stalled')).toMatch(/was cleared again\. Delete keys/);
  });

  test('a member that does not answer when the alarm is gone does not hide that it was cleared', () => {
    const world = alarmed().op({ ...clearing, step: 'disarm', revision: 4000 });
    world.set({ alarms: known([]) });
    world.o.status[idOf(2)] = unknown('no answer');
    expect(world.rule).toBe('ClearNoSpace.done');
    expect(world.written?.spaceCleared).toBeDefined();
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
