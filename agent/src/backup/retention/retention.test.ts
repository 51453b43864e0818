import fc from 'fast-check';
import { history, plainHistory } from '../../../test/retention/retention.histories.ts';
import { live, livePlainly, type Tally } from '../../../test/retention/retention.world.ts';
import type { RetentionSpec } from '../../store/retention-spec.ts';
import type { Candidate } from '../catalog/candidate.ts';
import { bucketsOf } from './calendar-buckets.ts';
import { decide, type RetentionContext, type RetentionDecision } from './retention.ts';

const now = new Date('2026-11-20T12:00:00Z');
const context: RetentionContext = {
  now,
  storeNow: now,
  clusterName: 'main',
  cluster: { id: 'b', lineage: ['a'] },
  force: false,
};

let made = 0;
function snapshot(createdAt: string, differences: Partial<Candidate> = {}): Candidate {
  return {
    id: `s${++made}`,
    createdAt: new Date(createdAt),
    clusterName: 'main',
    clusterId: 'b',
    verified: true,
    pinned: false,
    locked: false,
    readable: true,
    ...differences,
  };
}

/** One a day at noon, the newest yesterday. */
function days(count: number, differences: Partial<Candidate> = {}): Candidate[] {
  const day = (back: number) => new Date(now.getTime() - back * 86_400_000).toISOString();
  return Array.from({ length: count }, (_, index) => snapshot(day(count - index), differences));
}

function ids(decisions: readonly RetentionDecision[], action: RetentionDecision['action']): string[] {
  return decisions.filter((decision) => decision.action === action).map(({ id }) => id);
}

function gone(candidates: readonly Candidate[], policy: RetentionSpec, differences: Partial<RetentionContext> = {}) {
  return ids(decide(candidates, policy, { ...context, ...differences }), 'delete');
}

function reasonsFor({ id }: Candidate, decisions: readonly RetentionDecision[]) {
  return decisions.find((decision) => decision.id === id)?.reasons;
}

test('what an EtcdRestore names is kept', () => {
  const all = days(6);
  const decisions = decide(
    all,
    { last: 1 },
    { ...context, keep: new Map([[all[1]!.id, 'in the list of --keep-file']]) },
  );
  expect(ids(decisions, 'delete')).toEqual(idsOf([all[0]!, ...all.slice(2, 5)]));
  expect(reasonsFor(all[1]!, decisions)).toEqual(['in the list of --keep-file']);
});

const idsOf = (candidates: readonly Candidate[]) => candidates.map(({ id }) => id);

test('while the store does not give out a manifest, only later snapshots of the current etcd are deleted', () => {
  const [others, current] = [days(6, { clusterId: 'a' }), days(6)];
  const silent: Candidate = {
    ...{ id: 'away', verified: false, pinned: false, locked: false, readable: false },
    silentUntil: current[2]!.createdAt!.getTime(),
  };
  const all = [...others, ...current, silent];
  const decisions = decide(all, { last: 1 }, context);
  expect(ids(decisions, 'delete')).toEqual(idsOf(current.slice(3, 5)));
  expect(reasonsFor(silent, decisions)).toEqual(['unreadable']);
  expect(reasonsFor(others[5]!, decisions)).not.toEqual(['undecided until away is read']);
  for (const one of [others[0]!, current[0]!, current[2]!])
    expect(reasonsFor(one, decisions)).toEqual(['undecided until away is read']);
  expect(gone([...all.slice(0, -1), { ...silent, silentUntil: Number.POSITIVE_INFINITY }], { last: 1 })).toEqual([]);
  expect(gone(all.slice(0, -1), { last: 1 }).length).toBeGreaterThan(2);
});

