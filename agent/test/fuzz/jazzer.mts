import { judge } from './judge.ts';
import { targets } from './targets.ts';

// For a coverage-guided fuzzer: docs/contributing/testing.md says how to run it.

const target = targets.find(({ name }) => name === process.env.FUZZ_TARGET);

/** Milliseconds after the last input. A server of a target would keep the process alive. */
const IDLE = 10_000;
let idle: NodeJS.Timeout | undefined;

/** One input of the target that FUZZ_TARGET names. */
export async function fuzz(input: Buffer): Promise<void> {
  clearTimeout(idle);
  if (!target) throw new Error('set FUZZ_TARGET to a name of `npm run suite -- fuzz --list`');
  const { problem } = await judge(target, target.repair?.(input) ?? input);
  if (problem !== undefined) throw new Error(problem);
  idle = setTimeout(() => process.exit(), IDLE).unref();
}
