import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';
import { Current } from './shared.ts';
import { scratch } from './targets/scratch.ts';
import { targets } from './targets.ts';
import type { Answer, Task } from './worker.mts';

// npm run suite -- fuzz [--smoke] [TARGET…] [--input=FILE] [--list]
// FUZZ_SECONDS: of each target. FUZZ_SEED, FUZZ_PATH: repeat a counterexample.

const {
  values: { smoke, list, input: file },
  positionals: names,
} = parseArgs({
  allowPositionals: true,
  options: { smoke: { type: 'boolean' }, list: { type: 'boolean' }, input: { type: 'string' } },
});
// CI draws the same inputs on every machine, however slow: a problem with other inputs is a task, not a reason to
// refuse a change. So a count ends its search, and the seconds only one that hardly moves.
const seconds = Number(process.env.FUZZ_SECONDS || (smoke ? 120 : 60));
const isCounted = smoke && !process.env.FUZZ_SECONDS;
const runs = isCounted ? 1_000 : 1_000_000_000;
const seed = Number(process.env.FUZZ_SEED || (smoke ? 1 : seedOfCommit()));

/** Seconds after which an input counts as hanging. A busy machine makes everything slow. */
const HANGS = 30;
/** MiB of JavaScript objects, and of all memory of this process. */
const HEAP = 512;
const RSS = 1_200;

/** The same commit draws the same inputs, and the next one others. */
function seedOfCommit(): number {
  try {
    const hash = execFileSync('git', ['rev-parse', '--short=7', 'HEAD'], {
      cwd: import.meta.dirname,
      encoding: 'utf8',
    });
    return Number.parseInt(hash, 16);
  } catch {
    return 1;
  }
}

interface Problem {
  readonly what: string;
  readonly path?: string;
  readonly input: Uint8Array;
}

async function run(name: string): Promise<{ answer?: Answer; runs: number; problem?: Problem }> {
  const current = new Current();
  const task: Task = {
    ...{ name, seconds, runs, seed, memory: current.memory },
    ...(process.env.FUZZ_PATH && { path: process.env.FUZZ_PATH }),
    ...(file !== undefined && { input: readFileSync(file) }),
  };
  const worker = new Worker(new URL('./worker.mts', import.meta.url), {
    workerData: task,
    resourceLimits: { maxOldGenerationSizeMb: HEAP },
  });
  const { promise, resolve } = Promise.withResolvers<{ answer?: Answer; problem?: Problem }>();
  const failed = (what: string) => resolve({ problem: { what, input: current.input } });
  worker.once('message', (answer: Answer) => resolve({ answer, ...(answer.problem && { problem: answer.problem }) }));
  worker.once('error', (error) => failed(`the thread ended: ${error}`));
  worker.once('exit', (code) => failed(`the thread ended with ${code}`));
  let seen = { count: -1, at: performance.now() };
  const watch = setInterval(() => {
    const { count } = current;
    if (count !== seen.count) seen = { count, at: performance.now() };
    else if (count > 0 && performance.now() - seen.at > HANGS * 1000) failed(`it hangs: more than ${HANGS} s`);
    const rss = process.memoryUsage.rss() / 2 ** 20;
    if (rss > RSS) failed(`it takes ${Math.round(rss)} MiB of memory`);
  }, 500);
  try {
    const { answer, problem } = await promise;
    return { answer, problem, runs: answer?.runs ?? current.count };
  } finally {
    clearInterval(watch);
    worker.removeAllListeners();
    worker.on('error', () => {});
    await worker.terminate();
  }
}

if (list) {
  for (const { name, about } of targets) console.log(`${name.padEnd(18)} ${about}`);
  process.exit();
}

const unknown = names.filter((name) => !targets.some((target) => target.name === name));
if (unknown.length > 0) {
  console.error(`${unknown.join(', ')}: no such target; known: ${targets.map(({ name }) => name).join(', ')}`);
  process.exit(2);
}

process.env.FUZZ_SCRATCH = scratch();
console.log(`FUZZ_SEED=${seed}, ${isCounted ? `${runs} inputs` : `${seconds} s`} for each target`);
let failures = 0;
for (const { name } of targets.filter((target) => names.length === 0 || names.includes(target.name))) {
  const began = performance.now();
  const { answer, runs, problem } = await run(name);
  const took = Math.round((performance.now() - began) / 1000);
  const share = answer && runs > 0 ? `${Math.round((100 * answer.taken) / runs)} % taken, ` : '';
  const rss = answer ? `${Math.round(answer.rss / 2 ** 20)} MiB` : '';
  console.log(`${name.padEnd(18)} ${String(runs).padStart(8)} inputs, ${share}${took} s, ${rss}`);
  if (!problem) continue;
  failures++;
  const kept = join(tmpdir(), `fuzz-${name}-${seed}`);
  writeFileSync(kept, problem.input);
  console.log(`  ${problem.what.replaceAll('\n', '\n  ')}`);
  console.log(`  the input, ${problem.input.length} bytes: npm run suite -- fuzz ${name} --input=${kept}`);
  if (problem.path)
    console.log(`  drawn again: FUZZ_SEED=${seed} FUZZ_PATH=${problem.path} npm run suite -- fuzz ${name}`);
}
console.log(failures === 0 ? 'no counterexample' : `${failures} targets have a counterexample`);
process.exit(failures === 0 ? 0 : 1);
