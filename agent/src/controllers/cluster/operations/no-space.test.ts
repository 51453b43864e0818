import { known, unknown } from '../../../protocol/known.ts';
import { agent, idOf, now, status, World } from '../observed.fixture.ts';
import { defaultSettings } from '../settings.ts';

const full = 2 * 2 ** 30;

const alarmed = (change = {}) => {
  const world = new World(3, change);
  for (const i of [0, 1, 2]) world.o.status[idOf(i)] = known(status({ dbSize: full, quota: full }));
  return world.set({ alarms: known([1, 2].map((i) => ({ memberId: idOf(i), type: 'NoSpace' as const }))) });
};

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

  test('nothing is disarmed with an unknown quota', () => {
    expect(on35(undefined).effect).toBeUndefined();
  });

  test('an agent that does not answer does not keep the slot', () => {
    expect(on35(full).agent(1, undefined).rule).toBe('ClearNoSpace.drop');
    expect(alarmed().agent(1, undefined).effect).toBeUndefined();
  });
});

const disarming = { id: 'op', kind: 'ClearNoSpace', step: 'disarm', revision: 1, holder: '', startedAt: '' } as const;

test('space that was cleared a moment ago and is full again is left to people for a while', () => {
  const world = alarmed()
    .op({ ...disarming, done: [] })
    .set({ alarms: known([]) })
    .commit();
  expect(world.record.spaceClearedAt).toBe(new Date(now).toISOString());
  world.set({ alarms: known([{ memberId: idOf(1), type: 'NoSpace' }]) });
  expect(world.effect).toBeUndefined();
  expect(world.reason('Stalled')).toBe('NoSpace');
  world.doc({ spaceClearedAt: new Date(now - defaultSettings.noSpaceBackoff).toISOString() });
  expect(world.rule).toBe('ClearNoSpace');
});

test('an alarm that a person disarmed does not count as cleared', () => {
  const world = alarmed()
    .op({ ...disarming, step: 'defrag', done: [] })
    .set({ alarms: known([]) });
  expect(world.rule).toBe('ClearNoSpace.done');
  expect(world.written).not.toHaveProperty('spaceClearedAt');
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
