/** etcd as the reconciler meets it: the rules of membership changes, as observed on real servers. */

export interface EtcdMember {
  readonly id: string;
  readonly ordinal: number;
  readonly learner: boolean;
  /** It has published its name, so it has run. */
  readonly started: boolean;
  /** The schemes of its peer URLs. Default: http. */
  readonly urls?: 'http+https' | 'https';
}

export interface Cluster {
  readonly id: string;
  readonly epoch: number;
  readonly members: readonly EtcdMember[];
  /** Number of acknowledged writes. A member's WAL says how many it has. */
  readonly log: number;
  readonly leader?: string;
  /** Minor of the cluster version: the lowest minor that runs; it never falls. */
  readonly minor: number;
  /** Raft index. Only Settle moves it, because nothing else compares it. */
  readonly index: number;
  /** Index of the last v2 request in the log; 0: there is none. 3.7 panics on a request that no snapshot covers. */
  readonly lastV2: number;
  /** CORRUPT: the member whose data differ. */
  readonly corrupt?: string;
  /** A member whose data differ, and etcd has not noticed. */
  readonly differs?: string;
  /** NOSPACE alarms by member id, and the progress of clearing space. */
  readonly noSpace?: {
    readonly alarms: readonly string[];
    readonly compacted: boolean;
    readonly small: readonly string[];
    /** Current values alone fill it, so no compaction helps. */
    readonly values?: true;
  };
}

/** Ids of the members that run, and of those that have the whole log. */
export interface Liveness {
  readonly running: ReadonlySet<string>;
  readonly upToDate: ReadonlySet<string>;
}

/** Before 3.5.30 and 3.6.11 an add requires every voter to be connected; later versions require q(voters + 1). */
export type AddRule = 'allConnected' | 'quorumConnected';

export type Answer = { ok: true; cluster: Cluster } | { ok: false; error: string };

/** One unit of `index`, in raft entries. A missing write is a lag that always counts. */
export const INDEX_UNIT = 1_000_000;
const LAG_OF_A_WRITE = 100_000;
export const raftIndex = (cluster: Cluster, at: number): number => INDEX_UNIT * cluster.index + LAG_OF_A_WRITE * at;

export const quorum = (voters: number): number => Math.floor(voters / 2) + 1;
export const votersOf = (cluster: Cluster): EtcdMember[] => cluster.members.filter((m) => !m.learner);

const refused = (error: string): Answer => ({ ok: false, error });
const count = (members: readonly EtcdMember[], ids: ReadonlySet<string>): number =>
  members.reduce((sum, m) => sum + (ids.has(m.id) ? 1 : 0), 0);

/** A leader is possible: a quorum of voters runs. */
export function hasQuorum(cluster: Cluster, live: Liveness): boolean {
  const voters = votersOf(cluster);
  return voters.length > 0 && count(voters, live.running) >= quorum(voters.length);
}

/** An entry can be committed: a quorum of voters holds all that came before it. */
export function canCommit(cluster: Cluster, live: Liveness): boolean {
  const voters = votersOf(cluster);
  return hasQuorum(cluster, live) && count(voters, live.upToDate) >= quorum(voters.length);
}

export const schemesOf = ({ urls }: EtcdMember): string[] => (urls ?? 'http').split('+');

/** The schemes of these URLs; undefined: http. */
function urlsOf(peerUrls: readonly string[] = []): Pick<EtcdMember, 'urls'> {
  const schemes = peerUrls.map((url) => url.slice(0, url.indexOf(':'))).join('+');
  return schemes === 'https' || schemes === 'http+https' ? { urls: schemes } : { urls: undefined };
}

export function memberAdd(
  cluster: Cluster,
  live: Liveness,
  rule: AddRule,
  { id, ordinal, peerUrls = [] }: { id: string; ordinal: number; peerUrls?: readonly string[] },
): Answer {
  if (!canCommit(cluster, live)) return refused('timed out');
  const voters = votersOf(cluster);
  const connected = count(voters, live.running);
  const enough = rule === 'allConnected' ? voters.length : voters.length === 1 ? 1 : quorum(voters.length + 1);
  if (connected < enough) return refused('unhealthy cluster');
  if (cluster.members.some((m) => m.ordinal === ordinal)) return refused('Peer URLs already exists');
  if (cluster.members.some((m) => m.learner)) return refused('too many learner members in cluster');
  const added: EtcdMember = { id, ordinal, learner: true, started: false, ...urlsOf(peerUrls) };
  return { ok: true, cluster: { ...cluster, members: [...cluster.members, added] } };
}

export function memberRemove(cluster: Cluster, live: Liveness, id: string): Answer {
  if (!canCommit(cluster, live)) return refused('timed out');
  const member = cluster.members.find((m) => m.id === id);
  if (!member) return refused('member not found');
  if (!member.learner) {
    const voters = votersOf(cluster);
    const left = voters.filter((m) => m.id !== id);
    if (left.filter((m) => m.started).length < quorum(left.length)) return refused('not enough started members');
    const active = count(voters, live.running);
    if (live.running.has(id) && active - 1 < quorum(voters.length - 1)) return refused('unhealthy cluster');
  }
  return { ok: true, cluster: { ...cluster, members: cluster.members.filter((m) => m.id !== id) } };
}

export function memberUpdate(cluster: Cluster, live: Liveness, id: string, peerUrls: readonly string[]): Answer {
  if (!canCommit(cluster, live)) return refused('timed out');
  if (!cluster.members.some((m) => m.id === id)) return refused('member not found');
  const members = cluster.members.map((m) => (m.id === id ? { ...m, ...urlsOf(peerUrls) } : m));
  return { ok: true, cluster: { ...cluster, members } };
}

export function memberPromote(cluster: Cluster, live: Liveness, id: string): Answer {
  if (!canCommit(cluster, live)) return refused('timed out');
  const member = cluster.members.find((m) => m.id === id);
  if (!member) return refused('member not found');
  if (!member.learner) return refused('can only promote a learner member');
  if (!member.started || !live.running.has(id) || !live.upToDate.has(id))
    return refused('can only promote a learner member which is in sync with leader');
  const promoted = cluster.members.map((m) => (m.id === id ? { ...m, learner: false } : m));
  return { ok: true, cluster: { ...cluster, members: promoted } };
}

export function moveLeader(cluster: Cluster, live: Liveness, to: string): Answer {
  if (!canCommit(cluster, live)) return refused('timed out');
  const target = cluster.members.find((m) => m.id === to);
  if (!target || target.learner) return refused('bad leader transferee');
  if (!live.running.has(to) || !live.upToDate.has(to)) return refused('timed out');
  return { ok: true, cluster: { ...cluster, leader: to } };
}
