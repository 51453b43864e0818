import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';

/** Cost of one way. */
export interface Cost {
  /** Seconds. */
  readonly wall: number;
  /** Seconds of CPU, user and system, of all its processes. */
  readonly cpu: number;
  /** Peak resident memory in MiB of its largest process, including mapped parts of its program file. */
  readonly resident: number;
  /** MiB of its own memory, which the kernel cannot reclaim; sampled 20 times a second. */
  readonly memory: number;
  /** MiB that it wrote to disks of this machine. */
  readonly disk: number;
}

export type Environment = Readonly<Record<string, string>>;

/** A program with its arguments. */
export interface Step {
  readonly command: readonly string[];
  readonly environment?: Environment;
}

/** Runs the steps one after the other in their own directory, and sums up the values of wait4(2). */
export async function measure(steps: readonly Step[], scratch: string): Promise<Cost> {
  const total = { wall: 0, cpu: 0, resident: 0, memory: 0, disk: 0 };
  for (const step of steps) {
    const cost = await measureStep(step, scratch);
    total.wall += cost.wall;
    total.cpu += cost.cpu;
    total.resident = Math.max(total.resident, cost.resident);
    total.memory = Math.max(total.memory, cost.memory);
    total.disk += cost.disk;
  }
  return total;
}

async function measureStep({ command, environment }: Step, scratch: string): Promise<Cost> {
  const directory = await mkdtemp(join(scratch, 'step-'));
  const report = join(directory, 'report');
  // Through a small program: a child's peak of memory starts with its parent's.
  const args = ['--output', report, '--format', '%U %S %M %O', ...command];
  const started = performance.now();
  const env = { PATH: process.env.PATH, TMPDIR: scratch, HOME: scratch, ...environment };
  const child = spawn('time', args, { cwd: scratch, env, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      output = (output + chunk).slice(-4_000);
    });
  }
  let own = 0;
  const sampler = setInterval(() => {
    own = Math.max(own, ownMemory(child.pid!));
  }, 50);
  const [code] = await once(child, 'close');
  clearInterval(sampler);
  const wall = (performance.now() - started) / 1_000;
  if (code !== 0) throw new Error(`${command.join(' ')} ended with ${code}:\n${output}`);
  const [user, system, kibibytes, blocks] = (await readFile(report, 'utf8')).trim().split(' ').map(Number);
  await rm(directory, { recursive: true });
  return { wall, cpu: user! + system!, resident: kibibytes! / 1024, memory: own / 1024, disk: blocks! / 2048 };
}

/** Private memory of the program's only child at the moment, in KiB. */
function ownMemory(pid: number): number {
  try {
    const child = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
    return Number(/^RssAnon:\s+(\d+)/m.exec(readFileSync(`/proc/${child}/status`, 'utf8'))?.[1] ?? 0);
  } catch {
    // The process has just ended.
    return 0;
  }
}
