import { createHash } from 'node:crypto';
import { chmod, chown, mkdir, rm, rmdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { SnapshotManifest } from '../../backup/catalog/manifest.ts';
import type { PayloadReadOptions } from '../../backup/payload/read-payload.ts';
import { refuseNewer } from '../../backup/payload/server-version.ts';
import { writeContent } from '../../backup/payload/verify.ts';
import { requireNamedSnapshot } from '../../backup/restore/named-snapshot.ts';
import { nextToken } from '../../backup/restore/token.ts';
import { clusterIdOf } from '../../etcd/offline/cluster-id.ts';
import { readDatabase, type Switches } from '../../etcd/offline/database-check.ts';
import { type Etcdutl, reasonOf } from '../../etcd/offline/etcdutl.ts';
import { walIdentity } from '../../etcd/offline/wal.ts';
import { walState } from '../../etcd/offline/wal-state.ts';
import { TRAILER } from '../../etcd/snapshot-stream.ts';
import { AgentError, codeOf, ExitCode } from '../../lib/errors.ts';
import { cannotWrite, ifThere } from '../../lib/files/file-faults.ts';
import { replaceFile } from '../../lib/files/replace-file.ts';
import type { Store } from '../../store/store.ts';
import {
  type FileOwner,
  MARKER,
  memberDir,
  partialDir,
  type RestoreMark,
  readDocument,
  readMarker,
  setOwner,
} from '../node/data-directory.ts';
import type { EtcdNode } from '../node/node.ts';
import { type BumpRequest, bumpOf } from '../state/bump.ts';
import { type LeftOut, leftOutOf, refuseAlive } from '../state/members-left-out.ts';
import type { Served } from '../state/served-revisions.ts';
import {
  type DatabaseMember,
  initialClusterOf,
  membersToRestore,
  type SnapshotMember,
  snapshotMembers,
  votersOf,
} from '../state/snapshot-members.ts';
import { refuseWithoutRoom } from './free-space.ts';
import { discardPrepared } from './replace-member.ts';
import { stageLog } from './wal-dir.ts';

const READY = 'ready.json';

/** A restored member that is ready next to the old one. */
export interface Prepared {
  /** Id of the snapshot. */
  readonly id: string;
  /** Checksum of the snapshot. */
  readonly sha256?: string;
  readonly token: string;
  /** The number that was added to the snapshot's revision. */
  readonly bump: number;
  readonly initialCluster: string;
  /** Peer URLs of all other members, new and old, which must no longer serve the old cluster. */
  readonly others: readonly string[];
  /** Members of the old cluster that are not in the restored one. */
  readonly leftOut?: readonly LeftOut[];
  /** Cluster ids that count as the old cluster at the addresses of these members. */
  readonly oldIds?: readonly string[];
  /** Why the old data, which may list further members, were not read. */
  readonly unread?: string;
  readonly clusterId: string;
  readonly memberId: string;
  /** First revision of the restored cluster. */
  readonly revision: number;
  /** Raft commit index right after the restore. A higher index shows that the member has served. */
  readonly commit: number;
  /** Alarms that the snapshot has, and that the restored etcd therefore begins with. */
  readonly corruptAlarm?: boolean;
  readonly noSpaceAlarm?: boolean;
}

export interface PrepareRequest {
  readonly node: EtcdNode;
  readonly store: Store;
  readonly manifest: SnapshotManifest;
  /** Command with which all nodes take the same snapshot. Undefined if this one names it. */
  readonly namedCommand?: string;
  /** The newest verified snapshot before this one, to suggest if this one is damaged. */
  readonly instead?: string;
  readonly initialCluster?: string;
  /** Values of `--initial-cluster-token` and `--bump-revision`. */
  readonly asked: { readonly token?: string; readonly bump?: number };
  readonly served: Served;
  readonly serverVersion: string;
  readonly etcdutl: Etcdutl;
  readonly read: PayloadReadOptions;
  readonly onPhase: (phase: 'fetch' | 'check' | 'make') => void;
  readonly onSwitches: (switches: Switches) => void;
}

/** Token of the restored cluster. The same on every node that restores the same snapshot to the same revision. */
export const tokenOf = ({ content }: { content: Pick<SnapshotManifest['content'], 'sha256'> }, bump: number): string =>
  `restored-${createHash('sha256').update(`${content.sha256} ${bump}`).digest('hex').slice(0, 16)}`;

/** A number to add to the revision of a snapshot, and what follows from it. */
export interface Numbered {
  readonly bump: number;
  readonly token: string;
  readonly initialCluster: string;
}

/** Returns the number on which the nodes of this restore agree, given the one that this node would take. */
export type Agree = (own: Numbered) => Promise<number>;

/** Determines the number to add to the revision, and the token for it. `isNew`: no other node knows the number yet. */
export function bumpAndToken(
  { manifest, served, asked }: Pick<PrepareRequest, 'manifest' | 'served' | 'asked'>,
  { revision, members }: Pick<Checked, 'revision' | 'members'>,
): { bump: number; token: string; isNew: boolean } {
  const token = (bump: number) => asked.token ?? tokenOf(manifest, bump);
  const request: BumpRequest = {
    id: manifest.id,
    revision,
    several: members.length > 1,
    token,
    clusterId: (bump) => clusterIdOf(initialClusterOf(members), token(bump)),
    given: asked.bump,
  };
  const { bump, isNew } = bumpOf(served, request);
  refuseOtherData(served, request, bump);
  return { bump, token: token(bump), isNew };
}

/** As `bumpAndToken`, and of several nodes that restore at the same time, all get the same number. */
async function agreedBump(request: PrepareRequest, checked: Checked, agree: Agree): Promise<Numbered> {
  const { members } = checked;
  const initialCluster = initialClusterOf(members);
  const own = bumpAndToken(request, checked);
  if (members.length === 1 || !own.isNew) return { ...own, initialCluster };
  const bump = await agree({ ...own, initialCluster });
  const { token } = bumpAndToken({ ...request, asked: { ...request.asked, bump } }, checked);
  return { bump, token, initialCluster };
}

/** Refuses to create the same cluster id from other data: etcd would accept such a member as one of its own. */
function refuseOtherData(
  { notes, own, inStore, here }: Served,
  { id, given, several, token, clusterId: idOf }: BumpRequest,
  bump: number,
): void {
  const clusterId = idOf(bump);
  const mine = own.filter((each) => each.clusterId === clusterId);
  // A restore of a single member that was only begun has never served.
  const isBegun = !several && mine.length > 0 && mine.every(({ hasServed }) => !hasServed);
  const same = isBegun ? [] : [...notes, ...mine].filter((note) => note.clusterId === clusterId);
  const other = same.find((note) => note.id !== id || (note.bump ?? given) !== bump);
  const isKnown = clusterId !== undefined && [...inStore, ...here].some((seen) => seen.clusterId === clusterId);
  if (!other && (same.length > 0 || !isKnown)) return;
  const what = other ? ` of ${other.id}${other.bump === undefined ? '' : ` with the bump revision ${other.bump}`}` : '';
  throw new AgentError(
    ExitCode.refused,
    `this token and these members have already made the cluster ${clusterId}${what}; pass the same new token on all nodes, for example ${nextToken(id, token(bump))}`,
    { at: 'initialClusterToken' },
  );
}

/** Reads the member that a previous, killed run has completed, if there is one. The caller compares its snapshot and settings. */
export const readPrepared = (dataDir: string): Promise<Prepared | undefined> =>
  readDocument(
    join(partialDir(dataDir), READY),
    `so it is not known what a killed run has prepared; remove ${partialDir(dataDir)}, which no etcd has used`,
  );

/** Fetches and verifies the snapshot, and builds the new member from it. etcd may keep running. A failure leaves nothing behind. */
export async function prepare(request: PrepareRequest, agree: Agree): Promise<Prepared> {
  const { dataDir } = request.node.member;
  const partial = partialDir(dataDir);
  await refuseWithoutRoom(request.node.member, request.manifest.content.sizeBytes);
  const hadDirectory = await ifThere(dataDir, stat(dataDir), 'check it');
  try {
    await mkdir(dataDir, { recursive: true, mode: 0o700 });
    await rm(partial, { recursive: true, force: true });
    await mkdir(partial, { mode: 0o700 });
    if (!hadDirectory) await chown(dataDir, request.node.uid ?? 0, request.node.gid ?? 0);
    return await make(request, partial, agree);
  } catch (error) {
    await discardPrepared(request.node.member).catch(() => {});
    if (!hadDirectory) await rmdir(dataDir).catch(() => {});
    throw error instanceof AgentError || !codeOf(error) ? error : cannotWrite(dataDir, error);
  }
}

async function make(request: PrepareRequest, partial: string, agree: Agree): Promise<Prepared> {
  const { node, manifest } = request;
  const file = join(partial, 'snapshot.db');
  const checked = await fetchChecked(request, file);
  const { members, ofSnapshot, revision } = checked;
  const { bump, token, initialCluster } = await agreedBump(request, checked, agree);
  const data = join(partial, 'data');
  request.onPhase('make');
  await restore(request, file, data, { initialCluster, bump, token });
  await rm(file);
  const identity = await walIdentity(data);
  const { commit = 0 } = (await walState(data)) ?? {};
  if (!identity)
    throw new AgentError(
      ExitCode.verificationFailed,
      `${manifest.id}: etcdutl did not create a member from the snapshot`,
    );
  await refuseSameCluster(node, identity.clusterId);
  const member = memberDir(data);
  const { name, peerUrls } = node.member;
  const { sha256 } = manifest.content;
  const marker: RestoreMark = { id: manifest.id, token, bump, ...identity, name, peerUrls, initialCluster, sha256 };
  await writeFile(join(member, MARKER), `${JSON.stringify(marker)}\n`, { mode: 0o600 });
  const owner = await applyOldOwner(member, node);
  if (node.member.walDir) await stageLog(member, node.member.walDir, owner);
  const { clusterId } = identity;
  const { signal } = request.read;
  const { leftOut, oldIds, unread } = await leftOutOf({
    ...{ member: node.member, manifest, ofSnapshot, restored: members, clusterId },
    signal,
  });
  refuseAlive(manifest.id, leftOut);
  const others = otherPeers([...members, ...leftOut], node);
  const found = { leftOut, oldIds, unread };
  const made = { id: manifest.id, sha256, token, bump, initialCluster, others, ...found, commit };
  const { corruptAlarm, noSpaceAlarm } = checked;
  const prepared: Prepared = { ...made, revision: revision + bump, ...identity, corruptAlarm, noSpaceAlarm };
  await replaceFile(join(partial, READY), `${JSON.stringify(prepared)}\n`);
  return prepared;
}

export interface Checked extends Switches {
  readonly members: readonly SnapshotMember[];
  /** All members in the snapshot, including learners and members that never started. */
  readonly ofSnapshot: readonly DatabaseMember[];
  readonly revision: number;
}

/** Writes the plain snapshot to a file. Throws unless it is complete, restorable, and from a cluster with this node as a member. */
export async function fetchChecked(request: PrepareRequest, file: string): Promise<Checked> {
  try {
    return await fetchAndCheck(request, file);
  } catch (error) {
    if (!(error instanceof AgentError) || error.exitCode !== ExitCode.verificationFailed) throw error;
    const { instead } = request;
    const other = instead ? `, for example ${instead}, the newest verified one before it` : '';
    throw new AgentError(error.exitCode, `${error.message}; restore another snapshot${other}`, {
      ...{ cause: error, finding: instead ? undefined : { kind: 'listed' } },
    });
  }
}

async function fetchAndCheck(request: PrepareRequest, file: string): Promise<Checked> {
  const { node, store, manifest, etcdutl, read, serverVersion } = request;
  const { id, source, content } = manifest;
  refuseNewer(id, source.storageVersion ?? source.version, serverVersion);
  request.onPhase('fetch');
  await writeContent(store, manifest, file, read);
  request.onPhase('check');
  const facts = await readDatabase(file, content.sizeBytes - TRAILER, read.signal);
  const { damage, revision, storageVersion, authEnabled, corruptAlarm, noSpaceAlarm } = facts;
  if (damage) throw failed(`${id}: the database is damaged: ${damage}`);
  const status = await etcdutl.snapshotStatus(file, { signal: read.signal });
  if (status.outcome === 'unable') throw new AgentError(ExitCode.usage, `${id}: ${status.why}`);
  if (status.outcome === 'refused') throw failed(`${id}: ${status.why}`);
  refuseNewer(id, storageVersion, serverVersion);
  const ofSnapshot = await snapshotMembers(file, read.signal);
  const members = membersToRestore(id, votersOf(ofSnapshot), request.initialCluster, node);
  requireNamedSnapshot(members.length, request.namedCommand);
  const switches = { authEnabled, corruptAlarm, noSpaceAlarm };
  request.onSwitches(switches);
  return { members, ofSnapshot, revision, ...switches };
}

const failed = (message: string) => new AgentError(ExitCode.verificationFailed, message);

async function restore(
  { node, manifest, etcdutl, read }: PrepareRequest,
  file: string,
  into: string,
  { initialCluster, bump, token }: Pick<Prepared, 'initialCluster' | 'bump' | 'token'>,
): Promise<void> {
  const { name, peerUrls } = node.member;
  const run = read.signal ? { signal: read.signal } : {};
  const result = await etcdutl.run(
    [
      // writeContent has just verified the trailer.
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
    throw new AgentError(code, `${id}: etcdutl refused to restore the snapshot: ${reason}`);
  }
  const made = await etcdutl.snapshotStatus(join(memberDir(into), 'snap', 'db'), run);
  if (made.outcome !== 'found' || made.value.revision < bump) {
    throw failed(`${id}: the database that etcdutl restored cannot be opened`);
  }
}

/** Refuses the cluster id of the old data: with the same id an old member could join. */
export async function refuseSameCluster({ member }: EtcdNode, clusterId: string): Promise<void> {
  // A restore has left a marker beside a log that is damaged now.
  const inLog = await walIdentity(member.dataDir, member.walDir).catch(() => undefined);
  const old = inLog ?? (await readMarker(memberDir(member.dataDir)));
  if (old?.clusterId !== clusterId) return;
  throw new AgentError(
    ExitCode.refused,
    `${member.dataDir} holds the cluster ${clusterId}, which a restore with the same token has already made`,
    { finding: { kind: 'sameAgain' } },
  );
}

/** Applies owner and mode of the old data. Without old data: the owner of the pod or process, otherwise of the data directory. */
async function applyOldOwner(member: string, { member: { dataDir }, uid, gid }: EtcdNode): Promise<FileOwner> {
  const old = await ifThere(memberDir(dataDir), stat(memberDir(dataDir)), 'so its owner is not known; check it');
  const owner = old ?? (uid === undefined ? await stat(dataDir) : { uid, gid: gid ?? uid });
  if (old) await chmod(member, old.mode & 0o7777);
  await setOwner(member, owner);
  return owner;
}

function otherPeers(members: readonly SnapshotMember[], { member }: EtcdNode): string[] {
  const own = new Set(member.peerUrls.split(','));
  const all = [...members.flatMap(({ peerUrls }) => peerUrls), ...member.initialPeerUrls];
  return [...new Set(all)].filter((url) => !own.has(url));
}