describe('an etcd that was emptied and has its old cluster id', () => {
  const rising = (count: number, from: number) =>
    days(count).map((each, index) => ({ ...each, revision: from + index }));

  const minutes = (...revisions: number[]) =>
    revisions.map((revision, index) => snapshot(`2026-11-20T11:0${index}:00Z`, { revision }));

  const revisions = (all: readonly number[], differences: Partial<Candidate> = {}) =>
    days(all.length, differences).map((each, index) => ({ ...each, revision: all[index]! }));

  test('loses no snapshot from before: the newest of them stays, whatever the policy says', () => {
    const all = rising(9, 1).map((each, index) => ({ ...each, revision: index < 4 ? 40 + index : index - 3 }));
    const decisions = decide(all, { last: 2 }, context);
    expect(ids(decisions, 'keep')).toEqual(idsOf([all[3]!, all[4]!, all[7]!, all[8]!]));
    expect(reasonsFor(all[3]!, decisions)).toEqual(['newest verified before the revision of cluster b fell']);
    expect(reasonsFor(all[4]!, decisions)).toEqual(['first verified after the revision of cluster b fell']);
  });

  test('keeps it when a later fall is from a higher revision', () => {
    const all = revisions([90, 100, 6, 7, 200, 5, 6, 7]);
    expect(gone(all, { last: 1 })).toEqual(idsOf([all[0]!, all[3]!, all[6]!]));
  });

  test('keeps it when the etcd has passed its revision', () => {
    let stored: Candidate[] = [];
    const all = revisions([100, 101, 102, 6, 30, 60, 90, 103, 104, 105, 106]);
    for (const each of all) {
      const deleted = gone([...stored, each], { last: 1 });
      stored = [...stored, each].filter(({ id }) => !deleted.includes(id));
    }
    expect(idsOf(stored)).toEqual(idsOf([all[2]!, all[3]!, all[10]!]));
  });

  test('keeps it after restores, of every cluster id of the line', () => {
    const before = revisions([100, 101, 6, 7, 8], { clusterId: 'a' });
    const all = [...before, ...days(1, { clusterId: 'm' }), ...revisions([900])];
    const line = { id: 'b', lineage: ['m', 'a'] };
    expect(gone(all, { last: 1 }, { cluster: line })).toEqual(idsOf([before[0]!, before[3]!, before[4]!]));
  });

  test('keeps it among unverified snapshots too, and among adopted ones', () => {
    for (const one of [{ verified: false }, { clusterId: 'unknown' }]) {
      const all = [...revisions([100, 101, 6, 7, 8], one), ...days(1, { verified: true })];
      const decisions = decide(all, { last: 1, minKeep: 1 }, context);
      expect(ids(decisions, 'delete')).toEqual(expect.arrayContaining(idsOf([all[0]!, all[3]!])));
      for (const at of [1, 2]) expect(reasonsFor(all[at]!, decisions)).toEqual([expect.stringMatching(/ fell$/)]);
    }
  });

  test('keeps it in a folder of adopted snapshots alone, of which no etcd is known', () => {
    const all = revisions([100, 101, 6, 7, 8], { clusterId: 'unknown' });
    const decisions = decide(all, { last: 1, minKeep: 1 }, { ...context, cluster: undefined });
    expect(ids(decisions, 'delete')).toEqual(idsOf([all[0]!, all[3]!]));
  });

  test('nothing stays for it while revisions rise, after a restore, or between members a few writes apart', () => {
    expect(gone(rising(5, 40), { last: 1 })).toHaveLength(4);
    const restored = rising(5, 1).map((each, index) =>
      index < 3 ? { ...each, revision: 90 + index, clusterId: 'a' } : each,
    );
    expect(gone(restored, { last: 1 })).toHaveLength(3);
    const pair = minutes(9, 8, 10);
    expect(gone(pair, { last: 1, minKeep: 1 })).toEqual(idsOf(pair.slice(0, 2)));
  });

  test('a fall within minutes that no later snapshot makes up for counts too', () => {
    const all = minutes(3, 4, 24, 2, 3);
    expect(gone(all, { last: 1, minKeep: 1 })).toEqual(idsOf(all.slice(0, 2)));
    expect(gone(all.slice(0, 4), { last: 1, minKeep: 1 })).toEqual(idsOf(all.slice(0, 2)));
    const small = minutes(7, 9, 8);
    expect(gone(small, { last: 1, minKeep: 1 })).toEqual([small[0]!.id]);
  });

  test('deleting some of the rest, in any order, changes nothing for what stays', () => {
    const one = fc.record({
      revision: fc.integer({ min: 1, max: 60 }),
      minutes: fc.constantFrom(1, 3, 4, 9, 300),
      clusterId: fc.constantFrom('a', 'b', 'b', 'unknown'),
      verified: fc.constantFrom(true, true, false),
      survives: fc.boolean(),
    });
    const falls = (decisions: readonly RetentionDecision[]) =>
      decisions.filter(({ reasons }) => reasons.some((reason) => / fell$/.test(reason))).map(({ id }) => id);
    fc.assert(
      fc.property(fc.array(one, { maxLength: 14 }), (many) => {
        let time = now.getTime() - 9 * 86_400_000;
        const all = many.map(({ minutes: after, survives: _, ...rest }) => {
          time += after * 60_000;
          return snapshot(new Date(time).toISOString(), rest);
        });
        const policy = { last: 1, minKeep: 1 };
        const decisions = decide(all, policy, { ...context, force: true });
        const doomed = new Set(
          ids(decisions, 'delete').filter((id) => !many[all.findIndex((each) => each.id === id)]!.survives),
        );
        const left = all.filter(({ id }) => !doomed.has(id));
        expect(falls(decide(left, policy, { ...context, force: true }))).toEqual(falls(decisions));
      }),
      { numRuns: 2_000, includeErrorInReport: true, seed: 1 },
    );
  });
});

