import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { kinds } from './faults';
import { plan, possibleKinds, type Step } from './plan';

const hour = { minutes: 60, nodes: true };
const hundred = Array.from({ length: 100 }, (_, seed) => plan(seed, hour));

const told = (steps: readonly Step[]) => steps.map(({ number, pause, what }) => `${number} after ${pause} s ${what}`);
const kindsOf = (steps: readonly Step[]) => steps.flatMap(({ faults }) => faults.map(({ kind }) => kind));
const kindOf = (name: string) => kinds.find((kind) => kind.name === name)!;

test('the same seed makes the same plan, and another seed another', () => {
  expect(told(plan(7, hour))).toEqual(told(plan(7, hour)));
  expect(new Set(hundred.map((steps) => told(steps).join())).size).toBe(hundred.length);
});

test('the details of a fault are drawn, too', () => {
  const words = hundred.flatMap((steps) => steps.flatMap(({ faults }) => faults.map(({ what }) => what)));
  expect(words).toEqual(expect.arrayContaining(['the pod of the leader deleted', 'the volume of member 1 lost']));
  expect(new Set(words).size).toBeGreaterThan(200);
});

test('a shorter plan is the beginning of a longer one', () => {
  const short = plan(7, { ...hour, minutes: 10 });
  expect(short.length).toBeGreaterThan(2);
  expect(told(plan(7, hour)).slice(0, short.length)).toEqual(told(short));
});

test('every kind of fault is drawn within an hour, whatever the seed', () => {
  for (const steps of hundred) expect(new Set(kindsOf(steps))).toEqual(new Set(kinds.map(({ name }) => name)));
});

test('two faults together break no quorum, unless one of them breaks it on purpose', () => {
  const pairs = hundred.flat().filter(({ faults }) => faults.length > 1);
  expect(pairs.length).toBeGreaterThan(500);
  for (const { faults, what } of pairs) {
    const taken = faults.map(({ kind }) => kindOf(kind).takes);
    expect([what, Math.min(...taken)]).toEqual([what, 0]);
    expect([what, faults.filter(({ kind }) => kindOf(kind).applies).length < 2]).toEqual([what, true]);
    expect([what, faults.some(({ kind }) => kindOf(kind).alone)]).toEqual([what, false]);
  }
});

test('no plan upgrades more than twice, and no upgrade waits for a quorum that was broken', () => {
  for (const steps of hundred) {
    const upgrades = steps.filter(({ faults }) => faults.some(({ kind }) => kind === 'upgraded'));
    expect(upgrades).toHaveLength(2);
    for (const { faults } of upgrades) for (const { kind } of faults) expect(kindOf(kind).takes).toBeLessThan(3);
  }
});

test('without access to nodes, and in a smoke test, there are fewer kinds', () => {
  const names = possibleKinds({}).map(({ name }) => name);
  expect(names).not.toContain('node-off');
  expect(new Set(kindsOf(plan(7, { minutes: 60 })))).toEqual(new Set(names));
  const quick = kindsOf(plan(1, { minutes: 3, smoke: true }));
  expect(quick.length).toBeGreaterThan(1);
  for (const kind of quick) expect(kindOf(kind).quick).toBe(true);
});

test('the command prints the plan of a seed without a Kubernetes', () => {
  const { KUBECONFIG: _, ...env } = process.env;
  const printed = execFileSync('node', ['scripts/suites/chaos.mjs', '--plan', '--seed', '7', '--smoke'], {
    cwd: join(__dirname, '../..'),
    encoding: 'utf8',
    env,
  });
  expect(printed).toMatch(/^seed 7, \d+ minutes, \d+ faults; left out: /);
});
