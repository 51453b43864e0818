import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { AgentError, codeOf, ExitCode, messageOf } from '../errors.ts';
import { parseEnvironmentFile } from './environment-file.ts';
import { type EtcdFlags, effectiveFlags } from './etcd-flags.ts';
import { type MemberFlags, memberFlags } from './member-flags.ts';
import { type EtcdProcess, etcdProcesses } from './processes.ts';
import { readStaticPod } from './static-pod.ts';
import { expanded, parseSystemdUnit } from './systemd-unit.ts';

/** How etcd is run on this node. Plain data: the journal keeps it, as what it was read from may be gone later. */
export interface EtcdNode {
  readonly kind: 'static-pod' | 'systemd' | 'process';
  /** The file or process that it was read from. */
  readonly source: string;
  readonly member: MemberFlags;
  /** The data directory as etcd itself sees it. */
  readonly dataDir: string;
  readonly image?: string;
  /** Such as `3.6.5`. */
  readonly version?: string;
  readonly uid?: number;
  readonly gid?: number;
}

export interface NodeSources {
  readonly manifestsDir: string;
  readonly unit?: string;
  readonly environmentFile?: string;
  readonly configFile?: string;
  readonly dataDir?: string;
}

export const ETCD_MANIFEST = 'etcd.yaml';

const mistake = (message: string) => new AgentError(ExitCode.usage, message);

/** Reads the flags of this node's etcd: from what was named, else from kubeadm's manifest, else from a running process. */
export async function readNode(sources: NodeSources): Promise<EtcdNode> {
  const { manifestsDir, unit, environmentFile, configFile } = sources;
  if (unit) return fromUnit(unit, sources);
  if (environmentFile) {
    const env = parseEnvironmentFile(await text('--etcd-environment-file', environmentFile));
    return outside(environmentFile, await flagsOf([], env, '--etcd-environment-file'), sources);
  }
  if (configFile) {
    return outside(configFile, await flagsOf([`--config-file=${configFile}`], {}, '--etcd-config-file'), sources);
  }
  const files = await readdir(manifestsDir).catch(() => undefined);
  if (files?.includes(ETCD_MANIFEST)) return fromStaticPod(join(manifestsDir, ETCD_MANIFEST));
  return fromProcess(sources);
}

export async function fromStaticPod(file: string): Promise<EtcdNode> {
  const pod = await readStaticPod(file, 'etcd');
  if (basename(pod.program) !== 'etcd') {
    throw mistake(`${file}: it is no manifest of kubeadm's: its command is ${pod.program}, not etcd`);
  }
  const flags = await effectiveFlags(pod.args, pod.env, (config) => readFile(pod.hostPath(config), 'utf8')).catch(
    (error) => {
      throw mistake(`${file}: etcd's config file cannot be read (${codeOf(error) ?? messageOf(error)})`);
    },
  );
  const member = memberFlags(flags, { source: file, hostPath: pod.hostPath });
  const version = versionIn(pod.image ?? '');
  return {
    kind: 'static-pod',
    source: file,
    member,
    dataDir: flags['data-dir'] ?? member.dataDir,
    ...(pod.image !== undefined && { image: pod.image }),
    ...(version && { version }),
    ...(pod.uid !== undefined && { uid: pod.uid }),
    ...(pod.gid !== undefined && { gid: pod.gid }),
  };
}

async function fromUnit(file: string, sources: NodeSources): Promise<EtcdNode> {
  const unit = parseSystemdUnit(await text('--etcd-unit', file));
  if (!unit) throw mistake(`--etcd-unit: ${file} has no ExecStart`);
  let env = { ...unit.env };
  for (const { file: environmentFile, optional } of unit.environmentFiles) {
    const content = await text('--etcd-unit', environmentFile).catch((error) => {
      if (optional) return '';
      throw error;
    });
    env = { ...env, ...parseEnvironmentFile(content) };
  }
  const flags = await flagsOf(expanded(unit.args, env), env, '--etcd-unit');
  const version = await versionOf(unit.program);
  const node = outside(file, flags, sources, unit.workingDirectory);
  return { ...node, kind: 'systemd', ...(version && { version }) };
}

async function fromProcess({ manifestsDir, dataDir }: NodeSources): Promise<EtcdNode> {
  const where = `${manifestsDir} holds no ${ETCD_MANIFEST} of kubeadm's`;
  const all = await etcdProcesses();
  const found = dataDir === undefined ? all : all.filter(({ flags }) => flags['data-dir'] === dataDir);
  const [process, ...others] = found;
  if (!process) {
    throw mistake(
      `${where}, and no etcd process runs${dataDir ? ` on ${dataDir}` : ''}; name its folder with --manifests-dir, or what etcd is started with: --etcd-unit, --etcd-environment-file, --etcd-config-file`,
    );
  }
  if (others.length > 0) throw mistake(`${where}, and ${found.length} etcd processes run; name one with --data-dir`);
  if (await isOfKubelet(process)) {
    throw mistake(`${where}, but the kubelet runs etcd (pid ${process.pid}); name its folder with --manifests-dir`);
  }
  const { pid, flags, uid, gid, workingDirectory } = process;
  const version = await versionOf(`/proc/${pid}/exe`);
  const node = outside(`process ${pid}`, flags, { manifestsDir }, workingDirectory);
  return { ...node, uid, gid, ...(version && { version }) };
}

function outside(
  source: string,
  flags: EtcdFlags,
  { dataDir }: Pick<NodeSources, 'manifestsDir' | 'dataDir'>,
  workingDirectory?: string,
): EtcdNode {
  const member = memberFlags(dataDir === undefined ? flags : { ...flags, 'data-dir': dataDir }, {
    source,
    ...(workingDirectory !== undefined && { workingDirectory }),
  });
  return { kind: 'process', source, member, dataDir: flags['data-dir'] ?? member.dataDir };
}

async function flagsOf(args: readonly string[], env: Record<string, string>, flag: string): Promise<EtcdFlags> {
  return effectiveFlags(args, env, (file) => text(flag, file)).catch((error) => {
    if (error instanceof AgentError) throw error;
    throw mistake(`${flag}: ${messageOf(error)}`);
  });
}

const text = (flag: string, file: string): Promise<string> =>
  readFile(file, 'utf8').catch((error) => {
    throw mistake(`${flag}: cannot read ${file} (${codeOf(error)})`);
  });

async function isOfKubelet({ pid }: EtcdProcess): Promise<boolean> {
  return /kubepods/.test(await readFile(`/proc/${pid}/cgroup`, 'utf8').catch(() => ''));
}

async function versionOf(program: string): Promise<string | undefined> {
  const run = promisify(execFile);
  const { stdout } = await run(program, ['--version'], { timeout: 10_000 }).catch(() => ({ stdout: '' }));
  return versionIn(stdout);
}

/** Of an image's tag (`…/etcd:3.6.5-0`) or of `etcd --version`. */
export const versionIn = (text: string): string | undefined => /(?::v?|etcd Version: )(3\.\d+\.\d+)/.exec(text)?.[1];
