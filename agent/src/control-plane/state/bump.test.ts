import { errorLike } from '../../../test/support/error-like.ts';
import type { AgentError } from '../../lib/errors.ts';
import { type BumpRequest, bumpOf } from './bump.ts';
import type { RestoreNote } from './noted-restores.ts';
import type { OwnRestore, SeenRevision, Served } from './served-revisions.ts';

const NOW = Date.parse('2026-11-30T00:00:00Z');
const CLOCK = NOW * 1000;

const seen = (revision: number, clusterId = 'c0'): SeenRevision => ({ revision, clusterId, where: `${clusterId}` });
const served = (more: Partial<Served> = {}): Served => ({ inStore: [], here: [], notes: [], own: [], ...more });
/** A restore with the number 1e9, which made the cluster c1. */
const note = (more: Partial<RestoreNote> = {}): RestoreNote => ({
  ...{ id: 'x', clusterId: 'c1', revision: 1e9 + 7, bump: 1e9, token: 't1', marksServing: true },
  ...more,
});
/** Of an agent that did not mark what had served. */
const old = note({ marksServing: undefined });
/** Marks the cluster c1. */
const marked = ['c1'];
const own = (hasServed: boolean): OwnRestore => ({
  ...{ id: 'x', clusterId: 'c1', revision: 1e9 + 7, bump: 1e9, token: 't1' },
  hasServed,
});
const request: BumpRequest = {
  ...{ id: 'x', revision: 7, several: false },
  token: (bump) => `t${bump / 1e9}`,
  clusterId: (bump) => `c${bump / 1e9}`,
};
const several = { ...request, several: true };
const bump = (known: Partial<Served>, asked: BumpRequest = request) => bumpOf(served(known), asked, NOW).bump;

test.each<[string, Partial<Served>]>([
  ['nothing was restored yet', { inStore: [seen(7), seen(999)] }],
  ['a later backup is of a restored cluster', { inStore: [seen(7), seen(1_000_000_009)] }],
  ['the store notes a restore', { notes: [note({ id: 'y', revision: 3e9 + 9 }), note()] }],
  ['a member answers', { here: [seen(9_000_001_969)] }],
  ['nothing can be read', {}],
])('a restore begins at the time: %s', (_, known) => {
  expect(7 + bump(known)).toBe(CLOCK);
});

test.each<[string, Partial<Served>]>([
  ['a backup', { inStore: [seen(CLOCK)] }],
  ['a member or the data', { here: [seen(CLOCK)] }],
  ['a note', { notes: [note({ revision: CLOCK })] }],
  ['a journal', { own: [{ ...own(true), revision: CLOCK }] }],
])('within the same moment, the second restore begins beyond the first: known by %s', (_, known) => {
  expect(7 + bump(known)).toBe(CLOCK + 1e9);
});

describe('a clock that is proven wrong is refused, with the number to pass', () => {
  const day = 86_400_000;
  const newest = (ahead: number) => ({ newest: { id: 'y', time: NOW + ahead } });

  test('it is behind the newest backup', () => {
    expect(() => bump(newest(day))).toThrow(
      errorLike(
        /^the clock of this machine says 2026-11-30T00:00:00.000Z, but y was taken at 2026-12-01T00:00:00.000Z$/,
        { finding: { kind: 'wrongClock', several: false, bump: (NOW + day) * 1000 - 7 } },
      ),
    );
    const { finding } = catching(() => bump(newest(day), several)) as AgentError;
    const number = (NOW + day) * 1000 - 7;
    expect(finding).toEqual({ kind: 'wrongClock', several: true, bump: number });
    expect(bump(newest(day), { ...request, given: number })).toBe(number);
  });

  test('the clocks of two machines differ a little', () => {
    expect(7 + bump(newest(60_000))).toBe((NOW + 60_000) * 1000);
  });

  test('a revision is of a restore in the future', () => {
    expect(() => bump({ here: [seen((NOW + 2 * day) * 1000)] })).toThrow(
      new RegExp(
        `but c0 has the revision ${(NOW + 2 * day) * 1000}, which a restore at 2026-12-02T00:00:00.000Z would begin at$`,
      ),
    );
    // Ten restores in the same minute.
    expect(7 + bump({ here: [seen(CLOCK + 10e9)] })).toBe(CLOCK + 11e9);
    // No etcd reaches it.
    expect(7 + bump({ here: [seen(Number.MAX_SAFE_INTEGER)] })).toBe(CLOCK);
  });
});

const catching = (work: () => unknown): unknown => {
  try {
    return work();
  } catch (error) {
    return error;
  }
};

test('a number that is too low is refused, for every source of a revision', () => {
  const low = { ...request, given: 5e9 };
  for (const known of [{ here: [seen(9e9)] }, { inStore: [seen(9e9)] }, { notes: [note({ revision: 9e9 })] }]) {
    expect(() => bump(known, low)).toThrow(
      errorLike(/^5000000000 moves .* to 5000000007, but .* reached 9000000000: /, {
        ...{ at: 'bumpRevision', finding: { kind: 'lowBump', several: false, bump: CLOCK - 7 } },
      }),
    );
  }
  expect(bump({ here: [seen(5e9)] }, low)).toBe(5e9);
});

