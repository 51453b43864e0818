import { isIP } from 'node:net';
import { parseArgs } from 'node:util';
import { clientServiceName } from '../../../src/etcd/client-service-name.ts';
import { AgentError, ExitCode } from '../lib/errors.ts';
import { tryDuration } from '../lib/input/duration.ts';
import type { Scheme } from '../protocol/record.ts';

/** Configuration of a member's pod, the same for gate and sidecar. */
export interface MemberConfig {
  readonly cluster: string;
  readonly namespace: string;
  /** Name of the pod, which is also the name of the etcd member. */
  readonly pod: string;
  readonly podUid: string;
  /** Empty if unknown. */
  readonly podIp: string;
  readonly ordinal: number;
  /** Full etcd version that the pod template names. */
  readonly etcdVersion: string;
  /** Data of an older epoch never serve. 0 if there is no minimum. */
  readonly minEpoch: number;
  readonly dataDir: string;
  /** Only for the gate; empty for the sidecar. */
  readonly scratchDir: string;
  readonly settingsFile: string;
  /** Name of the ConfigMap with the record, or file:///path/record.json. */
  readonly record: string;
  /** These URLs begin with https if the pod has certificates. The record can change that, see transport.ts. */
  readonly peerUrl: string;
  readonly clientUrl: string;
  readonly listenPeerUrl: string;
  /** At most one URL of each scheme, http first. */
  readonly listenClientUrls: readonly string[];
  readonly metricsUrl: string;
  /** Address of GET /status. */
  readonly listen: { readonly host: string; readonly port: number };
  readonly peerTlsDir?: string;
  readonly serverTlsDir?: string;
  /** Only for the sidecar. */
  readonly backup?: BackupConfig;
  /** Interval between two observations, in ms, randomized by ±50 %. */
  readonly poll: number;
  /** Time-out of one read of the record, in ms. */
  readonly recordTimeout: number;
  /** Longest time without a new byte of a snapshot, in ms. */
  readonly idleTimeout: number;
  readonly etcdutl: string;
  /** Directory with `<minor>/etcd`, and `<minor>/etcdutl` for minor versions that have one. */
  readonly etcdDir: string;
}

/** The port at which backups ask this member, without the rights of etcd's root. */
export interface BackupConfig {
  readonly listen: { readonly host: string; readonly port: number };
  /** Common name of the only certificate that is served. */
  readonly user: string;
  /** Directory with tls.crt, tls.key and ca.crt of etcd's user root. */
  readonly rootTlsDir: string;
}

export type MemberCommand = 'gate' | 'serve';

interface MemberFlag {
  readonly name: string;
  readonly value: string;
  readonly description: string;
  /** Set if only one of the two commands has this flag. */
  readonly of?: MemberCommand;
}

const flag = (name: string, value: string, description: string, of?: MemberCommand): MemberFlag => ({
  name,
  value,
  description,
  of,
});

/** All flags of `gate` and `serve`, without the leading dashes. */
export const memberFlags: readonly MemberFlag[] = [
  flag('cluster', 'name', 'name of the EtcdCluster; the pod is named <cluster>-<ordinal>'),
  flag('data-dir', 'dir', 'mount path of the volume'),
  flag('scratch-dir', 'dir', 'directory with room for one database, for restores and salvage', 'gate'),
  flag('settings', 'file', "file with etcd's settings, as JSON"),
  flag('record', 'name|url', 'ConfigMap with the record, or file:///path/record.json'),
  flag('peer-service', 'name', 'headless Service of the peers (default: <cluster>-peers)'),
  flag('cluster-domain', 'name', 'DNS domain of the Kubernetes cluster (default: cluster.local)'),
  flag('peer-tls-dir', 'dir', 'directory with tls.crt, tls.key and ca.crt for connections between members'),
  flag('server-tls-dir', 'dir', 'directory with tls.crt, tls.key and ca.crt for client connections'),
  flag('root-tls-dir', 'dir', "directory with tls.crt, tls.key and ca.crt of etcd's user root, for backups", 'serve'),
  flag('backup-listen', 'host:port', 'address at which backups ask this member (default: none)', 'serve'),
  flag('backup-user', 'name', 'common name of the certificate of backups, the only one served there', 'serve'),
  flag('listen', 'host:port', 'address of GET /status (default: 0.0.0.0:8080)'),
  flag(
    'peer-url',
    'url',
    'URL at which other members reach this one; its scheme does not count (default: its name in the Service of the peers)',
  ),
  flag(
    'client-url',
    'url',
    'URL at which clients reach this member; its scheme does not count (default: the Service <pod>-client)',
  ),
  flag(
    'listen-peer-url',
    'url',
    'URL on which etcd listens for members; its scheme does not count (default: port 2380)',
  ),
  flag(
    'listen-client-url',
    'url',
    'URL on which etcd listens for clients; its scheme does not count (default: port 2379)',
  ),
  flag('metrics-url', 'url', 'URL on which etcd serves probes and metrics (default: http://0.0.0.0:2381)'),
  flag('poll', 'duration', 'interval between two observations (default: 3s, serve 30s)'),
  flag('record-timeout', 'duration', 'time-out of one read of the record (default: 2s)'),
  flag('idle-timeout', 'duration', 'longest time without a new byte of a snapshot (default: 60s)', 'gate'),
  flag('etcdutl', 'file', "etcd's offline tool (default: etcdutl)", 'gate'),
  flag('etcd-dir', 'dir', 'directory with <minor>/etcd for every minor version (default: /opt/etcd)', 'gate'),
];

