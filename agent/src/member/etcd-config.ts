import { createHash } from 'node:crypto';
import { readFile, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { type ConfigSettings, configKey, problemsOfSettings, translate } from '../../../src/etcd/etcd-config-keys.ts';
import { AgentError, codeOf, ExitCode } from '../lib/errors.ts';
import { readFault } from '../lib/files/file-faults.ts';
import { replaceFile } from '../lib/files/replace-file.ts';
import type { Identity } from '../protocol/agent-status.ts';
import type { Permit } from '../protocol/record.ts';
import { minorOf } from '../protocol/versions.ts';
import type { MemberConfig } from './member-config.ts';
import { presentLists, type RevocationLists } from './revocation-lists.ts';
import { etcdDirOf } from './volume.ts';

/** Result of writing etcd.yaml. `edited` if the file was changed after the agent wrote it. */
export type Written = 'same' | 'written' | 'edited';

/** How a member finds its cluster: it starts a new one, joins an existing one, or starts again. */
interface Form {
  readonly state: 'new' | 'existing';
  readonly cluster: string;
  readonly token: string;
  /** Unset: the peer URL of the config. */
  readonly advertised?: string;
}

const GIB = 2 ** 30;
/** etcd's default. */
const defaultQuota = 2 * GIB;

export const configFile = (dataDir: string): string => join(dataDir, 'etcd.yaml');

/** `<name>=<peer URL>` of this member. */
export const selfOf = ({ pod, peerUrl }: MemberConfig): string => `${pod}=${peerUrl}`;

/** This member's URLs in an `--initial-cluster`. A member that joins must advertise all of them, and no other. */
export const ownUrls = ({ pod }: MemberConfig, initialCluster: string): string[] =>
  initialCluster.split(',').flatMap((entry) => (entry.startsWith(`${pod}=`) ? entry.slice(pod.length + 1) : []));

/** Writes etcd.yaml for a volume with a WAL. With this file an emptied data directory cannot start a new cluster. */
export function sealConfig(config: MemberConfig, { token }: Pick<Identity, 'token'>): Promise<Written> {
  return write(config, { state: 'existing', cluster: selfOf(config), token });
}

/** Writes etcd.yaml for the first start on an empty volume. */
export function permitConfig(config: MemberConfig, { mode, token, initialCluster }: Permit): Promise<Written> {
  if (mode === 'new') return write(config, { state: 'new', cluster: selfOf(config), token });
  const advertised = ownUrls(config, initialCluster).join(',') || undefined;
  return write(config, { state: 'existing', cluster: initialCluster, token, advertised });
}

async function write(config: MemberConfig, form: Form): Promise<Written> {
  const file = configFile(config.dataDir);
  const [settings, size] = [await readSettings(config), await volumeSize(config.dataDir)];
  const text = render({ ...etcdConfig(config, form, settings, size), ...revocation(await presentLists(config)) });
  const old = await readFile(file, 'utf8').catch((error) => {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  });
  // An unchanged file is not rewritten, so that a full disk does not prevent the start.
  if (old === text) return 'same';
  await replaceFile(file, text);
  return old === undefined || isUntouched(old) ? 'written' : 'edited';
}

/** etcd's configuration file has no key for a revocation list. Every version takes the names of the fields in its source. */
const revocation = ({ peer, client }: RevocationLists): Record<string, unknown> => ({
  PeerTLSInfo: peer === undefined ? undefined : { CRLFile: peer },
  ClientTLSInfo: client === undefined ? undefined : { CRLFile: client },
});

const volumeSize = async (dataDir: string): Promise<number> => {
  const { blocks, bsize } = await statfs(dataDir);
  return blocks * bsize;
};

/** Translates canonical keys to the keys of etcd's minor version. Only known keys are passed on. */
export function etcdConfig(
  config: MemberConfig,
  form: Form,
  settings: ConfigSettings,
  volumeBytes: number,
): Record<string, unknown> {
  const quota = quotaFor(settings['quota-backend-bytes'], volumeBytes);
  return translate(
    {
      // etcd 3.4 with a config file does not default to this value.
      logger: 'zap',
      // Without an Accept header, a request to the JSON gateway has the rights of the server's own certificate.
      'enable-grpc-gateway': false,
      ...settings,
      ...(quota !== undefined && { 'quota-backend-bytes': quota }),
      ...memberSettings(config, form),
    },
    minorOf(config.etcdVersion),
  );
}

function memberSettings(config: MemberConfig, { state, cluster, token, advertised }: Form): ConfigSettings {
  return {
    name: config.pod,
    'data-dir': etcdDirOf(config.dataDir),
    'listen-peer-urls': config.listenPeerUrl,
    'listen-client-urls': config.listenClientUrls.join(','),
    'listen-metrics-urls': config.metricsUrl,
    'initial-advertise-peer-urls': advertised ?? config.peerUrl,
    'advertise-client-urls': config.clientUrl,
    'initial-cluster-state': state,
    'initial-cluster': cluster,
    'initial-cluster-token': token,
    'strict-reconfig-check': true,
    'max-learners': 1,
    ...(config.peerTlsDir !== undefined && { 'peer-transport-security': transportSecurity(config.peerTlsDir) }),
    ...(config.serverTlsDir !== undefined && { 'client-transport-security': transportSecurity(config.serverTlsDir) }),
  };
}

const transportSecurity = (directory: string) => ({
  'cert-file': join(directory, 'tls.crt'),
  'key-file': join(directory, 'tls.key'),
  'trusted-ca-file': join(directory, 'ca.crt'),
  'client-cert-auth': true,
});

/** Caps the quota so that the volume has room for the write-ahead log and a copy: the NOSPACE alarm must come before a full disk. */
function quotaFor(wanted: unknown, volumeBytes: number): number | undefined {
  const most = Math.floor(volumeBytes - Math.min(GIB, volumeBytes / 2));
  if (wanted === undefined) return most < defaultQuota ? most : undefined;
  return Math.min(Number(wanted), most);
}

/** Reads the settings file, by canonical key. Throws a usage error that lists every invalid setting. */
export async function readSettings({ settingsFile, etcdVersion }: MemberConfig): Promise<ConfigSettings> {
  const wrong = (why: string) => new AgentError(ExitCode.usage, `--settings: ${settingsFile} ${why}`);
  const text = await readFile(settingsFile, 'utf8').catch((error) => {
    throw wrong(`cannot be read ${readFault(error)}`);
  });
  const settings = parseSettings(text);
  if (!settings) throw wrong('does not hold a JSON object');
  // Settings that this minor version lacks are left out: both minor versions of an upgrade use the same file.
  const minor = minorOf(etcdVersion);
  const known = Object.entries(settings).filter(([key]) => configKey(key)?.minors.includes(minor) ?? true);
  const problems = problemsOfSettings(Object.fromEntries(known), minor);
  if (problems.length > 0) throw wrong(problems.join('; '));
  return settings;
}

function parseSettings(text: string): ConfigSettings | undefined {
  try {
    const document = JSON.parse(text);
    return typeof document === 'object' && document !== null && !Array.isArray(document) ? document : undefined;
  } catch {
    return undefined;
  }
}

const header = '# Written by etcd-agent for each start: a change here is overwritten. Checksum: ';

function render(keys: Record<string, unknown>): string {
  const sorted = Object.fromEntries(Object.entries(keys).sort(([a], [b]) => (a < b ? -1 : 1)));
  // Quoted, because etcd reads YAML 1.1, in which a plain `on` is a boolean.
  const body = stringify(sorted, { defaultStringType: 'QUOTE_DOUBLE', defaultKeyType: 'PLAIN', lineWidth: 0 });
  return `${header}${checksum(body)}\n${body}`;
}

/** Returns true if the file was not edited after the agent wrote it. */
export function isUntouched(text: string): boolean {
  const end = text.indexOf('\n');
  return text.slice(0, end) === `${header}${checksum(text.slice(end + 1))}`;
}

const checksum = (body: string): string => createHash('sha256').update(body).digest('hex').slice(0, 16);

/** Describes the difference between the quota that etcd runs with and the one in etcd.yaml; undefined if there is none. */
export async function quotaProblem(dataDir: string, quota: number | undefined): Promise<string | undefined> {
  const written = await writtenQuota(dataDir);
  if (quota === undefined || written === undefined || quota === written) return undefined;
  return `etcd runs with a quota of ${quota} bytes, but etcd.yaml sets ${written}: the new quota takes effect at the next restart`;
}

/** The quota in etcd.yaml; undefined for etcd's default. */
async function writtenQuota(dataDir: string): Promise<number | undefined> {
  const text = await readFile(configFile(dataDir), 'utf8').catch(() => '');
  const [, bytes] = /^quota-backend-bytes: (\d+)$/m.exec(text) ?? [];
  return bytes === undefined ? undefined : Number(bytes);
}
