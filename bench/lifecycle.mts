// `npm run bench -- lifecycle`: how long the reconciler takes, compared with the same by hand.
// docs/contributing/benchmarks.md explains it.
import { parseArgs } from 'node:util';
import { ByHand } from './by-hand.mts';
import { type Lifecycle, steps } from './lifecycle-steps.mts';
import { Reconciled } from './reconciled.mts';
import { spread } from './table.mts';

const { values } = parseArgs({
  options: {
    size: { type: 'string' },
    rounds: { type: 'string' },
    smoke: { type: 'boolean', default: false },
  },
});
/** MiB of data. */
const size = Number(values.size ?? (values.smoke ? 16 : 1024));
const rounds = Number(values.rounds ?? (values.smoke ? 1 : 5));

const ways: Readonly<Record<string, () => Promise<Lifecycle>>> = {
  reconciler: () => Reconciled.begin(values.smoke),
  'by hand': () => ByHand.begin(),
};
/** Seconds of each round. */
const took = new Map<string, number[]>();

for (let round = 1; round <= rounds; round++) {
  for (const [way, begin] of Object.entries(ways)) {
    await using lifecycle = await begin();
    for (const { name, prepare, run } of steps) {
      await prepare?.(lifecycle, size);
      const started = performance.now();
      await run(lifecycle);
      const seconds = (performance.now() - started) / 1_000;
      took.set(`${way} ${name}`, [...(took.get(`${way} ${name}`) ?? []), seconds]);
      console.log(`round ${round}: ${way}: ${name}: ${seconds.toFixed(1)} s`);
    }
  }
}

console.log(`\n${size} MiB, median (least–most) of ${rounds}, seconds\n`);
console.log(`| | reconciler | by hand | reconciler ÷ by hand |\n| --- | --- | --- | --- |`);
for (const { name } of steps) {
  const [ours, hand] = Object.keys(ways).map((way) => took.get(`${way} ${name}`)!);
  const ratios = ours!.map((seconds, round) => seconds / hand![round]!);
  console.log(`| ${name} | ${spread(ours!, 1)} | ${spread(hand!, 1)} | ${spread(ratios, 2)} |`);
}
