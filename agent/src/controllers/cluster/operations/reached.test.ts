import { known } from '../../../protocol/known.ts';
import type { RecordDoc } from '../../../protocol/record.ts';
import { emptyMemory, remember } from '../observe.ts';
import { agent, idOf, longAgo, now, status, World } from '../observed.fixture.ts';
import { defaultSettings } from '../settings.ts';

const { markEvery } = defaultSettings;
const look = { at: now - markEvery, revision: 5000, index: { [idOf(0)]: 990, [idOf(1)]: 980, [idOf(2)]: 985 } };
const marks = (doc: RecordDoc | undefined) => Object.values(doc?.members ?? {}).map(({ reached }) => reached?.index);

/** The member has come to this index of its log, and the cluster to this revision. */
function at(index: number, revision: number): World {
  const world = new World(3);
  for (const i of [0, 1, 2]) {
    world.o.status[idOf(i)] = known(status({ revision }));
    world.agent(i, agent(i, { etcd: { ...agent(i).etcd!, committedIndex: index } }));
  }
  return world;
}

describe('the marks of the members', () => {
  test('are what an earlier look saw', () => {
    const world = new World(3).set({ reached: look });
    expect(marks(world.written)).toEqual([990, 980, 985]);
    expect(world.commit().effect).toBeUndefined();
  });

  test('are not written again without a new key, however much the log has grown', () => {
    const world = new World(3).set({ reached: look }).commit();
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

  test('never go back', () => {
    const world = new World(3).set({ reached: look }).commit();
    const index = { [idOf(0)]: 900, [idOf(1)]: 1000, [idOf(2)]: 985 };
    expect(marks(world.set({ reached: { at: look.at, revision: 5001, index } }).written)).toEqual([990, 1000, 985]);
  });
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
