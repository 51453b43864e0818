import { unknown } from '../../protocol/known.ts';
import { now, World } from '../port/observed.fixture.ts';
import type { Plan } from './plan.ts';
import { toldOf, type Waiting, waitingOf } from './waiting.ts';

const minute = 60_000;
const unhealthy = 'RestartPod waits: every voter is healthy';
const later = now + minute;
const since = (at: number) => new Date(at).toISOString().replace(/\.\d+/, '');

const seen = (plan: Partial<Plan>, world = new World(3), at = later) => ({
  ...{ observed: world.o, now: at, plan: { why: '', conditions: [], requeueMs: 0, ...plan } },
});
const effect = { kind: 'Compact', revision: 1, done: 'x' } as const;
const waiting: Waiting = { for: unhealthy, since: now };

test('it begins with the first pass that waits, and is reported once it lasts', () => {
  const first = waitingOf(seen({ waits: unhealthy }, undefined, now), undefined);
  expect(first).toEqual(waiting);
  expect(toldOf(first, seen({ waits: unhealthy }, undefined, now))).toBeUndefined();
  expect(toldOf(first, seen({ waits: unhealthy }))).toEqual({ for: unhealthy, since: since(now) });
});

test('other words of the same action do not begin it anew; another action does', () => {
  const words = 'RestartPod waits: the pod is old enough';
  expect(waitingOf(seen({ waits: words }), waiting)).toEqual({ for: words, since: now });
  const other = 'AddLearner waits: every voter is healthy';
  expect(waitingOf(seen({ waits: other }), waiting)).toEqual({ for: other, since: later });
});

test('it goes on after a restart of the reconciler, by what the status says', () => {
  const told = (from: string) => new World(3).resource({ status: { waiting: { for: unhealthy, since: from } } });
  const goesOn = seen({ waits: unhealthy }, told('2020-01-01T00:00:00Z'));
  expect(waitingOf(goesOn, 'unknown')).toEqual({ for: unhealthy, since: Date.parse('2020-01-01T00:00:00Z') });
  // What this process saw end has ended, also if the status could not be written since.
  expect(waitingOf(goesOn, undefined)).toEqual({ for: unhealthy, since: later });
  expect(waitingOf(seen({ waits: unhealthy }, told('2999-01-01T00:00:00Z')), 'unknown')).toMatchObject({
    since: later,
  });
  expect(waitingOf(seen({ waits: unhealthy }, told('soon')), 'unknown')).toMatchObject({ since: later });
});

test('it ends with its action, or when nothing waits, but not with another action or a record that is not read', () => {
  expect(waitingOf(seen({ effect, rule: 'RestartPod' }), waiting)).toBeUndefined();
  expect(waitingOf(seen({}), waiting)).toBeUndefined();
  const aside = seen({ effect, rule: 'RecordVoter' });
  expect(waitingOf(aside, waiting)).toEqual(waiting);
  expect(toldOf(waiting, aside)).toBeUndefined();
  const blind = new World(3).set({ record: unknown('no answer') });
  expect(waitingOf(seen({}, blind), waiting)).toEqual(waiting);
});