describe('what the rules keep', () => {
  test('`last` keeps the newest by time, not by id', () => {
    const newest = snapshot('2026-11-19T00:00Z', { id: 'a' });
    const older = snapshot('2026-11-18T00:00Z', { id: 'z' });
    expect(gone([newest, older], { last: 1 })).toEqual(['z']);
  });

  test('`within` counts from the newest snapshot, its edge included', () => {
    const [old, edge, newest] = ['2026-01-01T11:59Z', '2026-01-01T12:00Z', '2026-01-02T12:00Z'].map((at) =>
      snapshot(at),
    );
    expect(gone([old!, edge!, newest!], { within: '24h', minKeep: 1 })).toEqual([old!.id]);
  });

  test('the newest of a day is kept, and only days with a snapshot count', () => {
    const kept = [snapshot('2026-03-01T23:00Z'), snapshot('2026-11-01T05:00Z')];
    const lost = [snapshot('2026-01-01T00:00Z'), snapshot('2026-03-01T22:00Z'), snapshot('2026-11-01T04:00Z')];
    const decisions = decide([...kept, ...lost], { daily: 2, minKeep: 1 }, context);
    expect(ids(decisions, 'delete')).toEqual(idsOf(lost));
    expect(reasonsFor(kept[0]!, decisions)).toEqual(['daily 2026-03-01']);
  });

  test('the oldest is kept while a rule has fewer snapshots than it wants', () => {
    const all = ['2026-11-01T01:00Z', '2026-11-01T02:00Z', '2026-11-01T03:00Z'].map((at) => snapshot(at));
    const decisions = decide(all, { daily: 2, minKeep: 1 }, context);
    expect(ids(decisions, 'delete')).toEqual([all[1]!.id]);
    expect(reasonsFor(all[0]!, decisions)).toEqual(['oldest daily']);
  });

  test('days begin at midnight of the time zone', () => {
    const [before, after] = [snapshot('2026-11-18T22:59Z'), snapshot('2026-11-18T23:00Z')];
    expect(gone([before, after], { daily: 1, minKeep: 1 })).toEqual([before.id]);
    expect(gone([before, after], { daily: 2, minKeep: 1, timeZone: 'Europe/Berlin' })).toEqual([]);
    expect(bucketsOf(after.createdAt!, 'Europe/Berlin').daily).toBe('2026-11-19');
  });

  test('the hour that is repeated when clocks go back counts as two hours', () => {
    const twice = [snapshot('2026-10-25T00:30Z'), snapshot('2026-10-25T01:30Z')];
    const decisions = decide(twice, { hourly: 2, minKeep: 1, timeZone: 'Europe/Berlin' }, context);
    expect(decisions.flatMap(({ reasons }) => reasons)).toEqual([
      'hourly 2026-10-25T02+02:00',
      'hourly 2026-10-25T02+01:00',
      'newest verified of cluster b',
      'newest of cluster b',
    ]);
  });

  test.each([
    ['2026-12-31T12:00Z', '2026-W53'],
    ['2027-01-03T23:59Z', '2026-W53'],
    ['2027-01-04T00:00Z', '2027-W01'],
    ['2024-12-30T00:00Z', '2025-W01'],
    ['2028-01-01T00:00Z', '2027-W52'],
  ])('%s lies in the ISO week %s', (at, week) => {
    expect(bucketsOf(new Date(at), 'UTC').weekly).toBe(week);
  });

  test('adopted snapshots, whose etcd is not known, displace no other', () => {
    const [first, second, third] = days(3);
    const adopted = ['06', '07', '08'].map((hour) => snapshot(`2026-11-20T${hour}:00Z`, { clusterId: 'unknown' }));
    expect(gone([first!, second!, third!, ...adopted], { last: 2 })).toEqual([first!.id, adopted[0]!.id]);
  });

  test('a newer unverified snapshot does not displace a verified one', () => {
    const good = snapshot('2026-11-18T10:00Z');
    const failed = snapshot('2026-11-18T11:00Z', { verified: false });
    const newest = snapshot('2026-11-19T10:00Z');
    expect(gone([good, failed, newest], { daily: 2, minKeep: 1 })).toEqual([]);
    const later = days(3, { verified: false });
    expect(gone([snapshot('2026-11-01T00:00Z'), ...later], { last: 3 })).toEqual([]);
  });
});