test('a late node joins the restore of the others', () => {
  const alive = { notes: [old], here: [{ ...seen(1e9 + 90, 'c1'), hasQuorum: true }] };
  for (const asked of [several, { ...several, given: 1e9 }]) {
    expect(bump({ notes: [note()] }, asked)).toBe(1e9);
    expect(bump(alive, asked)).toBe(1e9);
    expect(bump({ ...alive, notes: [note()], marked }, asked)).toBe(1e9);
    expect(bump({ ...alive, inStore: [seen(1e9 + 50, 'c1')] }, asked)).toBe(1e9);
    // Also one that has undone its part of it before it served.
    expect(bump({ ...alive, own: [own(false)] }, asked)).toBe(1e9);
  }
  expect(7 + bump({ notes: [old] }, several)).toBe(CLOCK);
  // This node has served in that restore, so it is in the past.
  expect(7 + bump({ notes: [note()], own: [own(true)] }, several)).toBe(CLOCK);
  // Another node does not find a restore that only this one has begun.
  expect(7 + bump({ own: [own(false)] }, several)).toBe(CLOCK);
  expect(bump({ own: [own(false)] }, { ...several, given: 1e9 })).toBe(1e9);
  // A single node continues what it has prepared. What was undone may be long ago.
  expect(bump({ notes: [note()], own: [{ ...own(false), isPrepared: true }] })).toBe(1e9);
  expect(7 + bump({ notes: [note()], own: [own(false)] })).toBe(CLOCK);
  expect(7 + bump({ notes: [note()] })).toBe(CLOCK);
});

test('no node joins a restore whose cluster has served and is gone', () => {
  const stored = [seen(7), seen(1e9 + 22, 'c1')];
  // The member answers without a quorum: the members that had one are gone.
  const left = { notes: [old], here: [seen(1e9 + 22, 'c1')], inStore: [seen(7)] };
  expect(7 + bump({ notes: [note()], inStore: stored }, several)).toBe(CLOCK);
  expect(7 + bump({ notes: [note()], marked }, several)).toBe(CLOCK);
  expect(7 + bump({ notes: [note()], marked, own: [own(false)] }, several)).toBe(CLOCK);
  expect(() => bump({ notes: [note()], marked }, { ...several, given: 1e9 })).toThrow(/reached 1000000007/);
  expect(7 + bump({ notes: [note()], own: [own(false)], inStore: stored }, several)).toBe(CLOCK);
  expect(() => bump(left, { ...several, given: 1e9 })).toThrow(/reached 1000000022/);
  expect(7 + bump(left, several)).toBe(CLOCK);
  // The members that serve under its id are behind a backup of it: it has already gone back.
  const behind = [{ ...seen(1e9 + 9, 'c1'), hasQuorum: true }];
  expect(7 + bump({ notes: [note()], inStore: stored, here: behind }, several)).toBe(CLOCK);
});

test('what may be over by a note that was not read is not joined', () => {
  expect(bumpOf(served({ notes: [note()], unread: '503' }), several, NOW)).toEqual({ bump: CLOCK - 7, isNew: true });
  const prepared = { ...own(false), isPrepared: true };
  expect(bump({ own: [prepared], unread: '503' })).toBe(1e9);
});

test('what this node has prepared is used while no other node has another number', () => {
  const prepared = { ...own(false), isPrepared: true };
  expect(bumpOf(served({ own: [prepared] }), several, NOW)).toEqual({ bump: 1e9, isNew: true });
  expect(7 + bump({ own: [prepared], marked }, several)).toBe(CLOCK);
  const other = note({ clusterId: 'c2', revision: 2e9 + 7, bump: 2e9, token: 't2' });
  expect(bumpOf(served({ own: [prepared], notes: [other] }), several, NOW)).toEqual({ bump: 2e9, isNew: false });
});

test('only a number that no other node knows is new', () => {
  const isNew = (known: Partial<Served>, more: Partial<BumpRequest> = {}) =>
    bumpOf(served(known), { ...several, ...more }, NOW).isNew;
  expect(isNew({})).toBe(true);
  expect(isNew({ notes: [note()] })).toBe(false);
  expect(isNew({}, { given: 1e9 })).toBe(false);
});

test.each([Number.MAX_SAFE_INTEGER, 2 ** 52])(
  'a number beyond which nothing of a store is believed is refused: %i',
  (given) => {
    expect(() => bump({ here: [seen(7)] }, { ...request, given })).toThrow(
      new RegExp(`^x: its revision 7 cannot be raised by ${given}, because no revision above ${2 ** 52} is believed`),
    );
  },
);

describe('a restore in the future that a store names', () => {
  const far = 2 ** 52;
  const forged = { ...note({ revision: undefined, bump: far - 7, token: `t${(far - 7) / 1e9}` }) };

  test.each<[string, Partial<Served>]>([
    ['a backup', { inStore: [seen(far)] }],
    ['a note', { notes: [note({ id: 'y', revision: far })] }],
    ['a restore that has begun', { notes: [forged] }],
    ['the time of a backup', { newest: { id: 'y', time: far / 1000 } }],
  ])('is refused, without a number that would be forgotten: %s', (_, known) => {
    expect(() => bump(known, several)).toThrow(
      errorLike(/^the clock of this machine says .*2112-/, {
        finding: { kind: 'wrongClock', several: true, bump: undefined },
      }),
    );
  });

  test('is joined by a number that a person names, as far as it is believed', () => {
    const at = (NOW + 3 * 86_400_000) * 1000 - 7;
    const ahead = note({ bump: at, revision: at + 7, token: `t${at / 1e9}` });
    expect(() => bump({ notes: [ahead] }, several)).toThrow(
      errorLike(new RegExp(`the restore of x that has begun has the revision ${at + 7}, `), {
        finding: { kind: 'wrongClock', several: true, bump: at },
      }),
    );
    expect(bump({ notes: [ahead] }, { ...several, given: at })).toBe(at);
  });
});
