import { inspect } from 'node:util';
import { parentPort, workerData } from 'node:worker_threads';
import fc from 'fast-check';
import { corpusOf, regressionsOf } from './corpus.ts';
import { judge } from './judge.ts';
import { inputsOf } from './mutate.ts';
import { Current } from './shared.ts';
import { targets } from './targets.ts';

/** Runs one target for some seconds, in a thread that can be terminated while a parser hangs. */
export interface Task {
  readonly name: string;
  readonly seconds: number;
  /** Number of inputs after which the search ends earlier. */
  readonly runs: number;
  readonly seed: number;
  readonly path?: string;
  /** Only this input. */
  readonly input?: Uint8Array;
  readonly memory: SharedArrayBuffer;
}

export interface Answer {
  readonly runs: number;
  /** Number of accepted inputs. */
  readonly taken: number;
  readonly rss: number;
  readonly problem?: { readonly what: string; readonly path: string; readonly input: Uint8Array };
}

/** Seconds to spend on shrinking a problem. */
const SHRINKING = 10;

const task = workerData as Task;
const target = targets.find(({ name }) => name === task.name)!;
const current = new Current(task.memory);
let runs = 0;
let taken = 0;
let least: { what: string; input: Buffer } | undefined;
let shrinkUntil = Number.POSITIVE_INFINITY;

async function holds(input: Buffer): Promise<void> {
  if (performance.now() > shrinkUntil) return;
  current.begin(input);
  const verdict = await judge(target, input);
  if (!least) {
    runs++;
    if (verdict.taken) taken++;
  }
  if (verdict.problem === undefined) return;
  const found = { what: verdict.problem, input };
  if (!least) shrinkUntil = performance.now() + SHRINKING * 1000;
  if (!least || input.length <= least.input.length) least = found;
  throw new Error(verdict.problem);
}

const corpus = corpusOf(target);
const known = [...corpus, ...regressionsOf(target).map(({ bytes }) => bytes)];
const draws = inputsOf(target, corpus);
let path = '';
const draw = async (): Promise<void> => {
  const details = await fc.check(fc.asyncProperty(draws, holds), {
    seed: task.seed,
    numRuns: task.runs,
    interruptAfterTimeLimit: task.seconds * 1000,
    markInterruptAsFailure: false,
    ...(task.path === undefined ? { examples: known.map((bytes): [Buffer] => [bytes]) } : { path: task.path }),
  });
  path = details.counterexamplePath ?? '';
};
// An error that escapes here would count as an uncaught error of a parser.
await (task.input ? holds(Buffer.from(task.input)) : draw()).catch((error) => {
  least ??= { what: `the suite fails itself: ${inspect(error)}`, input: current.input };
});
const rss = process.memoryUsage.rss();
const problem = least && { what: least.what, path, input: new Uint8Array(least.input) };
parentPort!.postMessage({ runs, taken, rss, ...(problem && { problem }) } satisfies Answer);
