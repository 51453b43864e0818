import { asking, idOf, now, World } from '../observed.fixture.ts';
import { defaultSettings } from '../settings.ts';

/** Its agent hangs, its etcd answers, its pod is not ready, and the template has changed. */
const forgotten = (ephemeral: boolean) => {
  const world = new World(3, { ephemeral });
  const { 2: _, ...members } = world.record.members;
  world.doc({ members });
  world.agent(2, undefined);
  return world.pods((pods) => pods.map((pod) => ({ ...pod, revision: 'r0', ready: pod.ordinal !== 2 })));
};

test.each([true, false])(
  'a voter that a rebuilt record does not know is none that never voted (ephemeral: %s)',
  (ephemeral) => {
    const world = forgotten(ephemeral).down(1).pod(1, { ready: false });
    expect(world.rule).not.toBe('RestartUnborn');
    expect(world.written?.op).toMatchObject({ ordinal: 1 });
  },
);

test('nor is it while nobody reads the member list', () => {
  expect(forgotten(true).noQuorum().effect).toBeUndefined();
});

test('a pod that holds no member follows the template at once', () => {
  const world = forgotten(false).removed(2).agent(2, asking(2));
  expect(world.effect).toEqual({ kind: 'DeletePod', ordinal: 2, uid: 'pod-2' });
});

test('a learner, too', () => {
  const world = forgotten(false)
    .removed(2)
    .learner(2, { id: idOf(2), name: 'c-2' });
  expect(world.rule).toBe('RestartUnborn');
});

describe('a pod that cannot start, and a template that is a newer one', () => {
  /** Its image cannot be pulled, say: there is no agent, and there is no etcd. */
  const stuck = (world: World, ordinal: number) => {
    world
      .down(ordinal)
      .agent(ordinal, undefined)
      .pod(ordinal, { revision: 'r0', running: false, began: false, ready: false });
    world.o.since.silent = { [ordinal]: now - defaultSettings.stable };
    return world;
  };
  const deleted = { kind: 'DeletePod', ordinal: 0, uid: 'pod-0' };

  test('is made again, though quorum is lost without it', () => {
    expect(stuck(new World(1).noQuorum(), 0).effect).toEqual(deleted);
  });

  test('is made again while a learner waits for all voters', () => {
    const world = new World(3);
    expect(stuck(world.learner(2, { id: idOf(2), name: 'c-2' }), 0).effect).toEqual(deleted);
  });

  test('is left alone while it may be starting, and on the template that there is', () => {
    const world = stuck(new World(1).noQuorum(), 0);
    world.o.since.silent = { 0: now - defaultSettings.stable + 1 };
    expect(world.effect).toBeUndefined();
    const begun = stuck(new World(1, { ephemeral: true }).noQuorum(), 0).pod(0, { began: true });
    expect(begun.rule).not.toBe('RestartUnstarted');
    const same = stuck(new World(1).noQuorum(), 0).pod(0, { revision: 'r1' });
    expect(same.rule).not.toBe('RestartUnstarted');
  });
});
