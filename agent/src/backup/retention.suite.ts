import fc from 'fast-check';
import { history, plainHistory } from './retention.histories.ts';
import { live, livePlainly, type Tally } from './retention.world.ts';

const histories = 100_000;

test(`${histories} random histories keep every promise`, () => {
  const tally: Tally = new Map();
  let lived = 0;
  fc.assert(
    fc.property(history, (one) => {
      live(one, tally);
      lived++;
    }),
    { numRuns: histories, includeErrorInReport: true },
  );
  process.stdout.write(`retention: ${lived} histories, in which retention said so many times\n`);
  for (const [what, times] of [...tally].sort()) process.stdout.write(`  ${what}: ${times}\n`);
  expect(lived).toBeGreaterThanOrEqual(histories);
});

test('20000 plain histories lose nothing on the way', () => {
  fc.assert(fc.property(plainHistory, livePlainly), { numRuns: 20_000, includeErrorInReport: true });
});
