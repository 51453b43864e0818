import { known } from '../known.ts';
import { agent, idOf, now, status, World } from '../observed.fixture.ts';

const full = 2 * 2 ** 30;

const alarmed = (change = {}) => {
  const world = new World(3, change);
  for (const i of [0, 1, 2]) world.o.status[idOf(i)] = known(status({ dbSize: full, quota: full }));
  return world.set({ alarms: known([1, 2].map((i) => ({ memberId: idOf(i), type: 'NoSpace' as const }))) });
};

const done = (world: World) => {
  const { effect } = world.plan();
  if (effect && 'done' in effect) world.o.done.push(effect.done);
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
  expect(world.reason('Held')).toBe('NoSpace');
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
  expect(alarmed().commit().down(2).row).toBe('ClearNoSpace.drop');
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

test('policy Report: only told', () => {
  const world = alarmed({ onNoSpace: 'Report' });
  expect(world.effect).toBeUndefined();
  expect(world.reason('Alarm')).toBe('NoSpace');
});
