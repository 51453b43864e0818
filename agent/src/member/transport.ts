import { readFile } from 'node:fs/promises';
import type { AgentStatus } from '../protocol/agent-status.ts';
import type { Scheme, Schemes, Transport } from '../protocol/record.ts';
import { minorOf } from '../protocol/versions.ts';
import { configFile } from './etcd-config.ts';
import type { MemberConfig } from './member-config.ts';
import { readCache } from './record/record-cache.ts';
import type { VersionRefusal } from './version-rule.ts';

// The record says how the next etcd of a pod speaks. Only the gate obeys it: the sidecar keeps the schemes with which the
// gate wrote etcd.yaml, so that a new etcd in the same pod speaks like the old one.

export type MemberTransport = NonNullable<AgentStatus['transport']>;
type Pod = Pick<MemberConfig, 'etcdVersion' | 'peerTlsDir' | 'serverTlsDir'>;

const refused = (message: string): VersionRefusal => ({ reason: 'ConfigRefused', message });

/** How the next etcd of this pod speaks according to the record, or why it cannot start. */
export function transportOf(pod: Pod, transport: Transport | undefined): MemberTransport | VersionRefusal {
  const mounted = transportOfFiles(pod);
  if (!transport) return mounted;
  const { peers, clients } = transport;
  const { hasCertificates } = mounted;
  if (!hasCertificates && peers === 'https')
    return refused(
      'the members speak https with each other, but this pod has no certificates; ' +
        'apply EtcdTls.none({ previous: … }) first, which keeps them until every member speaks http',
    );
  if (!hasCertificates) return { peers, clients: 'http', hasCertificates };
  if (clients === 'both' && minorOf(pod.etcdVersion) === '3.4')
    return refused('etcd 3.4 cannot serve http and https on one port; upgrade to 3.5 before you switch TLS on or off');
  return { peers, clients, hasCertificates };
}

const transportOfFiles = ({ peerTlsDir, serverTlsDir }: Pod): MemberTransport => ({
  peers: peerTlsDir === undefined ? 'http' : 'https',
  clients: serverTlsDir === undefined ? 'http' : 'https',
  hasCertificates: peerTlsDir !== undefined && serverTlsDir !== undefined,
});

/** The URLs of this member in these schemes. */
export function withTransport(config: MemberConfig, { peers, clients }: Schemes): MemberConfig {
  const listened: readonly Scheme[] = clients === 'both' ? ['http', 'https'] : [clients];
  return {
    ...config,
    peerUrl: withScheme(config.peerUrl, peers),
    listenPeerUrl: withScheme(config.listenPeerUrl, peers),
    clientUrl: withScheme(config.clientUrl, clients === 'https' ? 'https' : 'http'),
    listenClientUrls: listened.map((scheme) => withScheme(config.listenClientUrls[0]!, scheme)),
  };
}

const withScheme = (url: string, scheme: Scheme): string => url.replace(/^https?:/, `${scheme}:`);
const schemeOf = (url: string): Scheme => (url.startsWith('https:') ? 'https' : 'http');

/** How the etcd of this pod was started. */
export async function startedTransport(config: MemberConfig): Promise<MemberTransport> {
  const written = await writtenTransport(config.dataDir);
  if (written) return written;
  const likely = transportOf(config, (await readCache(config.dataDir))?.transport);
  return 'reason' in likely ? transportOfFiles(config) : likely;
}

async function writtenTransport(dataDir: string): Promise<MemberTransport | undefined> {
  const text = await readFile(configFile(dataDir), 'utf8').catch(() => '');
  const urls = (key: string) => new RegExp(`^${key}: "(.+)"$`, 'm').exec(text)?.[1]?.split(',');
  const [peerUrl] = urls('listen-peer-urls') ?? [];
  const clients = urls('listen-client-urls')?.map(schemeOf);
  if (peerUrl === undefined || clients === undefined) return undefined;
  const hasFiles = (key: string) => new RegExp(`^${key}-transport-security:`, 'm').test(text);
  return {
    peers: schemeOf(peerUrl),
    clients: clients.length > 1 ? 'both' : clients[0]!,
    hasCertificates: hasFiles('peer') && hasFiles('client'),
  };
}