describe('what is never deleted', () => {
  const keepOne: RetentionSpec = { last: 1 };

  test('1: the newest verified of the cluster id and of the one before', () => {
    const before = [
      snapshot('2026-11-01T00:00Z', { clusterId: 'a' }),
      snapshot('2026-11-02T00:00Z', { clusterId: 'a' }),
    ];
    const current = [snapshot('2026-11-10T00:00Z'), snapshot('2026-11-11T00:00Z')];
    const adopted = snapshot('2026-11-12T00:00Z', { clusterId: 'unknown' });
    expect(gone([...before, ...current, adopted], keepOne)).toEqual([before[0]!.id, current[0]!.id]);
  });

  test('1: restored twice before a backup: the id before is the nearest one with snapshots', () => {
    const before = snapshot('2026-11-01T00:00Z', { clusterId: 'a' });
    const line = { id: 'c', lineage: ['b', 'a'] };
    expect(gone([before, snapshot('2026-11-02T00:00Z', { clusterId: 'unknown' })], keepOne, { cluster: line })).toEqual(
      [],
    );
  });

  test('2: anything, if this run is not verified', () => {
    const all = days(5);
    const own = all.at(-1)!;
    expect(gone(all, keepOne, { ownRun: { id: own.id, verified: false }, force: true })).toEqual([]);
    expect(
      gone([...all.slice(0, 4), { ...own, verified: false }], keepOne, { ownRun: { id: own.id, verified: true } }),
    ).toEqual([]);
    expect(gone(all, keepOne, { ownRun: { id: own.id, verified: true } })).toHaveLength(4);
    // A store may have acknowledged its manifest, and have stored nothing.
    expect(gone(all, keepOne, { ownRun: { id: 'not-listed', verified: true } })).toEqual([]);
  });

  test('2: anything, if the clocks differ by more than five minutes', () => {
    const all = days(5);
    for (const [storeNow, deletions] of [
      ['2026-11-20T12:05:00Z', 4],
      ['2026-11-20T11:55:00Z', 4],
      ['2026-11-20T12:05:01Z', 0],
      ['2026-11-20T11:54:59Z', 0],
    ] as const) {
      expect(gone(all, keepOne, { storeNow: new Date(storeNow), force: true })).toHaveLength(deletions);
    }
    expect(gone(all, keepOne, { storeNow: undefined })).toHaveLength(4);
    const decisions = decide(all, keepOne, { ...context, storeNow: new Date('2026-11-20T12:07:00Z') });
    expect(reasonsFor(all[0]!, decisions)).toEqual(["nothing is deleted: the store's clock is 7m ahead of ours"]);
  });

  test.each<[string, Partial<Candidate>]>([
    ['pinned', { pinned: true }],
    ['locked', { locked: true }],
    ['dated in the future', { createdAt: new Date('2026-11-20T12:00:00.001Z') }],
    ['unreadable', { readable: false, createdAt: undefined }],
    ['unreadable', { createdAt: new Date(Number.NaN) }],
    ['foreign cluster other', { clusterName: 'other' }],
    ['foreign namespace elsewhere', { namespace: 'elsewhere' }],
    ['foreign cluster id f', { clusterId: 'f' }],
  ])('3: %s', (reason, differences) => {
    const strange = snapshot('2026-01-01T00:00Z', differences);
    const decisions = decide([strange, ...days(3)], keepOne, { ...context, force: true });
    expect(decisions.find(({ id }) => id === strange.id)).toEqual({
      id: strange.id,
      action: 'keep',
      reasons: [reason],
    });
    expect(ids(decisions, 'delete')).toHaveLength(2);
  });

  test('3: an excluded snapshot does not use up a bucket', () => {
    const good = snapshot('2026-11-19T10:00Z');
    const later = { id: 'later', createdAt: new Date('2026-11-19T11:00Z') };
    for (const strange of [{ clusterId: 'f' }, { readable: false }, { namespace: 'elsewhere' }]) {
      const decisions = decide([good, { ...good, ...later, ...strange }], { daily: 1 }, context);
      expect(reasonsFor(good, decisions)).toContain('daily 2026-11-19');
    }
  });

  test('4: the last minKeep snapshots, verified ones first', () => {
    const [oldest, ...verified] = days(4);
    const failed = days(4, { verified: false });
    expect(gone([oldest!, ...verified, ...failed], { yearly: 1, minKeep: 3 })).toContain(oldest!.id);
    expect(gone([oldest!, ...verified, ...failed], { yearly: 1, minKeep: 4 })).not.toContain(oldest!.id);
  });

  test.each<[RetentionSpec, number]>([
    [{ last: 1 }, 1],
    [{ last: 2, timeZone: 'UTC' }, 2],
    [{ last: 5 }, 5],
    [{ last: 1, within: '1h' }, 3],
    [{ last: 1, minKeep: 4 }, 4],
    [{ within: '1h' }, 3],
    [{ within: '1h', minKeep: 1 }, 1],
  ])('4: %j leaves %d', (policy, left) => {
    expect(gone(days(9), policy)).toHaveLength(9 - left);
  });

  test('5: more than ten or a quarter in one run; the oldest are deleted first, the others in the next run', () => {
    let all = days(30);
    const first = decide(all, keepOne, context);
    expect(ids(first, 'delete')).toEqual(idsOf(all.slice(0, 10)));
    expect(ids(first, 'defer')).toEqual(idsOf(all.slice(10, 29)));
    expect(reasonsFor(all[10]!, first)).toEqual(['over the limit of 10 per run']);
    all = all.slice(10);
    expect(gone(all, keepOne)).toEqual(idsOf(all.slice(0, 10)));
    expect(gone(all, keepOne, { force: true })).toHaveLength(19);
    expect(gone(days(83), keepOne)).toHaveLength(20);
  });

  test('without a policy nothing is deleted', () => {
    const decisions = decide(days(5), undefined, { ...context, force: true });
    expect(decisions[0]).toMatchObject({
      action: 'keep',
      reasons: ['nothing is deleted: no retention policy is given'],
    });
    expect(decisions.every(({ action }) => action === 'keep')).toBe(true);
  });
});

