import { join } from 'node:path';
import type { SnapshotManifest } from '../../backup/catalog/manifest.ts';
import { backendValues } from '../../etcd/offline/backend-state.ts';
import { readSettled } from '../../etcd/offline/data-dir.ts';
import { walIdentity } from '../../etcd/offline/wal.ts';
import { AgentError, ExitCode, messageOf } from '../../lib/errors.ts';
import { unlessMissing } from '../../lib/files/directories.ts';
import { memberDir } from '../node/data-directory.ts';
import { hostOf } from '../node/local-address.ts';
import type { MemberFlags } from '../node/member-flags.ts';
import { type PeerAnswer, peerAnswers } from './health.ts';
import { memberOf, parseInitialCluster, type SnapshotMember, titleOf } from './snapshot-members.ts';

/** A member of the old cluster that is not in the restored one. */
export interface LeftOut extends SnapshotMember {
  /** It serves the old cluster. */
  readonly isAlive: boolean;
  /** Id of an unrelated cluster whose etcd answers at the member's address. */
  readonly foreign?: string;
}

export interface LeftOutMembers {
  readonly leftOut: readonly LeftOut[];
  /** Cluster ids that count as the old cluster. */
  readonly oldIds: readonly string[];
  /** Why the old data, which may list further members, were not read. */
  readonly unread?: string;
}

export interface LeftOutRequest {
  readonly member: Pick<MemberFlags, 'dataDir' | 'walDir' | 'listenPeerUrls' | 'initialPeerUrls' | 'peerTls'>;
  readonly manifest: Pick<SnapshotManifest, 'source' | 'members'>;
  /** All members in the snapshot, including learners. */
  readonly ofSnapshot: readonly SnapshotMember[];
  /** Members of the restored cluster. */
  readonly restored: readonly SnapshotMember[];
  /** Id of the restored cluster. Undefined while it does not exist yet. */
  readonly clusterId?: string;
  readonly signal?: AbortSignal;
}

/**
 * Finds members that the restore does not replace. They are known from the snapshot, from the old data on this node, from every
 * member that answers, and from the flags. A left-out member that keeps running would serve the old data to its API server.
 */
export async function leftOutOf(request: LeftOutRequest): Promise<LeftOutMembers> {
  const { member, manifest, ofSnapshot, restored, clusterId, signal } = request;
  const old = await oldMembers(member);
  const known = [
    ...ofSnapshot,
    ...old.members,
    ...(manifest.members ?? []).map(({ name, peerUrls }) => ({ name, peerUrls })),
    ...[...member.initialPeerUrls, ...member.listenPeerUrls].map((url) => ({ name: '', peerUrls: [url] })),
  ];
  const answers = await peerAnswers(
    [...restored, ...known].flatMap(({ peerUrls }) => peerUrls),
    member,
    signal,
  );
  const hosts = new Set(restored.flatMap(({ peerUrls }) => peerUrls.map(hostOf)));
  const here = new Set([...restored.flatMap(({ peerUrls }) => peerUrls), ...member.listenPeerUrls]);
  const isRestored = ({ name, peerUrls }: SnapshotMember) =>
    peerUrls.some((url) => here.has(url)) ||
    // The same host with another port or protocol is the same member, unless the name differs.
    (peerUrls.some((url) => hosts.has(hostOf(url))) && (!name || restored.some((each) => each.name === name)));
  // An etcd that lists a restored member belongs to this cluster. An unrelated etcd at a member's address does not.
  const own = new Set([old.clusterId, manifest.source.clusterId, ...answers.filter(lists(restored)).map(idOf)]);
  // An etcd that was restored alone lists no restored member, but it has the name of a known member.
  const named = names([
    ...known,
    ...answers.filter(({ clusterId: id }) => own.has(id)).flatMap(({ members }) => members),
  ]);
  const ids = new Set([...own, ...answers.filter(named).map(idOf)]);
  const ofOld = answers.filter((answer) => answer.clusterId !== clusterId && ids.has(answer.clusterId));
  const strange = answers.filter((answer) => answer.clusterId !== clusterId && !ids.has(answer.clusterId));
  const alive = ({ peerUrls }: SnapshotMember) => {
    if (ofOld.some(({ url }) => peerUrls.includes(url))) return { isAlive: true };
    const foreign = strange.find(({ url }) => peerUrls.includes(url))?.clusterId;
    return { isAlive: false, foreign };
  };
  const rejoined = new Set(answers.filter((answer) => answer.clusterId === clusterId).map(({ url }) => url));
  const leftOut = merged([...ofOld.flatMap(({ members }) => members), ...known])
    .filter((each) => !isRestored(each) && !each.peerUrls.some((url) => rejoined.has(url)))
    .map((each) => ({ ...each, ...alive(each) }))
    // Members that must be stopped come first. The order that etcd returns, by id, is arbitrary.
    .sort((a, b) => Number(b.isAlive) - Number(a.isAlive) || a.name.localeCompare(b.name));
  const oldIds = [...ids].filter((id) => id !== undefined && id !== clusterId) as string[];
  return { leftOut, oldIds, unread: old.unread };
}

