import type { MemberFlags } from '../node/member-flags.ts';
import type { PeerAnswer } from './health.ts';
import { highestOf, type SeenRevision } from './served-revisions.ts';
import type { SnapshotMember } from './snapshot-members.ts';

export interface FindingRequest {
  readonly member: Pick<MemberFlags, 'name' | 'peerUrls' | 'listenPeerUrls'>;
  /** What is wrong with etcd on this node. Undefined if it is healthy. */
  readonly trouble?: string | undefined;
  /** Revisions of this node and of the members that answer. */
  readonly here: readonly SeenRevision[];
  readonly answers: readonly PeerAnswer[];
  readonly snapshot: {
    readonly createdAt: string;
    readonly revision: number;
    readonly members: readonly SnapshotMember[];
    /** Ids of the cluster that it is of. */
    readonly clusterIds: readonly string[];
  };
}

/** One cluster that answers. */
interface Cluster {
  readonly id: string;
  readonly names: readonly string[];
  readonly revision: number;
  readonly hasQuorum: boolean;
  /** It has the data of the snapshot, and what was written since. Another etcd may answer at the address of a member. */
  readonly holdsData: boolean;
  readonly isFresh: boolean;
  readonly isHere: boolean;
  readonly size: number;
}

/** Says who serves, what a restore would lose, and whether to restore at all: what to read before anything else. */
export function finding(request: FindingRequest): string {
  const { trouble, snapshot } = request;
  const { members, revision, createdAt } = snapshot;
  const clusters = clustersOf(request);
  const lost = `everything since the snapshot of ${createdAt} (revision ${revision})`;
  const serving = clusters
    .filter(({ hasQuorum, holdsData }) => hasQuorum && holdsData)
    .sort((a, b) => b.names.length - a.names.length)[0];
  if (serving) {
    const who = `${serving.names.join(', ')}${serving.revision > 0 ? `, revision ${serving.revision}` : ''}`;
    if (!serving.isHere) {
      return `No restore is needed to serve again: other members have a quorum without this node (${who}). Remove its member and let it join again (etcdctl member remove, kubeadm reset, kubeadm join). The steps below discard ${lost}, on all nodes`;
    }
    return trouble === undefined
      ? `etcd on this node is healthy and has a quorum (${who}): restore only if its data is wrong, because ${lost} will be lost`
      : `etcd on this node: ${trouble}. Its cluster has a quorum (${who}): cure that instead of a restore, which discards ${lost}`;
  }
  const other = clusters.find(({ holdsData, isHere }) => !holdsData && isHere);
  if (other) {
    const what = other.isFresh ? 'began later in an empty directory' : `serves the cluster ${other.id}`;
    return `etcd on this node does not have the data of the snapshot: it ${what}, and has revision ${other.revision} and ${counted(other.size)}, where the snapshot has revision ${revision} and ${counted(members.length)}. A restore loses ${lost}`;
  }
  const state = trouble === undefined ? 'etcd on this node is healthy' : `etcd on this node: ${trouble}`;
  if (trouble === undefined)
    return `${state} and has a quorum: restore only if its data is wrong, because ${lost} will be lost`;
  const quorum = Math.floor(members.length / 2) + 1;
  const answering = clusters.filter(({ holdsData }) => holdsData).flatMap(({ names }) => names);
  const others = clusters.filter(({ holdsData }) => !holdsData).map((each) => ` ${otherText(each, revision)}.`);
  const who =
    answering.length > 0
      ? `only ${answering.join(', ')} ${answering.length === 1 ? 'answers' : 'answer'}`
      : 'no member answers';
  return `No quorum serves, as far as this node sees: ${who}.${others.join('')} ${state}. If ${counted(quorum)} can be started with their data, do that instead: a restore loses ${lost}`;
}

function otherText({ id, names, revision }: Cluster, ofSnapshot: number): string {
  const who = names.join(', ');
  if (revision === 0 || revision >= ofSnapshot) return `${who} answers for another cluster (${id})`;
  return `${who} began empty (cluster ${id}, revision ${revision}), without the data of the snapshot`;
}

const counted = (members: number): string => `${members} member${members === 1 ? '' : 's'}`;

function clustersOf({ member, trouble, here, answers, snapshot }: FindingRequest): Cluster[] {
  const own = new Set([...member.peerUrls.split(','), ...member.listenPeerUrls]);
  // A member may answer to clients alone.
  const serving = here.filter(({ hasQuorum }) => hasQuorum).flatMap(({ clusterId }) => clusterId ?? []);
  return [...new Set([...answers.map(({ clusterId }) => clusterId), ...serving])].map((clusterId) => {
    const of = answers.filter((answer) => answer.clusterId === clusterId);
    const known = [...snapshot.members, ...of.flatMap(({ members }) => members)];
    const nameAt = (url: string) => known.find(({ name, peerUrls }) => name && peerUrls.includes(url))?.name ?? url;
    // This member may listen at other addresses than those that the others know.
    const atPeers = of.map(({ url }) => (own.has(url) ? member.name : nameAt(url)));
    const voters = of
      .map(({ members }) => members.filter(({ isLearner }) => !isLearner))
      .reduce((most, each) => (each.length > most.length ? each : most), []);
    const size = voters.length;
    const answering = voters.filter(({ name }) => atPeers.includes(name)).length;
    const seen = here.filter((each) => each.clusterId === clusterId);
    const asked = seen.filter(({ hasQuorum }) => hasQuorum !== undefined);
    const names = [...new Set(of.length > 0 ? atPeers : asked.map(({ where }) => where))].sort();
    const served = highestOf(asked.filter(({ hasQuorum }) => hasQuorum)).revision;
    const isFresh = seen.some((each) => each.isFresh);
    const isOurs =
      snapshot.clusterIds.includes(clusterId) || 2 * listedIn(of, snapshot.members) > snapshot.members.length;
    return {
      ...{ id: clusterId, names, size, isFresh, revision: served || highestOf(seen).revision },
      holdsData: isOurs && !isFresh && (served === 0 || served >= snapshot.revision),
      hasQuorum: asked.length > 0 ? asked.some(({ hasQuorum }) => hasQuorum) : 2 * answering > size,
      isHere: of.length > 0 ? of.some(({ url }) => own.has(url)) : trouble === undefined,
    };
  });
}

/** How many of these members the cluster has. */
const listedIn = (answers: readonly PeerAnswer[], members: readonly SnapshotMember[]): number =>
  members.filter(({ name, peerUrls }) =>
    answers.some((answer) =>
      answer.members.some((each) => each.name === name && each.peerUrls.some((url) => peerUrls.includes(url))),
    ),
  ).length;
