import { createHash } from 'node:crypto';
import { chmod, mkdir, readFile, rm, rmdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Manifest } from '../backup/manifest.ts';
import type { ReadOptions } from '../backup/read-payload.ts';
import { refuseNewer } from '../backup/server-version.ts';
import { writeContent } from '../backup/verify.ts';
import { AgentError, codeOf, ExitCode } from '../errors.ts';
import { databaseDamage } from '../etcd/database-check.ts';
import { type Etcdutl, reasonOf } from '../etcd/etcdutl.ts';
import { TRAILER } from '../etcd/snapshot-stream.ts';
import { walIdentity } from '../etcd/wal.ts';
import { replaceFile } from '../member/replace-file.ts';
import { walState } from '../member/wal-state.ts';
import type { Store } from '../store/store.ts';
import { bumpBeyond } from './bump.ts';
import { MARKER, memberDir, partialDir, refuseWithoutRoom, settle } from './data-folders.ts';
import { membersToRestore } from './membership.ts';
import type { EtcdNode } from './node.ts';
import { initialClusterOf, type SnapshotMember, snapshotMembers } from './snapshot-members.ts';

const READY = 'ready.json';

/** A member that is made and lies beside the old one. */
export interface Prepared {
  /** Of the snapshot. */
  readonly id: string;
  readonly token: string;
  /** How far the revision jumped. */
  readonly bump: number;
  readonly initialCluster: string;
  /** Peer URLs of other members, new and old, that must not serve the old cluster any more. */
  readonly others: readonly string[];
  readonly clusterId: string;
  readonly memberId: string;
  /** Raft's commit index as the restore made it: a higher one has served. */
  readonly commit: number;
}

export interface PrepareRequest {
  readonly node: EtcdNode;
  readonly store: Store;
  readonly manifest: Manifest;
  /** Somebody named the snapshot: all nodes take the same. */
  readonly named: boolean;
  readonly initialCluster?: string;
  readonly token: string;
  readonly bump: number;
  /** Cluster ids that came of this snapshot before, where nobody said how far to jump now. */
  readonly restoredAs: readonly string[];
  readonly serverVersion: string;
  readonly etcdutl: Etcdutl;
  readonly read: ReadOptions;
  readonly onPhase: (phase: 'fetch' | 'check' | 'make') => void;
}

/** The same on every node that restores the same snapshot to the same revision. */
export const tokenOf = ({ content }: Pick<Manifest, 'content'>, bump: number): string =>
  `restored-${createHash('sha256').update(`${content.sha256} ${bump}`).digest('hex').slice(0, 16)}`;

/** What a killed run has made whole, when it is of the same snapshot with the same settings. */
export async function readPrepared(dataDir: string): Promise<Prepared | undefined> {
  try {
    return JSON.parse(await readFile(join(partialDir(dataDir), READY), 'utf8'));
  } catch {
    return undefined;
  }
}

/** Fetches and verifies the snapshot, and makes the new member of it. etcd may run meanwhile; what fails leaves no trace. */
export async function prepare(request: PrepareRequest): Promise<Prepared> {
  const { dataDir } = request.node.member;
  const partial = partialDir(dataDir);
  await refuseWithoutRoom(dataDir, request.manifest.content.sizeBytes);
  const hadDirectory = await stat(dataDir).catch(() => undefined);
  try {
    await mkdir(dataDir, { recursive: true, mode: 0o700 });
    await rm(partial, { recursive: true, force: true });
    await mkdir(partial, { mode: 0o700 });
    return await make(request, partial);
  } catch (error) {
    await rm(partial, { recursive: true, force: true }).catch(() => {});
    if (!hadDirectory) await rmdir(dataDir).catch(() => {});
    const code = codeOf(error);
    if (error instanceof AgentError || !code) throw error;
    throw new AgentError(ExitCode.usage, `cannot write ${dataDir} (${code})`, { cause: error });
  }
}

async function make(request: PrepareRequest, partial: string): Promise<Prepared> {
  const { node, manifest, token, bump } = request;
  const file = join(partial, 'snapshot.db');
  const { members, ofSnapshot, revision } = await fetchChecked(request, file);
  const initialCluster = initialClusterOf(members);
  const data = join(partial, 'data');
  request.onPhase('make');
  await restore(request, file, data, initialCluster);
  await rm(file);
  const identity = await walIdentity(data);
  const { commit = 0 } = (await walState(data)) ?? {};
  if (!identity) throw new AgentError(ExitCode.verificationFailed, `${manifest.id}: etcdutl made no member of it`);
  await refuseSameCluster(node, identity.clusterId);
  refuseSameRevisions(request, revision, identity.clusterId);
  const member = memberDir(data);
  await writeFile(join(member, MARKER), `${JSON.stringify({ id: manifest.id, token, bump, ...identity })}\n`, {
    mode: 0o600,
  });
  await asBefore(member, node);
  const others = otherPeers([...members, ...ofSnapshot], node);
  const prepared: Prepared = { id: manifest.id, token, bump, initialCluster, others, commit, ...identity };
  await replaceFile(join(partial, READY), `${JSON.stringify(prepared)}\n`);
  return prepared;
}

