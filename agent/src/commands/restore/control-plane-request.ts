import { dirname, resolve } from 'node:path';
import { isVerified, type WholeEntry } from '../../backup/catalog/catalog.ts';
import { type PassedOver, timeOf } from '../../backup/catalog/passed-over.ts';
import { readExtra } from '../../backup/payload/extra.ts';
import { knownRevisionOf } from '../../backup/payload/plausible-revision.ts';
import { refuseUnusableFiles } from '../../control-plane/node/certificates/needed-files.ts';
import { refuseOtherNode } from '../../control-plane/node/local-address.ts';
import { refuseCopies } from '../../control-plane/node/manifest-copies.ts';
import { API_SERVER_MANIFEST, manifestsIn } from '../../control-plane/node/manifests.ts';
import { type EtcdNode, readNode } from '../../control-plane/node/node.ts';
import { apiServersOf } from '../../control-plane/node/processes.ts';
import { Journal } from '../../control-plane/restore/journal.ts';
import { type PrepareRequest, readPrepared } from '../../control-plane/restore/prepare.ts';
import type { RestoreContext } from '../../control-plane/restore/wait.ts';
import { idsOf, refuseOtherCluster } from '../../control-plane/state/cluster-lineage.ts';
import { beganAfter, dataRevision, hasJoined } from '../../control-plane/state/data-revision.ts';
import { reachable } from '../../control-plane/state/health.ts';
import { httpGet } from '../../control-plane/state/http-get.ts';
import { liveRevisions } from '../../control-plane/state/live-revisions.ts';
import type { OwnRestore, SeenRevision, Served } from '../../control-plane/state/served-revisions.ts';
import { Etcdutl } from '../../etcd/offline/etcdutl.ts';
import { AgentError, ExitCode, usageError } from '../../lib/errors.ts';
import { filesInTar } from '../../lib/files/tar.ts';
import { isOfContainer } from '../../store/container-path.ts';
import { passedOverNotes } from '../advice/passed-over.ts';
import type { CommandContext } from '../cli/command.ts';
import type { Settings } from '../cli/settings.ts';
import { servedInStore } from '../shared/served-in-store.ts';
import { bumpFlag } from '../shared/snapshot-flags.ts';
import { askedToRestore, type OpenedCatalog, passedOverFor } from '../shared/store-run.ts';
import { warnSwitches } from '../shared/warn-switches.ts';
import { namedCommand } from './control-plane-flags.ts';

export interface NodePlaces {
  readonly manifestsDir: string;
  readonly journalDir: string;
}

export function placesOf(settings: Settings): NodePlaces {
  const manifestsDir = resolve(
    settings.required('manifestsDir', '--manifests-dir', "name the kubelet's manifests folder"),
  );
  return { manifestsDir, journalDir: resolve(settings.text('journalDir') ?? dirname(manifestsDir)) };
}

/** Finds the etcd of this node by the flags, or by what the node has. */
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

/** Refuses mistakes that show before the store is contacted. */
export async function refuseNode(node: EtcdNode, { manifestsDir }: NodePlaces): Promise<void> {
  refuseOtherNode(node);
  const { dataDir, walDir } = node.member;
  for (const folder of [node.kind === 'static-pod' ? manifestsDir : undefined, dataDir, walDir]) {
    if (folder === undefined || !(await isOfContainer(folder))) continue;
    throw usageError(`${node.source}: ${folder} is not mounted into this container; mount it there`);
  }
  await refuseCopies(node, manifestsDir);
  if ((await manifestsIn(manifestsDir)).includes(API_SERVER_MANIFEST)) return;
  const [server] = await apiServersOf(node.member);
  if (!server) return;
  throw new AgentError(
    ExitCode.refused,
    `kube-apiserver (pid ${server.pid}) uses this etcd, and its manifest is not in ${manifestsDir}; stop it first`,
  );
}

export interface ControlPlaneRequest extends PrepareRequest {
  readonly entry: WholeEntry;
  /** Snapshots that are newer than the one that was found. Empty if the user has named a snapshot. */
  readonly passedOver: readonly PassedOver[];
  /** Ids of the cluster of the snapshot. */
  readonly clusterIds: readonly string[];
}

