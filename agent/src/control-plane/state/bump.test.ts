import { bumpOf, highestServed } from './bump.ts';
import type { RestoreNote, Seen, Served } from './served-revisions.ts';

const seen = (revision: number, clusterId = 'c0'): Seen => ({ revision, clusterId, where: `${clusterId}` });
const served = (more: Partial<Served> = {}): Served => ({
  inStore: [],
  here: [],
  notes: [],
  unknown: [],
  mustAsk: [],
  clusterIds: ['c0'],
  ...more,
});
const note = (more: Partial<RestoreNote>): RestoreNote => ({
  ...{
    id: 'x',
    clusterId: 'c1',
    revision: 1e9 + 7,
    bump: 1e9,
    token: 't1',
    part: 'none',
    isRecent: true,
    isAlive: false,
  },
  ...more,
});
const request = { id: 'x', revision: 7, several: false, token: (bump: number) => `t${bump / 1e9}` };
const several = { ...request, several: true };

test.each<[string, Partial<Served>, number]>([
  ['nothing was restored yet', { inStore: [seen(7), seen(999)] }, 1e9],
  ['a later backup is of a restored cluster', { inStore: [seen(7), seen(1_000_000_009)] }, 2e9],
  ['the store notes a restore of another snapshot', { notes: [note({ id: 'y', revision: 3e9 + 9 })] }, 4e9],
  ['the store notes an earlier restore of the same one', { notes: [note({})] }, 2e9],
  ['a member answers', { here: [seen(9_000_001_969)] }, 10e9],
])('it exceeds every served revision: %s', (_, known, bump) => {
  expect(bumpOf(served(known), request)).toBe(bump);
});

test('a number that is too low is refused, for every source of a revision', () => {
  const low = { ...request, given: 5e9 };
  for (const known of [{ here: [seen(9e9)] }, { inStore: [seen(9e9)] }, { notes: [note({ revision: 9e9 })] }]) {
    expect(() => bumpOf(served(known), low)).toThrow(
      /=5000000000 moves .* to 5000000007, but .* reached 9000000000: .* 10000000000$/,
    );
  }
  expect(bumpOf(served({ here: [seen(5e9)] }), low)).toBe(5e9);
});

test('an unknown revision needs a number, unless the local data are the newest', () => {
  const unknown = { unknown: ['y was taken since'], inStore: [seen(1e9)] };
  expect(() => bumpOf(served(unknown), request)).toThrow(
    /unknown: y was taken since; pass --bump-revision, .* 2000000000$/,
  );
  expect(bumpOf(served(unknown), { ...request, isPlan: true })).toBe(2e9);
  expect(bumpOf(served(unknown), { ...request, given: 2e9 })).toBe(2e9);
  expect(bumpOf(served({ ...unknown, here: [seen(1e9 + 1)] }), request)).toBe(2e9);
  expect(() => bumpOf(served({ ...unknown, here: [seen(3)] }), request)).toThrow(/is unknown/);
});

test('a late node joins the restore of the others', () => {
  const alive = { notes: [note({ isAlive: true, isRecent: false })], here: [seen(1e9 + 90, 'c1')] };
  for (const given of [undefined, 1e9]) {
    const asked = given === undefined ? several : { ...several, given };
    expect(bumpOf(served({ notes: [note({})] }), asked)).toBe(1e9);
    expect(bumpOf(served(alive), asked)).toBe(1e9);
    expect(bumpOf(served({ ...alive, inStore: [seen(1e9 + 50, 'c1')] }), asked)).toBe(1e9);
  }
  // This node has served in that restore, so it is in the past.
  expect(bumpOf(served({ notes: [note({ part: 'served' })] }), several)).toBe(2e9);
  expect(bumpOf(served({ notes: [note({ isRecent: false })] }), several)).toBe(2e9);
  // A restore of a single node can only be continued by the same node, if it was killed before it served.
  expect(bumpOf(served({ notes: [note({ part: 'begun' })] }), request)).toBe(1e9);
});

test('no node joins a restore whose cluster has served and is gone', () => {
  const backedUp = { notes: [note({})], inStore: [seen(7), seen(1e9 + 22, 'c1')] };
  const began = { notes: [note({ part: 'begun' })], inStore: [seen(7), seen(1e9 + 22, 'c1')] };
  // The member answers without a quorum: the members that had one are gone.
  const left = { notes: [note({})], here: [seen(1e9 + 22, 'c1')], inStore: [seen(7)] };
  expect(bumpOf(served(backedUp), several)).toBe(2e9);
  expect(bumpOf(served(began), several)).toBe(2e9);
  expect(() => bumpOf(served({ ...left, notes: [note({ isRecent: false })] }), { ...several, given: 1e9 })).toThrow(
    /reached 1000000022/,
  );
  expect(bumpOf(served(left), several)).toBe(2e9);
  // The members that serve under its id are behind a backup of it: it has already gone back.
  expect(bumpOf(served({ ...backedUp, notes: [note({ isAlive: true })], here: [seen(1e9 + 9, 'c1')] }), several)).toBe(
    2e9,
  );
});

