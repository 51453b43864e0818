import fc from 'fast-check';
import type { RetentionSpec } from '../../src/store/retention-spec.ts';

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

const zones = [undefined, 'UTC', 'Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'Asia/Kathmandu'];
/** Times shortly before clocks change and before years and ISO years end, where calendars are difficult. */
const beginnings = [
  '2026-03-28T22:00Z',
  '2026-10-24T22:00Z',
  '2026-11-01T03:00Z',
  '2026-04-04T13:00Z',
  '2026-12-31T12:00Z',
  '2027-01-03T09:00Z',
];
const steps = [0, minute, 10 * minute, 30 * minute, hour, hour, 7 * hour, day, day, 3 * day, 8 * day, 40 * day];

const event = fc.record({
  kind: fc.constantFrom(
    ...(['backup', 'backup', 'backup', 'backup', 'backup', 'prune', 'prune', 'clock', 'restore', 'mark'] as const),
    ...(['mark', 'verify', 'strange', 'strange', 'many', 'policy'] as const),
  ),
  after: fc.constantFrom(...steps),
  dice: fc.nat(9_999),
  verified: fc.constantFrom(true, true, true, true, false),
  asksEtcd: fc.boolean(),
  storeClock: fc.constantFrom(...(['right', 'right', 'ours', 'unknown'] as const)),
  force: fc.constantFrom(false, false, false, true),
  killed: fc.constantFrom(false, false, false, true),
});
export type Event = typeof event extends fc.Arbitrary<infer T> ? T : never;

const none = (times: number) => Array<undefined>(times).fill(undefined);
const count = fc.constantFrom(...none(6), 1, 2, 3, 7);
const policy: fc.Arbitrary<RetentionSpec> = fc
  .record({
    last: fc.constantFrom(...none(3), 1, 2, 12),
    within: fc.constantFrom(...none(8), '24h', '3d', '40d'),
    hourly: count,
    daily: count,
    weekly: count,
    monthly: count,
    yearly: count,
    minKeep: fc.constantFrom(...none(4), 1, 2, 6),
    timeZone: fc.constantFrom(...zones),
  })
  .filter(({ minKeep: _, timeZone: __, ...rules }) => Object.values(rules).some(Boolean));

/** A random sequence of events of a cluster and its backups. */
export const history = fc.record({
  beginning: fc.constantFrom(...beginnings),
  policies: fc.array(policy, { minLength: 1, maxLength: 2 }),
  events: fc.array(event, { minLength: 1, maxLength: 24 }),
  /** How many of the events come before the agent records what retention may delete. */
  upgrade: fc.constantFrom(0, 0, 0, 3, 9),
});
export type History = typeof history extends fc.Arbitrary<infer T> ? T : never;

/** A random sequence of backups, with a clock that may go back. */
export const plainHistory = fc.record({
  beginning: fc.constantFrom(...beginnings),
  policy,
  backups: fc.array(
    fc.record({ after: fc.constantFrom(...steps, -hour, -day), verified: fc.constantFrom(true, true, true, false) }),
    { minLength: 1, maxLength: 40 },
  ),
});
export type PlainHistory = typeof plainHistory extends fc.Arbitrary<infer T> ? T : never;
