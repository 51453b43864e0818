import { known, unknown } from '../../protocol/known.ts';
import { now, status, World } from '../port/observed.fixture.ts';
import { defaultSettings } from '../port/settings.ts';
import { clusterStatus } from './conditions/status.ts';
import { passFacts } from './pass-facts.ts';

const factsOf = (world: World) => passFacts(world.o, now, defaultSettings);
const op = { id: 'op', holder: 'me', startedAt: '2026-11-22T02:00:00Z', kind: 'Upgrade', to: '3.7' } as const;

test('the operation is the one of the record; none differs from unknown', () => {
  expect(factsOf(new World().doc({ op })).operation).toMatchObject({ kind: 'Upgrade', startedAt: op.startedAt });
  expect(factsOf(new World()).operation).toBeNull();
  expect(factsOf(new World().set({ record: known(undefined) }))).toEqual({ operation: null, members: [] });
  expect(factsOf(new World().set({ record: unknown('no API') }))).toEqual({ operation: undefined, members: [] });
});

test('sizes and lags are exact, while the status rounds them', () => {
  const world = new World();
  const { raftIndex } = status();
  world.o.status['id-1'] = known(status({ dbSize: 5, appliedIndex: raftIndex - 3 }));
  const [, exact] = factsOf(world).members;
  expect(exact).toMatchObject({ pod: 'c-1', healthy: true, dbSize: 5, lag: 3 });
  const told = clusterStatus(world.o, [], now, defaultSettings)!.members[1];
  expect(told).toMatchObject({ dbSize: 1024 * 1024, lag: 0 });
});

test('a member that does not answer has neither a size nor a lag; without the list of members, none has a lag', () => {
  const world = new World();
  world.o.status['id-1'] = unknown('no answer');
  const [, silent] = factsOf(world).members;
  expect(silent).toMatchObject({ pod: 'c-1', memberId: 'id-1', healthy: false });
  expect(silent).not.toHaveProperty('lag');
  expect(silent).not.toHaveProperty('dbSize');
  const { members } = factsOf(new World().set({ members: unknown('no quorum') }));
  expect(members.map(({ lag }) => lag)).toEqual([undefined, undefined, undefined]);
});