export const flagsOf = (command: MemberCommand): readonly MemberFlag[] =>
  memberFlags.filter(({ of }) => of === undefined || of === command);

/** Parses a command line, without commander. */
export function parseMemberArgs(command: MemberCommand, args: string[], env: NodeJS.ProcessEnv): MemberConfig {
  const options = Object.fromEntries(flagsOf(command).map(({ name }) => [name, { type: 'string' as const }]));
  const { values } = parseArgs({ args, options });
  return memberConfig(command, (name) => values[name] as string | undefined, env);
}

/** `read` returns the value of a flag by its name. Throws one usage error with all mistakes, one per line. */
export function memberConfig(
  command: MemberCommand,
  read: (flag: string) => string | undefined,
  env: NodeJS.ProcessEnv,
): MemberConfig {
  const reader = new Reader(read, env);
  const config = readConfig(command, reader);
  if (reader.mistakes.length > 0) throw new AgentError(ExitCode.usage, reader.mistakes.join('\n'));
  return config;
}

function readConfig(command: MemberCommand, from: Reader): MemberConfig {
  const cluster = from.flag('cluster', 'name the EtcdCluster');
  const pod = from.variable('POD_NAME');
  const namespace = from.variable('ETCD_AGENT_NAMESPACE');
  const peerTlsDir = from.optional('peer-tls-dir');
  const serverTlsDir = from.optional('server-tls-dir');
  const peerScheme = peerTlsDir === undefined ? 'http' : 'https';
  const clientScheme = serverTlsDir === undefined ? 'http' : 'https';
  const domain = `${namespace}.svc.${from.optional('cluster-domain') ?? 'cluster.local'}`;
  const peerService = from.optional('peer-service') ?? `${cluster}-peers`;
  return {
    cluster,
    namespace,
    pod,
    podUid: from.variable('POD_UID'),
    podIp: from.ip('POD_IP'),
    ordinal: from.ordinal(pod, cluster),
    etcdVersion: from.version('ETCD_VERSION'),
    minEpoch: from.count('MIN_EPOCH'),
    dataDir: from.flag('data-dir', 'name the volume'),
    scratchDir: command === 'gate' ? from.flag('scratch-dir', 'name a directory with room for one database') : '',
    settingsFile: from.flag('settings', "name the file with etcd's settings"),
    record: from.flag('record', 'name the ConfigMap, or file:///path/record.json'),
    peerUrl: from.url('peer-url', peerScheme, `${pod}.${peerService}.${domain}:2380`),
    clientUrl: from.url('client-url', clientScheme, `${clientServiceName(pod)}.${domain}:2379`),
    listenPeerUrl: from.url('listen-peer-url', peerScheme, '0.0.0.0:2380'),
    listenClientUrls: [from.url('listen-client-url', clientScheme, '0.0.0.0:2379')],
    metricsUrl: from.plainUrl('metrics-url', '0.0.0.0:2381'),
    listen: from.address('listen', '0.0.0.0:8080'),
    peerTlsDir,
    serverTlsDir,
    ...readBackup(from),
    poll: from.duration('poll', command === 'gate' ? '3s' : '30s'),
    recordTimeout: from.duration('record-timeout', '2s'),
    idleTimeout: from.duration('idle-timeout', '60s'),
    etcdutl: from.optional('etcdutl') ?? 'etcdutl',
    etcdDir: from.optional('etcd-dir') ?? '/opt/etcd',
  };
}