test('a snapshot that its etcd may have taken after the restore is kept, and takes no part', () => {
  const old = days(3, { clusterId: 'a' });
  const decisions = decide(
    [...old, ...days(3)],
    { last: 1 },
    {
      ...context,
      cluster: { id: 'b', lineage: ['a'], unsure: new Map([['a', 'b']]) },
    },
  );
  expect(ids(decisions, 'delete')).toHaveLength(2);
  expect(reasonsFor(old[0]!, decisions)).toEqual([
    'foreign cluster id a perhaps: it is not known when b was restored from it',
  ]);
});

test('1000 random histories keep every promise, and every decision occurs', () => {
  const tally: Tally = new Map();
  fc.assert(
    fc.property(history, (one) => live(one, tally)),
    { numRuns: 1_000, includeErrorInReport: true, seed: 1 },
  );
  const outcomes = [...tally.keys()].join('\n');
  for (const outcome of [
    'delete: no rule',
    'defer: over',
    'keep: minKeep',
    "the store's clock",
    'not verified',
    'oldest weekly',
    'it is not known when',
    'foreign cluster id',
  ]) {
    expect(outcomes).toContain(outcome);
  }
});

test('500 plain histories lose no snapshot that should be kept', () => {
  fc.assert(fc.property(plainHistory, livePlainly), { numRuns: 500, includeErrorInReport: true, seed: 1 });
});
