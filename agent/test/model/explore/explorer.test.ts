import { mutantsOf } from '../mutants.ts';
import { scenarioNames, scenarioOf } from '../scenarios.ts';
import { nothingYet, running, withBudget } from '../world/begin.ts';
import { resize } from '../world/events.ts';
import { actionTable, planner, plannerOf } from '../world/planner.ts';
import { canonical, hash } from './canonical.ts';
import { Explorer, fairRun } from './explorer.ts';
import type { Planner } from './passes.ts';
import { StateSet } from './state-set.ts';

test('worlds that differ in the numbers of their ids alone are one state', () => {
  const world = running({ size: 3 }, planner);
  const renamed = JSON.parse(
    JSON.stringify(world).replace(/([a-z])#(\d+)/g, (_, kind, n) => `${kind}#${Number(n) + 500}`),
  );
  expect(canonical(renamed)).toBe(canonical(world));
  expect(canonical({ ...world, holder: world.record!.doc.clusterUid.replace('k', 'h') })).toBe(canonical(world));
  const other = { ...world, pods: [world.pods[1]!, world.pods[0]!, world.pods[2]!] };
  expect(canonical(other)).not.toBe(canonical(world));
});

test('the set of states numbers each hash once, through its growth', () => {
  const set = new StateSet();
  const wrong: number[] = [];
  for (const isNew of [true, false]) {
    for (let n = 0; n < 20_000; n++) {
      const added = set.add(hash(`state ${n}`));
      if (added.number !== n || added.isNew !== isNew) wrong.push(n);
    }
  }
  expect(wrong).toEqual([]);
  expect(set.size).toBe(20_000);
});

test('the shortest way to a broken invariant is reported', () => {
  const mutant = mutantsOf(actionTable).find(
    (m) => m.name === 'Remove.call · requires · the voters that stay are healthy and a quorum, or it is a learner',
  )!;
  const scenario = {
    name: 'shrink',
    start: withBudget(running({ size: 3 }, planner), { edits: 1, faults: 1 }),
    edits: [resize(1)],
    faults: ['podLost'] as const,
  };
  const { violation } = new Explorer(scenario, plannerOf(mutant.actions)).run(5000);
  expect(violation?.what).toBe('QuorumKept: a removal that leaves less than a quorum');
  expect(violation?.story.map((line) => line.split(':')[0])).toEqual([
    'size is set to 1',
    'Shrink',
    'pod 0 is evicted',
    'Remove.call',
  ]);
});

test('a planner that does nothing is stuck, one that writes forever goes round in circles', () => {
  const idle: Planner = { decide: () => ({}), plan: (observed) => ({ ...planner.plan(observed), effect: undefined }) };
  expect(fairRun(nothingYet({ size: 1 }), idle)?.what).toMatch(/^stuck|^not reported/);
  const restless: Planner = {
    ...planner,
    decide: (observed) => {
      const { record } = observed;
      if (!record.known || !record.v?.doc.seeded) return planner.decide(observed);
      const doc = { ...record.v.doc, phase: record.v.doc.phase === 'Running' ? 'Seeding' : 'Running' } as const;
      return {
        rule: 'restless',
        effect: { kind: 'WriteRecord', doc: { ...doc, rev: doc.rev + 1 }, basedOn: record.v.rv },
      };
    },
  };
  expect(fairRun(nothingYet({ size: 1 }), restless)?.what).toBe('goes round in circles');
});

// A bounded run of what `npm run suite -- model` does.
test.each(scenarioNames)('model check, bounded: %s', (name) => {
  const { states, violation } = new Explorer(scenarioOf(name, planner), planner).run(8);
  expect(violation).toBeUndefined();
  expect(states).toBeGreaterThan(1);
});
