import { known, unknown } from '../../../protocol/known.ts';
import type { RecordDoc } from '../../../protocol/record.ts';
import { agent, idOf, longAgo, now, status, World } from '../../port/observed.fixture.ts';
import { defaultSettings } from '../../port/settings.ts';
import { emptyMemory, remember } from '../observe.ts';

const { markEvery } = defaultSettings;
const look = { at: now - markEvery, revision: 5000, index: { [idOf(0)]: 990, [idOf(1)]: 980, [idOf(2)]: 985 } };
const marks = (doc: RecordDoc | undefined) => Object.values(doc?.members ?? {}).map(({ reached }) => reached?.index);

/** The members have come to this index of their logs. */
function committed(world: World, index: number): World {
  for (const i of [0, 1, 2]) world.agent(i, agent(i, { etcd: { ...agent(i).etcd!, committedIndex: index } }));
  return world;
}

function at(index: number, revision: number): World {
  const world = committed(new World(3), index);
  for (const i of [0, 1, 2]) world.o.status[idOf(i)] = known(status({ revision }));
  return world;
}

describe('the marks of the members', () => {
  test('are what an earlier look saw', () => {
    const world = new World(3).set({ reached: look });
    expect(marks(world.written)).toEqual([990, 980, 985]);
    expect(world.commit().effect).toBeUndefined();
  });

  test('are not written again without a new key, however much the log has grown', () => {
    const world = committed(new World(3).set({ reached: look }).commit(), 99_000);
    const index = { [idOf(0)]: 99_000, [idOf(1)]: 98_000, [idOf(2)]: 98_500 };
    expect(world.set({ reached: { ...look, index } }).effect).toBeUndefined();
    expect(marks(world.set({ reached: { ...look, index, revision: 5001 } }).written)).toEqual([99_000, 98_000, 98_500]);
  });

  test('are not written of an empty cluster', () => {
    expect(new World(3).set({ reached: { ...look, revision: 1 } }).effect).toBeUndefined();
  });

  test('are not of a member that was away in between, nor of one that has no vote', () => {
    const world = new World(3).set({ reached: look });
    world.o.since.healthy = { [idOf(0)]: longAgo, [idOf(1)]: look.at + 1, [idOf(2)]: longAgo };
    world.record.members[2]!.everVoter = false;
    expect(marks(world.doc({}).written)).not.toContain(980);
  });

  test('are not of a member whose log ends before them now, nor of one that cannot be asked', () => {
    const world = new World(3).set({ reached: look });
    world.agent(0, agent(0, { etcd: { ...agent(0).etcd!, committedIndex: 989 } })).agent(1, undefined);
    expect(marks(world.written)).toEqual([undefined, undefined, 985]);
    world.agent(0, agent(0, { etcd: { ...agent(0).etcd!, committedIndex: 990 } }));
    expect(marks(world.written)).toEqual([990, undefined, 985]);
  });

  test('never go back', () => {
    const world = new World(3).set({ reached: look }).commit();
    const index = { [idOf(0)]: 900, [idOf(1)]: 1000, [idOf(2)]: 985 };
    expect(marks(world.set({ reached: { at: look.at, revision: 5001, index } }).written)).toEqual([990, 1000, 985]);
  });
});

test.each<[string, (world: World) => World]>([
  ['the cluster', (world) => world.set({ cluster: unknown('no answer') })],
  ['the record', (world) => world.set({ record: unknown('no answer') })],
])('nothing is kept of looks before a time in which %s could not be read', (_, unread) => {
  const pass = (memory: ReturnType<typeof emptyMemory>, world: World, time: number) =>
    remember(memory, world.o, time, defaultSettings);
  let memory = pass(emptyMemory(longAgo), at(1000, 5000), now - 3 * markEvery);
  memory = pass(memory, at(1100, 5100), now - 2 * markEvery);
  memory = pass(memory, unread(at(1100, 5100)), now - 2 * markEvery + 1);
  // Every volume has been set back meanwhile, and the cluster has grown beyond its old index.
  memory = pass(memory, at(1200, 5200), now);
  expect(memory).toMatchObject({ look: { at: now }, reached: undefined });
});

test('a look becomes the one of the marks when it is old enough, and the next one begins', () => {
  const pass = (memory: ReturnType<typeof emptyMemory>, index: number, time: number) =>
    remember(memory, at(index, index + 4000).o, time, defaultSettings);
  let memory = pass(emptyMemory(longAgo), 1000, now);
  expect(memory.reached).toBeUndefined();
  memory = pass(memory, 1100, now + markEvery - 1);
  expect(memory.reached).toBeUndefined();
  memory = pass(memory, 1200, now + markEvery);
  expect(memory.reached).toMatchObject({ at: now, revision: 5000, index: { [idOf(0)]: 1000 } });
  memory = pass(memory, 1300, now + 2 * markEvery);
  expect(memory.reached).toMatchObject({ at: now + markEvery, index: { [idOf(0)]: 1200 } });
});