export interface Checked {
  readonly members: readonly SnapshotMember[];
  readonly ofSnapshot: readonly SnapshotMember[];
  readonly revision: number;
}

/** Writes the plain snapshot; throws unless it is whole, restorable, and of a cluster that this node is a member of. */
export async function fetchChecked(
  request: PrepareRequest,
  file: string,
): Promise<Checked & { readonly storageVersion?: string }> {
  const { node, store, manifest, etcdutl, read, serverVersion } = request;
  const { id, source, content } = manifest;
  refuseNewer(id, source.storageVersion ?? source.version, serverVersion);
  request.onPhase('fetch');
  await writeContent(store, manifest, file, read);
  request.onPhase('check');
  const damage = await databaseDamage(file, content.sizeBytes - TRAILER, read.signal);
  if (damage) throw failed(`${id}: its database is damaged: ${damage}`);
  const status = await etcdutl.snapshotStatus(file, { ...(read.signal && { signal: read.signal }) });
  if (status.outcome === 'unable') throw new AgentError(ExitCode.usage, `${id}: ${status.why}`);
  if (status.outcome === 'refused') throw failed(`${id}: etcdutl finds no valid database in it`);
  refuseNewer(id, status.value.storageVersion, serverVersion);
  const ofSnapshot = await snapshotMembers(file, read.signal);
  const members = membersToRestore(id, ofSnapshot, request.initialCluster, node);
  if (members.length > 1 && !request.named) {
    throw new AgentError(
      ExitCode.usage,
      `all ${members.length} members must be restored from one snapshot: name it, such as \`restore control-plane ${id}\``,
    );
  }
  return { members, ofSnapshot, ...status.value };
}

const failed = (message: string) => new AgentError(ExitCode.verificationFailed, message);

async function restore(
  { node, manifest, etcdutl, read, token, bump }: PrepareRequest,
  file: string,
  into: string,
  initialCluster: string,
): Promise<void> {
  const { name, peerUrls } = node.member;
  const run = read.signal ? { signal: read.signal } : {};
  const result = await etcdutl.run(
    [
      // The trailer has just been compared while the file was written.
      ...['snapshot', 'restore', file, '--skip-hash-check', '--data-dir', into, '--name', name],
      ...['--initial-cluster', initialCluster, '--initial-advertise-peer-urls', peerUrls],
      ...['--initial-cluster-token', token, '--bump-revision', String(bump), '--mark-compacted'],
    ],
    run,
  );
  const { id } = manifest;
  if (result.exitCode !== 0) {
    const reason = reasonOf(result);
    const code = /no space left|initial.cluster|peer.url|advertise/i.test(reason)
      ? ExitCode.usage
      : ExitCode.verificationFailed;
    throw new AgentError(code, `${id}: etcdutl refused to restore it: ${reason}`);
  }
  const made = await etcdutl.snapshotStatus(join(memberDir(into), 'snap', 'db'), run);
  if (made.outcome !== 'found' || made.value.revision <= bump) {
    throw failed(`${id}: what etcdutl restored from it does not open`);
  }
}

/** The same id over other data would let an old member join. */
async function refuseSameCluster({ member }: EtcdNode, clusterId: string): Promise<void> {
  const old = await walIdentity(member.dataDir).catch(() => undefined);
  if (old?.clusterId !== clusterId) return;
  throw new AgentError(
    ExitCode.refused,
    `${member.dataDir} holds the cluster ${clusterId}, which a restore with the same token made before; to restore it once more give all nodes the same larger --bump-revision`,
  );
}

/** Clients that saw the earlier one would take this one's revisions for what they know. */
function refuseSameRevisions(
  { manifest, restoredAs, bump }: PrepareRequest,
  revision: number,
  clusterId: string,
): void {
  const [earlier] = restoredAs.filter((id) => id !== clusterId);
  if (earlier === undefined || bump > bumpBeyond([revision])) return;
  throw new AgentError(
    ExitCode.refused,
    `${manifest.id} was restored before, as the cluster ${earlier}, and no later snapshot tells how far that came; give all nodes the same --bump-revision, such as ${bumpBeyond([revision + bump])}`,
  );
}

/** Owner and mode of the old data; of a member that is gone, what its pod or process has. */
async function asBefore(member: string, { member: { dataDir }, uid = 0, gid = 0 }: EtcdNode): Promise<void> {
  const old = await stat(memberDir(dataDir)).catch(() => undefined);
  const owner = old ?? { uid, gid };
  if (old) await chmod(member, old.mode & 0o7777);
  await settle(member, owner);
}

function otherPeers(members: readonly SnapshotMember[], { member }: EtcdNode): string[] {
  const own = new Set(member.peerUrls.split(','));
  const all = [...members.flatMap(({ peerUrls }) => peerUrls), ...member.initialPeerUrls];
  return [...new Set(all)].filter((url) => !own.has(url));
}
