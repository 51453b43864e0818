import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type AgentOptions, type AgentResult, RunningAgent } from '../harness/agent.ts';
import type { EtcdClient } from '../harness/etcd-client.ts';
import type { Place } from './place.ts';

export const CLUSTER = 'orders';

/** Returns the command line of a command on one store. */
export const command = (name: string, store: string, ...more: string[]): string[] => [
  ...name.split(' '),
  ...['--store', store, '--cluster', CLUSTER, '--output', 'json'],
  ...more,
];

export const backup = (etcd: Pick<EtcdClient, 'endpoints'>, store: string, ...more: string[]): string[] =>
  command('backup', store, '--endpoints', etcd.endpoints.join(), ...more);

/** The agent starts hundreds of times here: compiling it once saves a third of the time. */
const NODE_COMPILE_CACHE = join(tmpdir(), 'etcd-agent-compile-cache');

export const start = (args: readonly string[], options: AgentOptions = {}): RunningAgent =>
  new RunningAgent(args, { ...options, env: { NODE_COMPILE_CACHE, ...options.env } });

/** Runs the agent until it ends, with any exit code. */
export const run = (args: readonly string[], options?: AgentOptions): Promise<AgentResult> =>
  start(args, options).finished;

/** Runs the agent, expects success, and returns its result. */
export async function succeed(args: readonly string[], options?: AgentOptions): Promise<AgentResult['result']> {
  const { code, result, stderr } = await run(args, options);
  if (code !== 0) throw new Error(`${args[0]} ended with ${code}:\n${stderr}\n${JSON.stringify(result)}`);
  return result;
}

/** Expects the documented exit code, and one line with the reason. */
export function expectFailure({ code, result, stderr }: AgentResult, exitCode: number, message: RegExp): void {
  if (code !== exitCode) throw new Error(`ended with ${code}, not ${exitCode}: ${JSON.stringify(result)}\n${stderr}`);
  expect(result).toMatchObject({ ok: false, exitCode, error: expect.stringMatching(message) });
  expect(result.error).not.toMatch(/\n|^unexpected/);
}

/** The error of a backup that SIGTERM ended. What it has stored, or may have stored, is named. */
export const STOPPED =
  /^stopped by SIGTERM(; before that, the snapshot was stored: .+|; the manifest \S+ in \S+ may have been written: .+)?$/;

/** Returns the ids that `list` shows, newest first, after `verify` has read all of them. */
export async function wholeSnapshots({ store }: Place): Promise<string[]> {
  const { snapshots, broken } = await succeed(command('list', store));
  expect(broken).toEqual([]);
  const ids = snapshots.map(({ id }: { id: string }) => id);
  if (ids.length > 0) expect(await succeed(command('verify', store))).toMatchObject({ verified: ids.length });
  return ids;
}

/** Expects that the store contains only these snapshots: manifest, payload, and a verification if there was one. */
export async function expectOnly(place: Place, ids: readonly string[]): Promise<void> {
  const keys = await place.keys();
  const allowed = /^(\.json|\.verify\.json|\.db|\.db\.zst)$/;
  const unknown = keys.filter((key) => !ids.some((id) => isOf(key, id) && allowed.test(suffixOf(key, id))));
  expect(unknown).toEqual([]);
  for (const id of ids) {
    const suffixes = keys.filter((key) => isOf(key, id)).map((key) => suffixOf(key, id));
    expect(suffixes).toContain('.json');
    expect(suffixes.filter((suffix) => suffix.startsWith('.db'))).toHaveLength(1);
  }
  expect(await place.unfinished()).toEqual([]);
}

const isOf = (key: string, id: string) => key.startsWith(`${CLUSTER}/${id}.`);
const suffixOf = (key: string, id: string) => key.slice(`${CLUSTER}/${id}`.length);

/** Ids with a payload but no manifest. */
export async function payloadsAlone(place: Place): Promise<string[]> {
  const keys = await place.keys();
  const payloads = keys.filter((key) => /\.db(\.zst)?$/.test(key)).map((key) => key.replace(/\.db(\.zst)?$/, ''));
  return payloads.filter((name) => !keys.includes(`${name}.json`)).map((name) => name.slice(CLUSTER.length + 1));
}

/**
 * Waits until existing leftovers are older than a millisecond by the clock of a server, which reports whole seconds.
 */
export const untilOld = () => sleep(2_200);

/** Waits until the name of a new snapshot shows that it is newer: names hold whole seconds, and within one nothing is swept. */
export const nextSecond = () => sleep(1_000);
