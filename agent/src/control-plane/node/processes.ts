import { readdir, readFile, readlink, stat } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import { AgentError, ExitCode } from '../../lib/errors.ts';
import { type EtcdFlags, effectiveFlags, flagsOfArguments, urlsOfArguments } from './etcd-flags.ts';
import type { MemberFlags } from './member-flags.ts';

export interface Process {
  readonly pid: number;
  readonly program: string;
  readonly args: readonly string[];
}

/** Finds all processes whose program has this base name. */
export async function processesNamed(name: string): Promise<Process[]> {
  const entries = await readdir('/proc').catch(() => []);
  const pids = entries.filter((entry) => /^\d+$/.test(entry)).map(Number);
  const found = await Promise.all(pids.map(readProcess));
  return found.filter((each) => each !== undefined).filter(({ program }) => basename(program) === name);
}

async function readProcess(pid: number): Promise<Process | undefined> {
  // Empty for a kernel thread and for a zombie.
  const line = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
  const [program, ...args] = line.replace(/\0$/, '').split('\0');
  return program ? { pid, program, args } : undefined;
}

export interface EtcdProcess extends Process {
  readonly flags: EtcdFlags;
  readonly uid: number;
  readonly gid: number;
  readonly workingDirectory?: string;
}

/** Reads how etcd was started. Only root on the host can read environment, config file and working directory. */
export async function etcdProcess({ pid, program, args }: Process): Promise<EtcdProcess | undefined> {
  try {
    const { uid, gid } = await stat(`/proc/${pid}`);
    const env = parseEnvironment(await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => ''));
    const flags = await effectiveFlags(args, env, (file) => readFile(`/proc/${pid}/root/${file}`, 'utf8')).catch(() =>
      flagsOfArguments(args),
    );
    const workingDirectory = await readlink(`/proc/${pid}/cwd`).catch(() => undefined);
    return { pid, program, args, flags, uid, gid, ...(workingDirectory !== undefined && { workingDirectory }) };
  } catch {
    return undefined;
  }
}

export async function etcdProcesses(): Promise<EtcdProcess[]> {
  const found = await Promise.all((await processesNamed('etcd')).map(etcdProcess));
  return found.filter((each) => each !== undefined);
}

/**
 * Finds the etcd of this node: the one that uses this directory. An etcd in a pod may have another directory, and even another
 * node's addresses, under the same flags.
 */
export async function etcdOf({
  member,
  dataDir,
}: {
  readonly member: Pick<MemberFlags, 'dataDir'>;
  readonly dataDir: string;
}): Promise<Process | undefined> {
  const names = new Set([member.dataDir, dataDir]);
  for (const each of await etcdProcesses()) {
    const given = each.flags['data-dir'] ?? `${each.flags.name ?? 'default'}.etcd`;
    const theirs = `/proc/${each.pid}/root${resolve(each.workingDirectory ?? '/', given)}`;
    if ((await isSameFile(theirs, member.dataDir)) ?? names.has(given)) return each;
  }
  return undefined;
}

/** Finds the API servers that use one of the member's client URLs. */
export async function apiServersOf({ clientUrls }: Pick<MemberFlags, 'clientUrls'>): Promise<Process[]> {
  const urls = new Set(clientUrls.map(normal));
  const found: Process[] = [];
  for (const each of await processesNamed('kube-apiserver')) {
    const used = urlsOfArguments(each.args, 'etcd-servers')
      .map(normal)
      .filter((url) => urls.has(url));
    // A pod with a network of its own has its own loopback address.
    const reach = used.every(isLoopback) ? await isSameFile(`/proc/${each.pid}/ns/net`, '/proc/self/ns/net') : true;
    if (used.length > 0 && reach !== false) found.push(each);
  }
  return found;
}

/** Undefined if one of them cannot be read: another user's process, or a directory that was lost. */
async function isSameFile(one: string, other: string): Promise<boolean | undefined> {
  const [first, second] = await Promise.all([one, other].map((path) => stat(path).catch(() => undefined)));
  return first && second && first.dev === second.dev && first.ino === second.ino;
}

const isLoopback = (address: string): boolean => /^(127\.|\[::1\])/.test(address);

/** Refuses to run in a separate process namespace: there the agent sees neither etcd nor its file locks. */
export async function refuseOwnProcessNamespace(pid = process.pid, proc = '/proc'): Promise<void> {
  const first = await readFile(`${proc}/1/comm`, 'utf8').catch(() => '');
  if (pid !== 1 && first.trim() !== 'pause') return;
  throw new AgentError(
    ExitCode.usage,
    'the agent cannot see the processes of the node; run it with hostPID: true (ctr run: --with-ns pid:/proc/1/ns/pid)',
  );
}

function normal(url: string): string {
  const { hostname, port } = URL.parse(url) ?? { hostname: url, port: '' };
  return `${hostname === 'localhost' ? '127.0.0.1' : hostname}:${port || '2379'}`;
}

function parseEnvironment(text: string): Record<string, string> {
  return Object.fromEntries(
    text.split('\0').flatMap((line) => {
      const at = line.indexOf('=');
      return at > 0 ? [[line.slice(0, at), line.slice(at + 1)]] : [];
    }),
  );
}
