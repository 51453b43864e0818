import { outcomeConditions } from './outcome-conditions.ts';

const now = '2026-11-21T00:00:00Z';
const of = (phase: string, before?: Parameters<typeof outcomeConditions>[1], at = now) =>
  outcomeConditions({ phase, reason: 'R', message: 'm', observedGeneration: 3 }, before, at);
const trueOf = (phase: string) => of(phase).flatMap(({ type, status }) => (status === 'True' ? type : []));

test.each([
  ['Pending', ['Reconciling']],
  ['Restoring', ['Reconciling']],
  ['Completed', ['Completed', 'Ready']],
  ['Failed', ['Failed', 'Stalled']],
])('%s: kubectl can wait for it, and kstatus knows it: %j', (phase, types) => {
  expect(trueOf(phase)).toEqual(types);
  expect(of(phase)).toHaveLength(5);
  for (const condition of of(phase))
    expect(condition).toMatchObject({ reason: 'R', message: 'm', lastTransitionTime: now, observedGeneration: 3 });
});

test('the time is that of the last change of a condition', () => {
  const later = '2026-11-21T00:01:00Z';
  const times = of('Completed', of('Pending'), later).map(({ type, lastTransitionTime }) => [type, lastTransitionTime]);
  expect(Object.fromEntries(times)).toEqual({
    ...{ Completed: later, Ready: later, Reconciling: later },
    ...{ Failed: now, Stalled: now },
  });
});