test('no node joins if a revision is unknown, and a plan joins nothing', () => {
  const unknown = { unknown: ['y was taken since'], notes: [note({})], inStore: [seen(7)] };
  expect(() => bumpOf(served(unknown), several)).toThrow(/unknown: y was taken since/);
  // The note of the previous node belongs to the restore in progress, so the local data still count as the newest.
  expect(bumpOf(served({ ...unknown, here: [seen(99)] }), several)).toBe(1e9);
  expect(bumpOf(served({ notes: [note({})] }), { ...several, isPlan: true })).toBe(2e9);
});

test('a number without room for revisions after the last backup is refused if no data show them', () => {
  const low = { ...request, given: 1 };
  const known = { inStore: [seen(7)] };
  expect(() => bumpOf(served(known), low)).toThrow(
    /=1 moves .* to 8, but c0 reached 7, and nothing shows how far it got after that: .* for example 1000000000$/,
  );
  expect(() => bumpOf(served({ ...known, here: [seen(1)] }), low)).toThrow(/nothing shows/);
  expect(bumpOf(served({ ...known, here: [seen(7)] }), low)).toBe(1);
  // A new etcd in an empty directory does not show how far the previous one got.
  const fresh = { ...seen(900), isFresh: true };
  expect(() => bumpOf(served({ ...known, here: [fresh] }), { ...low, given: 1_000 })).toThrow(/nothing shows/);
  expect(() => bumpOf(served({ ...known, unknown: ['y was taken since'], here: [fresh] }), request)).toThrow(
    /is unknown/,
  );
  expect(bumpOf(served({ ...known, here: [fresh] }), request)).toBe(1e9);
  expect(bumpOf(served(known), { ...request, given: 5e8 })).toBe(5e8);
});

test('several nodes use only facts that all of them see', () => {
  expect(bumpOf(served({ inStore: [seen(7)], here: [seen(900)] }), several)).toBe(1e9);
  const known = served({ inStore: [seen(7)], here: [seen(4e9)] });
  expect(() => bumpOf(known, several)).toThrow(/pass the same --bump-revision on all nodes, for example 5000000000$/);
  expect(bumpOf(known, { ...several, isPlan: true })).toBe(5e9);
});

test('what only a person can judge is asked for, even if the local data are the newest', () => {
  const known = { mustAsk: ['y was not given out'], inStore: [seen(7)], here: [seen(99)] };
  expect(() => bumpOf(served(known), request)).toThrow(/unknown: y was not given out; pass --bump-revision/);
  expect(() => bumpOf(served({ ...known, unknown: known.mustAsk }), request)).toThrow(/unknown: y was not given out;/);
  expect(bumpOf(served(known), { ...request, given: 1e9 })).toBe(1e9);
});

test('a number that leads beyond every revision is refused', () => {
  expect(() => bumpOf(served({ here: [seen(7)] }), { ...request, given: Number.MAX_SAFE_INTEGER })).toThrow(
    /^x: its revision 7 cannot be raised by 9007199254740991/,
  );
});

test('the highest revision may be known by a note alone', () => {
  expect(highestServed(served({ inStore: [seen(7)], here: [seen(8)], notes: [note({ revision: 9 })] }))).toMatchObject({
    revision: 9,
    clusterId: 'c1',
  });
  expect(highestServed(served({ inStore: [seen(7)], here: [seen(8)], notes: [note({ revision: 1 })] })).revision).toBe(
    8,
  );
});

test('only what serves the data of the snapshot is a reason to read the finding first', () => {
  const message = (here: Seen) => {
    try {
      bumpOf(served({ mustAsk: ['y was not given out'], here: [{ ...here, hasQuorum: true }] }), request);
    } catch (error) {
      return (error as Error).message;
    }
    return '';
  };
  expect(message(seen(9))).toMatch(/ \(c0 serves with a quorum: see the finding of --plan first\)/);
  for (const other of [seen(3), seen(900, 'ff')])
    expect(message(other)).toMatch(/^the highest .* y was not given out;/);
});
