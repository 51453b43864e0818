import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { AgentError, messageOf, usageError } from '../../lib/errors.ts';
import { ifThere, readFault } from '../../lib/files/file-faults.ts';
import type { Finding } from '../../lib/finding.ts';
import { isOfContainer } from '../../store/container-path.ts';
import { type EtcdFlags, effectiveFlags, flagsOfArguments } from './etcd-flags.ts';
import { addressesOf, isOwn } from './local-address.ts';
import { type MemberFlags, memberFlags } from './member-flags.ts';
import { pathsOf, sourcesOf } from './mount-namespace.ts';
import { type EtcdProcess, etcdProcesses } from './processes.ts';
import { readStaticPod, unknownIn as unknownToPod } from './static-pod.ts';
import {
  asWritten,
  dropInsOf,
  expanded,
  parseEnvironmentFile,
  parseSystemdUnit,
  type SystemdUnit,
  unknownIn,
  unseenRoots,
} from './systemd-unit.ts';

/** How etcd runs on this node. Plain data that the journal keeps, because its source may no longer exist later. */
export interface EtcdNode {
  readonly kind: 'static-pod' | 'systemd' | 'process';
  /** The file or process from which it was read. */
  readonly source: string;
  readonly member: MemberFlags;
  /** Path of the data directory as etcd sees it. */
  readonly dataDir: string;
  readonly image?: string;
  /** For example `3.6.5`. */
  readonly version?: string;
  readonly uid?: number;
  readonly gid?: number;
  /** Further files from which it was read. */
  readonly files?: readonly string[];
  /** Files and folders that may contain further settings, but are not mounted into this container. */
  readonly unseen?: readonly string[];
}

export interface NodeSources {
  readonly manifestsDir: string;
  readonly unit?: string;
  readonly environmentFile?: string;
  readonly configFile?: string;
  readonly dataDir?: string;
}

const SHELL = /^(ba|da|a|k|mk|z)?sh$/;
const CONTAINER = /^(docker|podman|nerdctl|ctr|crictl|rkt|runc|crun|lxc|lxc-start|systemd-nspawn|machinectl|chroot)$/;
/** Programs that start another one in the same place. */
const PREFIX = /^(nice|ionice|taskset|numactl|chrt)$/;
/** Also with its version: `etcd-v3.6.5`. */
const ETCD = /^etcd(-?v?\d[\w.-]*)?$/;

export const ETCD_MANIFEST = 'etcd.yaml';

/** Reads the flags of this node's etcd: from the named source, otherwise from kubeadm's manifest, otherwise from a running process. */
export async function readNode(sources: NodeSources): Promise<EtcdNode> {
  const { manifestsDir, unit, environmentFile, configFile, dataDir } = sources;
  const given = { etcdUnit: unit, etcdEnvironmentFile: environmentFile, etcdConfigFile: configFile };
  const settings = Object.entries(given).flatMap(([name, file]) => (file ? [name] : []));
  if (settings.length > 1) {
    throw usageError('several files say how etcd is started', { finding: { kind: 'severalSources', settings } });
  }
  if (unit) return fromUnit(unit, sources);
  if (environmentFile) {
    const env = parseEnvironmentFile(await text('etcdEnvironmentFile', environmentFile));
    return outside(environmentFile, await flagsOf([], env, 'etcdEnvironmentFile'), sources);
  }
  if (configFile) {
    return outside(configFile, await flagsOf([`--config-file=${configFile}`], {}, 'etcdConfigFile'), sources);
  }
  const files = await ifThere(manifestsDir, readdir(manifestsDir), 'it may hold the manifest of etcd; check it');
  if (!files?.includes(ETCD_MANIFEST)) return fromProcess(sources);
  const node = await fromStaticPod(join(manifestsDir, ETCD_MANIFEST));
  const places = [node.member.dataDir, node.dataDir].map((path) => resolve('/', path));
  if (dataDir === undefined || places.includes(resolve('/', dataDir))) return node;
  throw usageError(`the data of ${node.source} are in ${node.member.dataDir}, not in ${dataDir}`, {
    at: 'dataDir',
    finding: { kind: 'dataElsewhere' },
  });
}