/** Finds the requested snapshot, and how this node restores it. */
export async function prepareRequest(
  opened: OpenedCatalog,
  node: EtcdNode,
  context: CommandContext,
): Promise<ControlPlaneRequest> {
  const { settings, progress, signal } = context;
  const identities = await settings.identities();
  const entry = await askedToRestore(opened, context);
  const { manifest } = entry;
  const command = namedCommand(settings, manifest, opened);
  if (!settings.flag('forceForeign')) await refuseOtherCluster(manifest, opened.entries, node.member);
  const stored = async () => filesInTar(await readExtra(opened.store, manifest, { signal, identities }));
  await refuseUnusableFiles(node, placesOf(settings).manifestsDir, manifest, stored);
  context.budget.grow(4 * manifest.content.sizeBytes);
  const onBytes = (bytes: number) => progress.bytes(bytes, manifest.object.sizeBytes);
  const [initialCluster, token] = [settings.text('initialCluster'), settings.text('initialClusterToken')];
  const bump = bumpFlag(settings);
  const instead = opened.entries.find(
    (each) => each.id !== entry.id && isVerified(each) && timeOf(each) <= timeOf(entry),
  );
  return {
    instead: instead?.id,
    node,
    manifest,
    store: opened.store,
    namedCommand: command,
    passedOver: await passedOverFor(opened, entry, context),
    initialCluster,
    asked: { token, bump },
    clusterIds: idsOf(entry, opened.entries),
    served: await servedOf(opened, node, entry, context),
    serverVersion: settings.text('serverVersion') ?? (await versionOf(node)),
    etcdutl: new Etcdutl(settings.text('etcdutl') ?? 'etcdutl'),
    read: { signal, identities, onBytes },
    onPhase: (phase) => progress.phase(phase, manifest.id),
    onSwitches: (switches) => warnSwitches(manifest.id, switches, context.log, true),
    entry,
  };
}

/** Refuses to restore an older snapshot unasked: without a name the newest one is meant, even if it cannot be used. */
export function refusePassedOver({ passedOver: passed, manifest }: ControlPlaneRequest): void {
  if (passed.length === 0) return;
  throw new AgentError(
    ExitCode.refused,
    `${passedOverNotes(passed, manifest.id).join('; ')}; name ${manifest.id} to confirm`,
  );
}

/** Collects the revisions that are available: in the store, on this node, and of the members that answer. */
async function servedOf(
  opened: OpenedCatalog,
  { member }: EtcdNode,
  restored: WholeEntry,
  context: CommandContext,
): Promise<Served> {
  const own = member.listenClientUrls.map(reachable);
  const others = (restored.manifest.members ?? []).flatMap(({ clientUrls }) => clientUrls);
  const stored = await servedInStore(opened, restored, context);
  // After the marks that say which clusters have served: one that has just begun to serve is seen to.
  const [data, ofOwn, ofOthers] = await Promise.all([
    dataRevision(member),
    liveRevisions(own, member.clientTls),
    liveRevisions(
      others.filter((url) => !member.clientUrls.includes(url)),
      member.clientTls,
    ),
  ]);
  const ofSnapshot = {
    clusterIds: idsOf(restored, opened.entries),
    revision: knownRevisionOf(restored.manifest),
    size: restored.manifest.members?.length ?? 0,
  };
  const local = data ?? ofOwn[0];
  const began = await beganAfter(member, new Date(timeOf(restored))).catch(() => false);
  const isFresh = began && !(local && hasJoined(local, ofOthers, ofSnapshot));
  const here: SeenRevision[] = [
    ...[...ofOwn, ...(data ? [{ ...data, where: `the data in ${member.dataDir}` }] : [])].map((each) => ({
      ...each,
      isFresh,
    })),
    ...ofOthers,
  ];
  const journals = await Journal.all(placesOf(context.settings).journalDir);
  const prepared = await readPrepared(member.dataDir);
  const restores: OwnRestore[] = [
    ...(prepared ? [{ ...prepared, hasServed: false, isPrepared: true }] : []),
    ...journals
      .filter(hasBegun)
      .map(({ content }) => ({ ...content, hasServed: ['served', 'done'].includes(content.state) })),
  ];
  return { ...stored, here, own: restores };
}

/** A restore that was undone before etcd was started, and that nothing has noted in the store, was seen by no client and no node. */
const hasBegun = ({ content: { state, note, etcdStartedAt } }: Journal): boolean =>
  state !== 'undone' || !note || note.isWritten === true || etcdStartedAt !== undefined;

async function versionOf({ version, member, image, source }: EtcdNode): Promise<string> {
  if (version) return version;
  for (const url of member.listenClientUrls) {
    const answer = await httpGet(new URL('/version', reachable(url)).href, member.clientTls);
    const found = /"etcdserver":"([^"]+)"/.exec(answer?.body ?? '')?.[1];
    if (found) return found;
  }
  throw usageError(
    `${source}: the version of etcd is unknown${image ? ` from its image ${image}` : ''}; pass --server-version, for example 3.6`,
  );
}

/** What the steps on a node need while they wait; each wait takes at most `limit` milliseconds. */
export const waitingOf = ({ settings, progress, signal, log }: CommandContext): RestoreContext => ({
  progress,
  signal,
  log,
  limit: settings.duration('wait', '--wait') ?? 600_000,
});
