import fc from 'fast-check';
import { history, plainHistory } from './retention.histories.ts';
import { live, livePlainly, type Tally } from './retention.world.ts';

/** The same tree draws the same histories. fast-check prints it when it fails. */
const SEED = Number(process.env.TREE_SEED || 1);
// docs/contributing/testing.md: --smoke
const [histories, plain] = process.env.SMOKE ? [20_000, 4_000] : [100_000, 20_000];

test(`${histories} random histories keep every promise`, () => {
  const tally: Tally = new Map();
  let lived = 0;
  fc.assert(
    fc.property(history, (one) => {
      live(one, tally);
      lived++;
    }),
    { numRuns: histories, includeErrorInReport: true, seed: SEED },
  );
  process.stdout.write(`retention: ${lived} histories; number of decisions by reason:\n`);
  for (const [what, times] of [...tally].sort()) process.stdout.write(`  ${what}: ${times}\n`);
  expect(lived).toBeGreaterThanOrEqual(histories);
});

test(`${plain} plain histories lose no snapshot that should be kept`, () => {
  fc.assert(fc.property(plainHistory, livePlainly), { numRuns: plain, includeErrorInReport: true, seed: SEED });
});