export async function fromStaticPod(file: string): Promise<EtcdNode> {
  const pod = await readStaticPod(file, 'etcd');
  if (basename(pod.program) !== 'etcd') {
    throw usageError(`${file}: not a kubeadm manifest: the command is ${pod.program}, not etcd`);
  }
  const flags = await effectiveFlags(pod.args, pod.env, (config) => readFile(pod.hostPath(config), 'utf8')).catch(
    (error) => {
      throw usageError(`${file}: etcd's config file cannot be read ${readFault(error)}`);
    },
  );
  for (const [name, value] of Object.entries(flags)) {
    const unknown = NEEDED.test(name) ? unknownToPod(value) : undefined;
    if (unknown !== undefined) {
      throw usageError(
        `${file}: --${name} is ${value}, and only the kubelet knows the value of ${unknown}; write the value itself into the manifest`,
      );
    }
  }
  const member = memberFlags(flags, { source: file, hostPath: pod.hostPath });
  const version = versionIn(pod.image ?? '');
  return {
    kind: 'static-pod',
    source: file,
    member,
    dataDir: flags['data-dir'] ?? member.dataDir,
    image: pod.image,
    version: version || undefined,
    uid: pod.uid,
    gid: pod.gid,
  };
}

async function fromUnit(file: string, sources: NodeSources): Promise<EtcdNode> {
  if (await isOfContainer(dirname(file))) {
    throw ofUnit(`${dirname(file)} is not mounted into this container, so the drop-ins of ${file} cannot be read`);
  }
  const dropIns = await dropInsOf(file);
  const texts = await Promise.all([file, ...dropIns].map((each) => text('etcdUnit', each)));
  const unseen = await unseenRoots();
  // Every systemd has these two; the others are optional.
  const missing = unseen.filter((root) => /^\/(etc|run)\//.test(root));
  if (missing.length > 0) {
    throw ofUnit(
      `${missing.join(' and ')}: not mounted into this container, so the drop-ins of ${file} there cannot be read`,
      { kind: 'notMounted', folders: missing },
    );
  }
  const unit = parseSystemdUnit(texts.join('\n'));
  if (!unit) throw ofUnit(`${file} has no ExecStart`);
  const { program, args } = etcdOfUnit(file, unit);
  let env = { ...unit.env };
  for (const { file: environmentFile, optional } of unit.environmentFiles) {
    refuseUnknown(file, 'EnvironmentFile', environmentFile);
    if (optional && (await isOfContainer(environmentFile))) unseen.push(environmentFile);
    const content = await text('etcdUnit', environmentFile).catch((error) => {
      if (optional) return '';
      throw error;
    });
    env = { ...env, ...parseEnvironmentFile(content) };
  }
  const readConfig = (config: string) => {
    refuseUnknown(file, '--config-file', config);
    return text('etcdUnit', resolve(unit.workingDirectory ?? '/', config));
  };
  const flags = await flagsOf(expanded(args, env), env, 'etcdUnit', readConfig);
  for (const [name, value] of Object.entries(flags)) if (NEEDED.test(name)) refuseUnknown(file, `--${name}`, value);
  if (unit.workingDirectory !== undefined) refuseUnknown(file, 'WorkingDirectory', unit.workingDirectory);
  const version = await versionOf(program);
  const node = outside(file, flags, sources, unit.workingDirectory);
  const files = [...dropIns, ...unit.environmentFiles.map((each) => each.file)];
  return { ...node, kind: 'systemd', files, unseen, ...(await ownerOf(unit)), ...(version && { version }) };
}

/** The etcd that a unit starts. Refuses another program: the flags may not be etcd's, or name paths of a container. */
function etcdOfUnit(file: string, unit: SystemdUnit): Pick<SystemdUnit, 'program' | 'args'> {
  const [program, ...args] = withoutPrefix([unit.program, ...unit.args]);
  const name = basename(program!);
  const refuse = (what: string) => ofUnit(`${file} ${what}`, { kind: 'unitUnreadable' });
  const own = unit.root ?? (CONTAINER.test(name) ? program : undefined);
  if (own !== undefined) {
    throw refuse(
      `starts etcd in a container or a root of its own (${own}), so the paths in its flags are not those of this machine`,
    );
  }
  if (SHELL.test(name)) throw refuse(`starts etcd from a shell (${program}), so etcd's flags cannot be read from it`);
  if (!ETCD.test(name)) throw refuse(`starts ${program}, not etcd, so etcd's flags cannot be read from it`);
  return { program: program!, args };
}

function withoutPrefix(words: readonly string[]): readonly string[] {
  if (!PREFIX.test(basename(words[0]!))) return words;
  const isProgram = (word: string) => word.startsWith('/') || PREFIX.test(word) || ETCD.test(word);
  const at = words.findIndex((word, n) => n > 0 && isProgram(word));
  return at < 0 ? words : withoutPrefix(words.slice(at));
}

/** Flags that a restore depends on. */
const NEEDED =
  /^(name|data-dir|wal-dir|initial-cluster|initial-advertise-peer-urls|advertise-client-urls|listen-\w+-urls|(peer-)?(cert|key|trusted-ca)-file)$/;

function refuseUnknown(unit: string, setting: string, value: string): void {
  const unknown = unknownIn(value);
  if (unknown === undefined) return;
  throw ofUnit(`${unit}: ${setting} is ${asWritten(value)}, and only systemd knows the value of ${unknown}`, {
    kind: 'unitUnreadable',
  });
}

const ofUnit = (message: string, finding?: Finding) => usageError(message, { at: 'etcdUnit', finding });

/** Resolves user and group by number, or by the names of this machine. Unknown in a container, which has its own names. */
async function ownerOf({ user, group }: SystemdUnit): Promise<Pick<EtcdNode, 'uid' | 'gid'>> {
  const [entry, own] = await Promise.all([lineOf('/etc/passwd', user), lineOf('/etc/group', group)]);
  const uid = numberOf(user) ?? numberOf(entry?.[2]);
  const gid = numberOf(group) ?? numberOf(own?.[2]) ?? numberOf(entry?.[3]);
  return uid === undefined ? {} : { uid, gid: gid ?? uid };
}

const numberOf = (value: string | undefined): number | undefined =>
  value !== undefined && /^\d+$/.test(value) ? Number(value) : undefined;

async function lineOf(file: string, name: string | undefined): Promise<string[] | undefined> {
  if (name === undefined || (await isOfContainer(file))) return undefined;
  const lines = (await readFile(file, 'utf8').catch(() => '')).split('\n').map((line) => line.split(':'));
  return lines.find(([first]) => first === name);
}

async function fromProcess({ manifestsDir, dataDir }: NodeSources): Promise<EtcdNode> {
  const where = `${manifestsDir} does not contain kubeadm's ${ETCD_MANIFEST}`;
  const all = await etcdProcesses();
  const places = await Promise.all(all.map(async (each) => ({ each, hostPath: await pathsOf(each.pid) })));
  const inPlace = places.filter(({ each: { flags }, hostPath }) => hostPath(flags['data-dir'] ?? '') === dataDir);
  const ofFlag = all.filter(({ flags }) => dataDir === undefined || flags['data-dir'] === dataDir);
  const named = inPlace.length > 0 ? inPlace.map(({ each }) => each) : ofFlag;
  // The etcd of a pod is not a service of this machine.
  const services: EtcdProcess[] = [];
  for (const each of named) if (!(await isOfKubelet(each))) services.push(each);
  const found = services.length > 0 ? services : named;
  const [process, ...others] = found;
  const external = process ? undefined : await externalEtcd(manifestsDir);
  if (external) {
    throw usageError(
      `${where}: this control plane uses an external etcd (${external}); run this command on the machines of that etcd`,
      { finding: { kind: 'externalEtcd' } },
    );
  }
  if (!process) {
    throw usageError(`${where}, and no etcd process runs${dataDir ? ` on ${dataDir}` : ''}`, {
      finding: { kind: 'noProcess' },
    });
  }
  if (others.length > 0)
    throw usageError(`${where}, and ${found.length} etcd processes run`, { finding: { kind: 'severalProcesses' } });
  if (await isOfKubelet(process)) {
    throw usageError(`${where}, but the kubelet runs etcd (pid ${process.pid})`, {
      finding: { kind: 'otherManifestsDir' },
    });
  }
  const { pid, flags, uid, gid, workingDirectory, unread } = process;
  if (unread !== undefined) {
    throw usageError(`etcd (pid ${pid}): its config file ${unread} cannot be read`, {
      finding: { kind: 'configUnread' },
    });
  }
  const version = await versionOf(`/proc/${pid}/exe`);
  const sourceOf = await sourcesOf(pid);
  const hostPath = places.find(({ each }) => each === process)!.hostPath;
  const node = outside(`process ${pid}`, flags, { manifestsDir }, workingDirectory, (path) => {
    const here = hostPath(path);
    if (here !== undefined) return here;
    throw usageError(
      `etcd (pid ${pid}) runs in a container, and its ${path} is ${sourceOf(path) ?? 'on another file system'}, which is not mounted here; mount it into the agent's container, or start etcd with that path on a volume of this machine`,
    );
  });
  return { ...node, uid, gid, ...(version && { version }) };
}

/** Returns the etcd URLs of this node's API server, if none of them is on this machine. */
async function externalEtcd(manifestsDir: string): Promise<string | undefined> {
  const pod = await readStaticPod(join(manifestsDir, 'kube-apiserver.yaml'), 'kube-apiserver').catch(() => undefined);
  const servers = flagsOfArguments(pod?.args ?? [])['etcd-servers']?.split(',') ?? [];
  const used = (await Promise.all(servers.map(addressesOf))).flat();
  return used.some(isOwn) || servers.length === 0 ? undefined : servers.join(',');
}

function outside(
  source: string,
  flags: EtcdFlags,
  { dataDir }: Pick<NodeSources, 'manifestsDir' | 'dataDir'>,
  workingDirectory?: string,
  hostPath = (path: string) => path,
): EtcdNode {
  const member = memberFlags(dataDir === undefined ? flags : { ...flags, 'data-dir': dataDir }, {
    source,
    hostPath,
    workingDirectory,
  });
  return { kind: 'process', source, member, dataDir: flags['data-dir'] ?? member.dataDir };
}

async function flagsOf(
  args: readonly string[],
  env: Record<string, string>,
  at: string,
  readConfig = (file: string) => text(at, file),
): Promise<EtcdFlags> {
  return effectiveFlags(args, env, async (file) => readConfig(file)).catch((error) => {
    if (error instanceof AgentError) throw error;
    throw usageError(messageOf(error), { at });
  });
}

const text = (at: string, file: string): Promise<string> =>
  readFile(file, 'utf8').catch((error) => {
    throw usageError(`cannot read ${file} ${readFault(error)}`, { at });
  });

async function isOfKubelet({ pid }: EtcdProcess): Promise<boolean> {
  return /kubepods/.test(await readFile(`/proc/${pid}/cgroup`, 'utf8').catch(() => ''));
}

async function versionOf(program: string): Promise<string | undefined> {
  try {
    return versionIn((await promisify(execFile)(program, ['--version'], { timeout: 10_000 })).stdout);
  } catch {
    // Also if the name cannot be the name of a program.
    return undefined;
  }
}

/** Finds the version in an image tag (`…/etcd:3.6.5-0`) or in the output of `etcd --version`. */
export const versionIn = (text: string): string | undefined => /(?::v?|etcd Version: )(3\.\d+\.\d+)/.exec(text)?.[1];