const backupFlags = ['root-tls-dir', 'backup-listen', 'backup-user'] as const;

function readBackup(from: Reader): Pick<MemberConfig, 'backup'> {
  const given = backupFlags.filter((name) => from.optional(name) !== undefined);
  if (given.length === 0) return {};
  const rootTlsDir = from.flag('root-tls-dir', together);
  const isNamed = from.flag('backup-listen', together) !== '';
  const listen = isNamed ? from.address('backup-listen', '') : { host: '', port: 0 };
  const user = from.flag('backup-user', together);
  from.flag('server-tls-dir', 'backups are served with TLS only; name the directory with its certificate');
  return { backup: { listen, user, rootTlsDir } };
}

const together = 'pass --root-tls-dir, --backup-listen and --backup-user together, or none of them';

/** Converts flags and variables to values, and collects one line for each mistake. */
class Reader {
  readonly mistakes: string[] = [];
  readonly #read: (flag: string) => string | undefined;
  readonly #env: NodeJS.ProcessEnv;

  constructor(read: (flag: string) => string | undefined, env: NodeJS.ProcessEnv) {
    this.#read = read;
    this.#env = env;
  }

  optional(name: string): string | undefined {
    return this.#read(name) || undefined;
  }

  flag(name: string, what: string): string {
    return this.optional(name) ?? this.#wrong(`--${name}: ${what}`, '');
  }

  variable(name: string): string {
    return this.#env[name] || this.#wrong(`${name}: the variable is not set; the pod template sets it`, '');
  }

  ip(name: string): string {
    const value = this.#env[name] ?? '';
    return !value || isIP(value) ? value : this.#wrong(`${name}: '${value}' is not a valid IP address`, '');
  }

  count(name: string): number {
    const value = this.#env[name] ?? '';
    return /^\d{0,15}$/.test(value) ? Number(value) : this.#wrong(`${name}: '${value}' is not a whole number`, 0);
  }

  version(name: string): string {
    const value = this.variable(name);
    if (!value || /^3\.\d+\.\d+$/.test(value)) return value;
    return this.#wrong(`${name}: '${value}' is not a full etcd version; write it as 3.6.16`, '');
  }

  ordinal(pod: string, cluster: string): number {
    const digits = pod.startsWith(`${cluster}-`) ? pod.slice(cluster.length + 1) : '';
    if (/^\d{1,3}$/.test(digits) || !pod || !cluster) return Number(digits);
    return this.#wrong(
      `POD_NAME: '${pod}' is not a pod of --cluster ${cluster}; expected a name such as ${cluster}-0`,
      0,
    );
  }

  duration(name: string, byDefault: string): number {
    const value = this.optional(name) ?? byDefault;
    return (
      tryDuration(value) ||
      this.#wrong(`--${name}: '${value}' is not a valid duration above zero; write 500ms, 3s or 5m`, 0)
    );
  }

  /** A given URL keeps its host and port only. */
  url(name: string, scheme: Scheme, byDefault: string): string {
    const value = this.optional(name) ?? `${scheme}://${byDefault}`;
    const url = URL.parse(value);
    const isWeb = url?.protocol === 'http:' || url?.protocol === 'https:';
    if (isWeb && url.port && url.pathname === '/' && !url.search && !url.hash && !url.username)
      return `${scheme}://${url.host}`;
    return this.#wrong(
      `--${name}: '${value}' is not a URL of scheme, host and port, such as ${scheme}://10.0.0.1:2379`,
      '',
    );
  }

  plainUrl(name: string, byDefault: string): string {
    const url = this.url(name, 'http', byDefault);
    const given = this.optional(name);
    return given?.startsWith('https:') ? this.#wrong(`--${name}: '${given}' must use http`, url) : url;
  }

  address(name: string, byDefault: string): { host: string; port: number } {
    const value = this.optional(name) ?? byDefault;
    const [, v6, plain, digits] = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(value) ?? [];
    const port = Number(digits);
    if (port <= 65_535) return { host: v6 ?? plain!, port };
    return this.#wrong(`--${name}: '${value}' is not a valid address; write host:port`, { host: '', port: 0 });
  }

  #wrong<T>(mistake: string, value: T): T {
    this.mistakes.push(mistake);
    return value;
  }
}
