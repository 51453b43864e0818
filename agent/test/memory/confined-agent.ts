import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { etcdutl } from '../harness/etcd-binaries.ts';
import { imageCommand } from '../harness/image-command.ts';
import { reap, spare } from '../harness/reaper.ts';
import { Cgroup, type Limits, type Usage } from './cgroup.ts';

const MIB = 1024 * 1024;
const SAMPLE = 50;

export interface ConfinedRun extends Usage {
  readonly seconds: number;
  /** Peak in bytes of memory that cannot be reclaimed, sampled 20 times a second. */
  readonly own: number;
  /** The agent's result. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into it as they please
  readonly result: any;
}

/**
 * Runs the agent, as its image starts it, in its own control group. Throws unless it succeeds. Returns the resources
 * that it used.
 */
export async function runConfined(limits: Limits, args: readonly string[], scratch: string): Promise<ConfinedRun> {
  await using group = await Cgroup.make(limits);
  const { command, env } = imageCommand();
  const [program, ...rest] = group.enter([...command, ...args, '--output', 'json']);
  const path = [dirname(etcdutl()), process.env.PATH].join(':');
  const started = performance.now();
  const child = spawn(program!, rest, {
    env: { ...env, PATH: path, TMPDIR: scratch, HOME: join(scratch, 'nowhere'), AWS_EC2_METADATA_DISABLED: 'true' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  reap(child.pid!);
  let anonymous = 0;
  const sampler = setInterval(async () => {
    anonymous = Math.max(anonymous, await group.anonymous().catch(() => 0));
  }, SAMPLE);
  const exited = once(child, 'close');
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  const [code, signal] = await exited;
  clearInterval(sampler);
  spare(child.pid!);
  const usage = await group.usage();
  const seconds = (performance.now() - started) / 1_000;
  const what = `${args[0]}${args[0] === 'restore' ? ` ${args[1]}` : ''}`;
  const took = `${seconds.toFixed(0)} s, at most ${mib(anonymous)} and ${mib(usage.peak)} with page cache`;
  process.stdout.write(`${what}: ${took}, of ${mib(limits.memory)}\n`);
  if (code !== 0 || usage.oomKills > 0) {
    const end = signal ? `was killed by ${signal}` : `ended with ${code}`;
    throw new Error(`${what} ${end}, ${usage.oomKills} killed for want of memory; ${took}\n${stderr}\n${stdout}`);
  }
  return { ...usage, seconds, own: anonymous, result: JSON.parse(stdout.trim().split('\n').at(-1)!) };
}

const mib = (bytes: number) => `${Math.round(bytes / MIB)} MiB`;
