import { judge } from './judge.ts';
import { targets } from './targets.ts';

// For a coverage-guided fuzzer: docs/contributing/testing.md says how to run it.

const target = targets.find(({ name }) => name === process.env.FUZZ_TARGET);

/** One input of the target that FUZZ_TARGET names. */
export async function fuzz(input: Buffer): Promise<void> {
  if (!target) throw new Error('set FUZZ_TARGET to a name of `npm run suite -- fuzz --list`');
  const { problem } = await judge(target, target.repair?.(input) ?? input);
  if (problem !== undefined) throw new Error(problem);
}
