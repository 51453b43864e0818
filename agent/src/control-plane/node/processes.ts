import { readdir, readFile, readlink, stat } from 'node:fs/promises';
import { basename } from 'node:path';
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

/** Finds the API servers that use one of the member's client URLs. */
export async function apiServersOf({ clientUrls }: Pick<MemberFlags, 'clientUrls'>): Promise<Process[]> {
  const urls = new Set(clientUrls.map(normal));
  const servers = ({ args }: Process) => urlsOfArguments(args, 'etcd-servers');
  return (await processesNamed('kube-apiserver')).filter((each) => servers(each).some((url) => urls.has(normal(url))));
}

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
