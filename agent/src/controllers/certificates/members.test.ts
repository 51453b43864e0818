import { known, unknown } from '../../protocol/known.ts';
import { agent, World } from '../port/observed.fixture.ts';
import { memberReports } from './members.ts';

const end = { leaf: 'l', root: 'r', loaded: 'r' };
const nothing = { leaf: undefined, root: undefined, loaded: undefined };
const isDown = false;
const roots = { peer: { onDisk: 'r', loaded: 'r' }, client: { onDisk: 'r', loaded: 'r' } };
const leaves = { peer: 'l', client: 'l' };

test('has every member and every pod, however little is known of it', () => {
  const world = new World(3).agent(0, agent(0, { roots, leaves })).agent(1, undefined).joiner(3);
  world.agent(2, agent(2, { roots, leaves, etcd: { ...agent(2).etcd!, up: false } }));
  expect(memberReports(world.o)).toEqual(
    known([
      { pod: 'c-0', isDown, peers: end, clients: end },
      ...['c-1', 'c-2', 'c-3'].map((pod) => ({ pod, isDown, peers: nothing, clients: nothing })),
    ]),
  );
  // A member whose pod is gone.
  world.pods((pods) => pods.filter(({ ordinal }) => ordinal === 0));
  expect(memberReports(world.o)).toMatchObject({
    v: [{ pod: 'c-0' }, { pod: 'c-1', isDown: true }, { pod: 'c-2', isDown: true }],
  });
});

test('does not have a pod that is not a member and does not run', () => {
  const world = new World(3).joiner(3).pod(3, { running: false });
  expect(memberReports(world.o)).toMatchObject({ v: [{ pod: 'c-0' }, { pod: 'c-1' }, { pod: 'c-2' }] });
});

test('is unknown where a member may be missing', () => {
  const lacks = (change: Partial<World['o']>) => memberReports(new World(3).set(change).o);
  expect(lacks({ members: unknown('no leader') })).toEqual(unknown('no leader'));
  expect(lacks({ pods: unknown('no answer') })).toEqual(unknown('no answer'));
  expect(lacks({ cluster: known(undefined) }).known).toBe(false);
});

test('a member at the address of no pod is there, and reports nothing', () => {
  const foreign = new World(3).members(([first, ...rest]) => [
    { ...first!, peerUrls: ['http://elsewhere:2380'] },
    ...rest,
  ]);
  expect(memberReports(foreign.o)).toMatchObject({
    v: [{ pod: 'c-0' }, { pod: 'c-1' }, { pod: 'c-2' }, { pod: 'at http://elsewhere:2380', peers: {}, clients: {} }],
  });
});