/**
 * Returns a check that another answering cluster may be the old one, or the cluster of another restore. An unrelated cluster at
 * the address of a left-out member does not block the restore.
 */
export function blocksRestore({
  leftOut = [],
  oldIds,
  initialCluster,
}: Partial<LeftOutMembers> & { readonly initialCluster: string }): (answer: PeerAnswer) => boolean {
  const restored = parseInitialCluster(initialCluster);
  const [listsRestored, isNamed] = [lists(restored), names([...restored, ...leftOut])];
  return (answer) =>
    oldIds === undefined ||
    !leftOut.some(({ peerUrls }) => peerUrls.includes(answer.url)) ||
    oldIds.includes(answer.clusterId) ||
    listsRestored(answer) ||
    isNamed(answer);
}

const idOf = ({ clusterId }: { clusterId: string }) => clusterId;

const lists = (restored: readonly SnapshotMember[]) => {
  const urls = new Set(restored.flatMap(({ peerUrls }) => peerUrls));
  return ({ members }: { members: readonly SnapshotMember[] }) =>
    members.some(({ peerUrls }) => peerUrls.some((url) => urls.has(url)));
};

/** etcd's default name does not identify a member. */
const names = (known: readonly SnapshotMember[]) => {
  const all = new Set(known.map(({ name }) => name).filter((name) => name && name !== 'default'));
  return ({ members }: { members: readonly SnapshotMember[] }) => members.some(({ name }) => all.has(name));
};

interface OldMembers {
  readonly clusterId?: string;
  readonly members: readonly SnapshotMember[];
  readonly unread?: string;
}

/** Reads the cluster id and the members from the old data on this node. Damage is a reason to restore, so it stops nothing. */
async function oldMembers({ dataDir, walDir }: LeftOutRequest['member']): Promise<OldMembers> {
  const file = join(memberDir(dataDir), 'snap', 'db');
  // The snapshot and what other members answer say of which cluster a member is, too.
  const identity = await walIdentity(dataDir, walDir).catch(() => undefined);
  const own = identity ? { clusterId: identity.clusterId } : {};
  try {
    const values = await readSettled(() => unlessMissing(backendValues(file, 'members')));
    if (!values) return { ...own, members: [], unread: identity && `${file} is gone` };
    return { ...own, members: values.map((value) => memberOf(JSON.parse(value.toString()))) };
  } catch (error) {
    return { ...own, members: [], unread: `${file}: ${messageOf(error)}` };
  }
}

/** Merges members that share a peer URL, and keeps the first name. */
function merged(members: readonly SnapshotMember[]): SnapshotMember[] {
  const found: SnapshotMember[] = [];
  for (const each of members) {
    const at = found.findIndex(({ peerUrls }) => peerUrls.some((url) => each.peerUrls.includes(url)));
    const same = found[at];
    if (!same) found.push({ name: each.name, peerUrls: each.peerUrls });
    else found[at] = { name: same.name || each.name, peerUrls: [...new Set([...same.peerUrls, ...each.peerUrls])] };
  }
  return found;
}

/** Refuses while a left-out member serves the old cluster: its API server would continue next to the restored ones. */
export function refuseAlive(id: string, leftOut: readonly LeftOut[]): void {
  const alive = leftOut.filter(({ isAlive }) => isAlive).map(titleOf);
  if (alive.length === 0) return;
  const are = alive.length === 1 ? 'is not a member' : 'are not members';
  throw new AgentError(
    ExitCode.refused,
    `${alive.join(', ')} ${are} of the cluster restored from ${id}, and still ${alive.length === 1 ? 'serves' : 'serve'} the old one`,
    { finding: { kind: 'leftOut', count: alive.length } },
  );
}

/** Instructions for left-out members, one line each. */
export const leftOutNotes = (leftOut: readonly LeftOut[], unread?: string): string[] => [
  ...leftOut.map(leftOutNote),
  ...(unread === undefined
    ? []
    : [
        `The old data cannot be read (${unread}), so members that joined after the snapshot and do not answer are not known: before they come back, remove the manifests and data of their etcd`,
      ]),
];

function leftOutNote(each: LeftOut): string {
  const title = `${titleOf(each)} is not a member of the restored cluster`;
  if (each.isAlive) {
    return `${title}, and serves the old one: the restore is refused (40) until the API server and etcd are stopped there`;
  }
  if (each.foreign !== undefined) {
    return `${title}; the etcd that answers there belongs to the cluster ${each.foreign}, not to the old one, and is left alone`;
  }
  return `${title}, and does not answer: remove the manifests and data of its etcd before it comes back`;
}
