import { dirname, resolve } from 'node:path';
import type { Entry } from '../backup/catalog.ts';
import type { Manifest } from '../backup/manifest.ts';
import type { CommandContext } from '../command.ts';
import { answerOf } from '../control-plane/answers.ts';
import { bumpOf } from '../control-plane/bump.ts';
import { refuseForeign } from '../control-plane/foreign.ts';
import { refuseOtherNode } from '../control-plane/local-address.ts';
import { API_SERVER_MANIFEST, manifestsIn } from '../control-plane/manifests.ts';
import { type EtcdNode, readNode } from '../control-plane/node.ts';
import { type PrepareRequest, tokenOf } from '../control-plane/prepare.ts';
import { apiServersOf } from '../control-plane/processes.ts';
import { AgentError, ExitCode } from '../errors.ts';
import { Etcdutl } from '../etcd/etcdutl.ts';
import type { Settings } from '../settings.ts';
import { bumpFlag } from './bump-flag.ts';
import { askedFor, type OpenedStore } from './store-run.ts';

export interface Places {
  readonly manifestsDir: string;
  readonly journalDir: string;
}

export function placesOf(settings: Settings): Places {
  const manifestsDir = resolve(settings.required('manifestsDir', '--manifests-dir', "the kubelet's manifests folder"));
  return { manifestsDir, journalDir: resolve(settings.text('journalDir') ?? dirname(manifestsDir)) };
}

export function askedId(settings: Settings): string | undefined {
  const id = settings.args[0] ?? settings.text('snapshot');
  return id === 'latest' ? undefined : id;
}

/** This node's etcd, from what the flags name or from what is there. */
export async function nodeOf(settings: Settings): Promise<EtcdNode> {
  const sources = {
    unit: settings.text('etcdUnit'),
    environmentFile: settings.text('etcdEnvironmentFile'),
    configFile: settings.text('etcdConfigFile'),
    dataDir: settings.text('dataDir'),
  };
  const given = Object.fromEntries(Object.entries(sources).filter(([, value]) => value !== undefined));
  const node = await readNode({ ...given, manifestsDir: placesOf(settings).manifestsDir });
  const [cert, key] = [settings.text('cert'), settings.text('key')];
  if (!cert || !key) return node;
  return { ...node, member: { ...node.member, clientTls: { ...node.member.clientTls, cert, key } } };
}

/** What can be refused before a store is asked. */
export async function refuseNode(node: EtcdNode, { manifestsDir }: Places): Promise<void> {
  refuseOtherNode(node);
  if ((await manifestsIn(manifestsDir)).includes(API_SERVER_MANIFEST)) return;
  const [server] = await apiServersOf(node.member);
  if (!server) return;
  throw new AgentError(
    ExitCode.refused,
    `kube-apiserver (pid ${server.pid}) runs on this etcd, and ${manifestsDir} does not hold its manifest; stop it first`,
  );
}

/** The snapshot that was asked for, and how this node restores it. */
export async function prepareRequest(
  opened: OpenedStore,
  node: EtcdNode,
  context: CommandContext,
  grow: (bytes: number) => void,
): Promise<PrepareRequest & { readonly entry: Entry & { manifest: Manifest } }> {
  const { settings, progress, signal } = context;
  const identities = await settings.identities();
  const entry = await askedFor(opened, context, grow);
  const { manifest } = entry;
  if (!settings.flag('forceForeign')) await refuseForeign(manifest, opened.entries, node.member.dataDir);
  grow(4 * manifest.content.sizeBytes);
  const onBytes = (bytes: number) => progress.bytes(bytes, manifest.object.sizeBytes);
  const initialCluster = settings.text('initialCluster');
  const given = bumpFlag(settings);
  const bump = given ?? bumpOf(opened.entries);
  return {
    entry,
    node,
    manifest,
    store: opened.store,
    named: askedId(settings) !== undefined || settings.text('objectKey') !== undefined,
    ...(initialCluster !== undefined && { initialCluster }),
    token: settings.text('initialClusterToken') ?? tokenOf(manifest, bump),
    bump,
    restoredAs: given === undefined ? entry.restoredAs : [],
    serverVersion: settings.text('serverVersion') ?? (await versionOf(node)),
    etcdutl: new Etcdutl(settings.text('etcdutl') ?? 'etcdutl'),
    read: { signal, identities, onBytes },
    onPhase: (phase) => progress.phase(phase, manifest.id),
  };
}

async function versionOf({ version, member, image, source }: EtcdNode): Promise<string> {
  if (version) return version;
  for (const url of member.listenClientUrls) {
    const answer = await answerOf(new URL('/version', url).href, member.clientTls);
    const found = /"etcdserver":"([^"]+)"/.exec(answer?.body ?? '')?.[1];
    if (found) return found;
  }
  throw new AgentError(
    ExitCode.usage,
    `${source}: the version of etcd is not known${image ? ` from its image ${image}` : ''}; give --server-version, such as 3.6`,
  );
}
