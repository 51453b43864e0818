import { readdir, readFile, readlink, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { AgentError, ExitCode, usageError } from '../../lib/errors.ts';
import { ifThere } from '../../lib/files/file-faults.ts';
import { type EtcdFlags, effectiveFlags, etcdUrls, flagsOfArguments } from './etcd-flags.ts';
import { addressesOf, isLoopback, reaches } from './local-address.ts';
import type { MemberFlags } from './member-flags.ts';
import { pathsOf } from './mount-namespace.ts';
import { type StaticPod, unknownIn } from './static-pod.ts';

export interface Process {
  readonly pid: number;
  readonly program: string;
  readonly args: readonly string[];
}

/** Finds all processes whose program has this base name. */
export async function processesNamed(name: string, proc = '/proc'): Promise<Process[]> {
  const entries = (await ifThere(proc, readdir(proc), 'so it is not known what runs')) ?? [];
  const pids = entries.filter((entry) => /^\d+$/.test(entry)).map(Number);
  const found = await Promise.all(pids.map((pid) => readProcess(pid, proc)));
  return found.filter((each) => each !== undefined).filter(({ program }) => basename(program) === name);
}

async function readProcess(pid: number, proc: string): Promise<Process | undefined> {
  // Empty for a kernel thread and for a zombie. It cannot be read of a process that has ended meanwhile.
  const line = await readFile(`${proc}/${pid}/cmdline`, 'utf8').catch(() => '');
  const [program, ...args] = line.replace(/\0$/, '').split('\0');
  return program ? { pid, program, args } : undefined;
}

export interface EtcdProcess extends Process {
  readonly flags: EtcdFlags;
  readonly uid: number;
  readonly gid: number;
  readonly workingDirectory?: string;
  /** Its config file, if it cannot be read: then the flags are not those that it uses. */
  readonly unread?: string;
}

/** Reads how etcd was started. Only root on the host can read environment, config file and working directory. */
export async function etcdProcess({ pid, program, args }: Process, proc = '/proc'): Promise<EtcdProcess | undefined> {
  try {
    const { uid, gid } = await stat(`${proc}/${pid}`);
    const env = parseEnvironment(await readFile(`${proc}/${pid}/environ`, 'utf8').catch(() => ''));
    const workingDirectory = await readlink(`${proc}/${pid}/cwd`).catch(() => undefined);
    let config: string | undefined;
    const readConfig = (file: string) => {
      config = resolve(workingDirectory ?? '/', file);
      return readFile(`${proc}/${pid}/root${config}`, 'utf8');
    };
    const read = await effectiveFlags(args, env, readConfig).catch(() => undefined);
    const more = read === undefined && config !== undefined ? { unread: config } : {};
    const flags = read ?? flagsOfArguments(args);
    return {
      pid,
      program,
      args,
      flags,
      uid,
      gid,
      workingDirectory,
      ...more,
    };
  } catch {
    return undefined;
  }
}

export async function etcdProcesses(proc = '/proc'): Promise<EtcdProcess[]> {
  const found = await Promise.all((await processesNamed('etcd', proc)).map((each) => etcdProcess(each, proc)));
  return found.filter((each) => each !== undefined);
}

interface OwnEtcd {
  readonly member: Pick<MemberFlags, 'dataDir'>;
  /** The same as etcd sees it. */
  readonly dataDir: string;
}

/**
 * Finds the etcd of this node: the one that uses this directory. An etcd in a pod may have another directory, and even another
 * node's addresses, under the same flags. Throws if it may be one of which that cannot be found out.
 */
export async function etcdOf({ member, dataDir }: OwnEtcd, proc = '/proc'): Promise<EtcdProcess | undefined> {
  let doubtful: EtcdProcess | undefined;
  for (const each of await etcdProcesses(proc)) {
    const given = each.flags['data-dir'] ?? `${each.flags.name ?? 'default'}.etcd`;
    const uses = await usesDirectory(each.pid, resolve(each.workingDirectory ?? '/', given), member.dataDir, proc);
    if (uses) return each;
    if (uses === undefined && [member.dataDir, dataDir].includes(given)) doubtful ??= each;
  }
  if (!doubtful) return undefined;
  throw new AgentError(
    ExitCode.usage,
    `etcd (pid ${doubtful.pid}) runs, and whether it uses ${member.dataDir} of this node or a directory of the same name elsewhere cannot be read; run the agent as root of the node`,
  );
}

/** Of a directory that is lost, or that may not be read, the place is compared. Undefined if that is unknown too. */
async function usesDirectory(pid: number, given: string, ours: string, proc: string): Promise<boolean | undefined> {
  const isSame = await isSameFile(`${proc}/${pid}/root${given}`, ours);
  if (isSame !== undefined) return isSame;
  const mounts = await readFile(`${proc}/${pid}/mountinfo`, 'utf8').catch(() => '');
  // Its mounts may not be read, or it ends: then Linux answers with one error or another, and it has no arguments any more.
  if (!mounts.includes(' ')) return (await readProcess(pid, proc)) ? undefined : false;
  const here = (await pathsOf(pid, proc))(given);
  const parent = await realpath(dirname(ours)).catch(() => dirname(ours));
  return here === ours || here === join(parent, basename(ours));
}

/** Finds the API servers that use one of the member's client URLs. */
export async function apiServersOf({ clientUrls }: Pick<MemberFlags, 'clientUrls'>): Promise<Process[]> {
  const found: Process[] = [];
  for (const each of await processesNamed('kube-apiserver')) if (await usesOneOf(each, clientUrls)) found.push(each);
  return found;
}

async function usesOneOf({ pid, args }: Process, clientUrls: readonly string[]): Promise<boolean> {
  // A pod with a network of its own has its own loopback address.
  const isElsewhere = (await isSameFile(`/proc/${pid}/ns/net`, '/proc/self/ns/net')) === false;
  for (const url of etcdUrls(args)) {
    if (isElsewhere && (await addressesOf(url)).every(isLoopback)) continue;
    for (const own of clientUrls) if (await reaches(url, own)) return true;
  }
  return false;
}

type Command = Pick<StaticPod, 'program' | 'args'>;

/** Finds what a static Pod has started in the network of this node: its program, perhaps by way of another one, with exactly its arguments. */
export async function processesOf({ program, args }: Command, proc = '/proc'): Promise<Process[]> {
  const found: Process[] = [];
  for (const each of await processesNamed(basename(program), proc)) {
    const given = each.args.slice(each.args.length - args.length);
    const isSame = args.length > 0 && args.every((arg, at) => isArgument(given[at], arg));
    if (isSame && (await isSameFile(`${proc}/${each.pid}/ns/net`, `${proc}/self/ns/net`))) found.push(each);
  }
  return found;
}

/** The same for etcd. Of several with the same arguments, only the one that uses the node's directory is the node's. */
export async function etcdStartedBy(command: Command, node: OwnEtcd, proc = '/proc'): Promise<Process[]> {
  const own = await etcdOf(node, proc);
  return (await processesOf(command, proc)).filter(({ pid }) => pid === own?.pid);
}

/** What follows a variable that only the kubelet knows is not compared. */
const isArgument = (given: string | undefined, written: string): boolean =>
  unknownIn(written) === undefined
    ? given === written
    : (given?.startsWith(written.slice(0, written.indexOf(unknownIn(written)!))) ?? false);

/** Undefined if one of them cannot be read: another user's process, or a directory that was lost. */
async function isSameFile(one: string, other: string): Promise<boolean | undefined> {
  const [first, second] = await Promise.all([one, other].map((path) => stat(path).catch(() => undefined)));
  return first && second && first.dev === second.dev && first.ino === second.ino;
}

/** Refuses to run in a separate process namespace: there the agent sees neither etcd nor its file locks. */
export async function refuseOwnProcessNamespace(pid = process.pid, proc = '/proc'): Promise<void> {
  const first = await readFile(`${proc}/1/comm`, 'utf8').catch(() => '');
  if (pid !== 1 && first.trim() !== 'pause') return;
  throw usageError('the agent cannot see the processes of the node', { finding: { kind: 'ownProcesses' } });
}

function parseEnvironment(text: string): Record<string, string> {
  return Object.fromEntries(
    text.split('\0').flatMap((line) => {
      const at = line.indexOf('=');
      return at > 0 ? [[line.slice(0, at), line.slice(at + 1)]] : [];
    }),
  );
}
