import { emptyMemory, read } from '../../../src/controllers/cluster/observe.ts';
import type { Observed } from '../../../src/controllers/port/observed.ts';
import { scenarioNames, scenarioOf } from '../scenarios.ts';
import { settings } from '../settings.ts';
import { withBudget } from './begin.ts';
import { moves } from './moves.ts';
import { planner } from './planner.ts';
import { MemoryPort } from './port.ts';
import { see } from './see.ts';
import type { World } from './world.ts';

/** Reproducible: which of the moves is taken. */
function* numbers(): Generator<number> {
  for (let n = 12_345; ; n = (Math.imul(n, 1_103_515_245) + 12_345) & 0x7fffffff) yield n >>> 8;
}

/** What is known, without the reasons why something is not, and without the memory of an earlier look. */
const facts = ({ reached: _, ...observed }: Observed): unknown =>
  JSON.parse(
    JSON.stringify(observed, (key, value) =>
      ['why', 'since', 'date', 'hash', 'done', 'failed', 'self', 'refused', 'fresh'].includes(key) ? undefined : value,
    ),
  );

// The explorer looks at the world directly; the reconciler through the port. Both must see the same.
test.each(scenarioNames)('observe() through the port sees what the model shows to plan(): %s', async (name) => {
  const scenario = scenarioOf(name, planner);
  let world: World = withBudget(scenario.start, { faults: 2, edits: 2, writes: 1 });
  for (const n of numbers()) {
    const { fresh } = see(world);
    const seen = await read(new MemoryPort(world), world.holder, fresh, emptyMemory(0), settings);
    expect(facts(seen)).toEqual(facts(see(world)));
    const { all } = moves(world, { ...scenario, blurred: false }, planner);
    if (all.length === 0 || world.seq > 70) return;
    world = all[n % all.length]!.next;
  }
});
