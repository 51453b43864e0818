import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AgentResult } from '../harness/agent.ts';
import { run, succeed } from './commands.ts';

const NODE_OPTIONS = `--import ${import.meta.resolve('./raise-at.ts')}`;

/** A point in a run to raise a signal at. */
export interface Point {
  /** The step that would have come next. */
  readonly next: string;
  /** Steps of a healthy run up to this point: calls that change a file system, and phases. */
  readonly done: readonly string[];
}

export const nameOf = ({ next, done }: Point): string => `step ${done.length + 1}, before ${next}`;

/** Returns every point of a run, which must succeed. */
export async function pointsOf(args: readonly string[]): Promise<Point[]> {
  const directory = await mkdtemp(join(tmpdir(), 'steps-'));
  try {
    const STEPS_FILE = join(directory, 'steps');
    await succeed(args, { env: { NODE_OPTIONS, STEPS_FILE } });
    const steps = (await readFile(STEPS_FILE, 'utf8')).trim().split('\n');
    return steps.map((next, index) => ({ next, done: steps.slice(0, index) }));
  } finally {
    await rm(directory, { recursive: true });
  }
}

/**
 * Runs the agent, and sends the signal right before the next step of the point. With `of` only steps of that kind count: how
 * many writes a copy takes depends on how busy the machine is.
 */
export function runTo(
  { done }: Point,
  RAISE: NodeJS.Signals,
  args: readonly string[],
  of = /(?:)/,
): Promise<AgentResult> {
  const RAISE_AT = String(done.filter((name) => of.test(name)).length + 1);
  return run(args, { env: { NODE_OPTIONS, RAISE, RAISE_AT, RAISE_OF: of.source } });
}
