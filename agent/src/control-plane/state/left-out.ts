import { join } from 'node:path';
import type { Manifest } from '../../backup/catalog/manifest.ts';
import { backendValues } from '../../etcd/offline/backend-state.ts';
import { walIdentity } from '../../etcd/offline/wal.ts';
import { AgentError, ExitCode } from '../../lib/errors.ts';
import { hostOf } from '../node/local-address.ts';
import type { MemberFlags } from '../node/member-flags.ts';
import { memberDir } from './data-folders.ts';
import { type PeerAnswer, peerAnswers } from './health.ts';
import { memberOf, parseInitialCluster, type SnapshotMember } from './snapshot-members.ts';

/** A member of the old cluster that the restored one does not have. */
export interface LeftOut extends SnapshotMember {
  /** It serves the old cluster. */
  readonly isAlive: boolean;
  /** The cluster of somebody else's etcd, which answers at its address. */
  readonly foreign?: string;
}

export interface Found {
  readonly leftOut: readonly LeftOut[];
  /** The clusters that count as the old one. */
  readonly oldIds: readonly string[];
}

export interface LeftOutRequest {
  readonly member: Pick<MemberFlags, 'dataDir' | 'walDir' | 'listenPeerUrls' | 'initialPeerUrls' | 'peerTls'>;
  readonly manifest: Pick<Manifest, 'source' | 'members'>;
  /** All members that the snapshot has, also learners. */
  readonly ofSnapshot: readonly SnapshotMember[];
  /** Those of the restored cluster. */
  readonly restored: readonly SnapshotMember[];
  /** Of the restored cluster; undefined: it is not made yet. */
  readonly clusterId?: string;
  readonly signal?: AbortSignal;
}

/**
 * Members that the restore does not replace: those of the snapshot, those that joined after it, as the old data here and
 * every member that answers know them, and those that the flags name. One that goes on with the old data serves a second
 * etcd to the API server beside it.
 */
export async function leftOutOf(request: LeftOutRequest): Promise<Found> {
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
    // By another port or protocol it is the same machine, unless it says that it is another member.
    (peerUrls.some((url) => hosts.has(hostOf(url))) && (!name || restored.some((each) => each.name === name)));
  // Who knows one of them is of this cluster; another etcd that got the address of a member is not.
  const own = new Set([old.clusterId, manifest.source.clusterId, ...answers.filter(lists(restored)).map(idOf)]);
  // Nor does an etcd that was restored alone know one: but it bears a member's name.
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
    return { isAlive: false, ...(foreign !== undefined && { foreign }) };
  };
  const rejoined = new Set(answers.filter((answer) => answer.clusterId === clusterId).map(({ url }) => url));
  const leftOut = merged([...ofOld.flatMap(({ members }) => members), ...known])
    .filter((each) => !isRestored(each) && !each.peerUrls.some((url) => rejoined.has(url)))
    .map((each) => ({ ...each, ...alive(each) }))
    // What must be stopped first; etcd lists them by their ids, which are as good as random.
    .sort((a, b) => Number(b.isAlive) - Number(a.isAlive) || a.name.localeCompare(b.name));
  return { leftOut, oldIds: [...ids].filter((id) => id !== undefined && id !== clusterId) as string[] };
}

/**
 * Whether another cluster that answers may be the old one, or that of another restore. At the address of a member that is
 * left out it may also be somebody else's, which goes on.
 */
export function isInTheWay({
  leftOut = [],
  oldIds,
  initialCluster,
}: Partial<Found> & { readonly initialCluster: string }): (answer: PeerAnswer) => boolean {
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

/** The name that etcd has when nobody gives it one says nothing. */
const names = (known: readonly SnapshotMember[]) => {
  const all = new Set(known.map(({ name }) => name).filter((name) => name && name !== 'default'));
  return ({ members }: { members: readonly SnapshotMember[] }) => members.some(({ name }) => all.has(name));
};

/** Those of which the data here know, and of which cluster. */
async function oldMembers({
  dataDir,
  walDir,
}: LeftOutRequest['member']): Promise<{ clusterId?: string; members: SnapshotMember[] }> {
  const identity = await walIdentity(dataDir, walDir).catch(() => undefined);
  try {
    const values = await backendValues(join(memberDir(dataDir), 'snap', 'db'), 'members');
    const members = values.map((value) => memberOf(JSON.parse(value.toString())));
    return { ...(identity && { clusterId: identity.clusterId }), members };
  } catch {
    return { ...(identity && { clusterId: identity.clusterId }), members: [] };
  }
}

/** One for each place, with the first name that it is known by. */
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

export const titleOf = ({ name, peerUrls }: SnapshotMember): string => {
  const hosts = [...new Set(peerUrls.map(hostOf))].join(', ');
  return name ? `${name} (${hosts})` : hosts;
};

/** While one of them serves the old cluster, its API server would go on beside the restored ones. */
export function refuseAlive(id: string, leftOut: readonly LeftOut[]): void {
  const alive = leftOut.filter(({ isAlive }) => isAlive).map(titleOf);
  if (alive.length === 0) return;
  const [are, them] = alive.length === 1 ? ['is no member', 'it'] : ['are no members', 'them'];
  throw new AgentError(
    ExitCode.refused,
    `${alive.join(', ')} ${are} of the cluster that ${id} makes, and still ${alive.length === 1 ? 'serves' : 'serve'} the old one: stop API server and etcd there, as --plan says, or give all members with --initial-cluster and restore ${them}, too`,
  );
}

/** What to do with them, a line each. */
export const leftOutNotes = (leftOut: readonly LeftOut[]): string[] =>
  leftOut.map((each) => {
    const title = `${titleOf(each)} is no member of the restored cluster`;
    if (each.isAlive) {
      return `${title}, and serves the old one: nothing is restored (40) until API server and etcd are stopped there`;
    }
    if (each.foreign !== undefined) {
      return `${title}; the etcd that answers there is of the cluster ${each.foreign}, not of the old one, and is left alone`;
    }
    return `${title}, and does not answer: remove the manifests and data of its etcd before it comes back`;
  });
