import type { Schemes } from '../../../src/protocol/record.ts';
import { minorOf, violated, withPod, withVolume } from './change.ts';
import {
  type Cluster,
  canCommit,
  type EtcdMember,
  hasQuorum,
  type Liveness,
  quorum,
  schemesOf,
  votersOf,
} from './etcd.ts';
import type { Pod, Volume, Wal, World } from './world.ts';

/** etcd processes: who runs, who leads, and what a start, a stop and a catch-up do. */

/** Its agent does not answer, because its node is off or it cannot start. */
export const hearsNothingOf = (pod: Pod | null | undefined): boolean => pod?.cut === true || pod?.broken === true;

export const isUp = (pod: Pod | null | undefined): pod is Pod => pod?.state === 'run' && !pod.cut;

export const plaintext: Schemes = { peers: 'http', clients: 'http' };
export const speaksOf = ({ speaks = plaintext }: Pod): Schemes => speaks;

/** An etcd that runs, and what the others know of it. */
interface Process {
  readonly pod: Pod;
  readonly wal: Wal;
  readonly member: EtcdMember | undefined;
}

const processesOf = (world: World, cluster: Cluster): Process[] =>
  world.pods.flatMap((pod, i) => {
    const wal = isUp(pod) ? world.volumes[i]?.wal : undefined;
    if (wal?.cluster !== cluster.id) return [];
    return [{ pod: pod!, wal, member: cluster.members.find(({ id }) => id === wal.member) }];
  });

/** One of its peer URLs has the scheme at which it listens, and whoever calls by https has certificates. */
export function calls(from: Pod, to: Pod, member: EtcdMember): boolean {
  const { peers } = speaksOf(to);
  return schemesOf(member).includes(peers) && (peers === 'http' || from.tls === true);
}

const reaches = (a: Process, b: Process): boolean =>
  a === b ||
  (a.member !== undefined && b.member !== undefined && calls(a.pod, b.pod, b.member) && calls(b.pod, a.pod, a.member));

/** The voters that run and cannot reach each other, although they have certificates where that is needed. */
export function cutOff(world: World, cluster: Cluster): [EtcdMember, EtcdMember] | undefined {
  const voters = processesOf(world, cluster).filter(({ member }) => member?.learner === false);
  const lacks = (a: Process, b: Process) => !a.pod.tls && speaksOf(b.pod).peers === 'https';
  for (const a of voters) {
    const b = voters.find((other) => !reaches(a, other) && !lacks(a, other) && !lacks(other, a));
    if (b) return [a.member!, b.member!];
  }
  return undefined;
}

/** The processes that a leader reaches which reaches the most voters. */
function together(processes: readonly Process[]): readonly Process[] {
  const isPlain = ({ pod, member }: Process): boolean => !pod.speaks && !member?.urls;
  if (processes.every(isPlain)) return processes;
  const groups = processes
    .filter(({ member }) => member?.learner === false)
    .map((leader) => processes.filter((other) => reaches(leader, other)));
  const size = (group: readonly Process[]) => group.filter(({ member }) => member?.learner === false).length;
  return groups.toSorted((a, b) => size(b) - size(a))[0] ?? processes;
}

/** A process that the leader does not reach does not count. */
export function liveness(world: World, cluster: Cluster): Liveness {
  const running = new Set<string>();
  const upToDate = new Set<string>();
  for (const { wal } of together(processesOf(world, cluster))) {
    running.add(wal.member);
    if (wal.at === cluster.log) upToDate.add(wal.member);
  }
  return { running, upToDate };
}

export const clusterById = (world: World, id: string | undefined): Cluster | undefined =>
  world.clusters.find((c) => c.id === id);

export function withCluster(world: World, cluster: Cluster): World {
  return { ...world, clusters: world.clusters.map((c) => (c.id === cluster.id ? cluster : c)) };
}

/** Starts etcd on the WAL of this ordinal. */
export function startEtcd(world: World, i: number): World {
  const pod = world.pods[i]!;
  const wal = world.volumes[i]!.wal!;
  const cluster = clusterById(world, wal.cluster)!;
  const down = (reason: string): World => withPod(world, i, { ...pod, state: 'down', reason });
  if (!cluster.members.some((m) => m.id === wal.member)) return down('removed');
  const minor = minorOf(pod.version);
  if (minor < cluster.minor)
    return violated(down('invalid downgrade'), 'OneMinorPerStep: a member started on an older minor');
  if (minor > cluster.minor + 1)
    return violated(down('skipped minor'), 'OneMinorPerStep: a member started on a skipped minor');
  if (minor >= 7 && wal.snapIndex < cluster.lastV2)
    return violated(down('v2 panic'), 'OneMinorPerStep: 3.7 met a v2 request');
  const members = cluster.members.map((m) => (m.id === wal.member && !m.started ? { ...m, started: true } : m));
  const lastV2 = minor <= 5 ? cluster.index : cluster.lastV2;
  const up = withPod(world, i, { ...pod, state: 'run', reason: undefined, mute: true });
  return settled(withCluster(up, { ...cluster, members, lastV2 }));
}

export function catchUp(world: World, i: number): World | undefined {
  const volume = world.volumes[i];
  if (!isUp(world.pods[i]) || !volume?.wal) return undefined;
  const cluster = clusterById(world, volume.wal.cluster)!;
  if (volume.wal.at === cluster.log || !cluster.leader) return undefined;
  if (!liveness(world, cluster).running.has(volume.wal.member)) return undefined;
  return withVolume(world, i, { ...volume, wal: { ...volume.wal, at: cluster.log } });
}

/** Acknowledges one more write in the cluster that clients reach. */
export function write(world: World): World | undefined {
  const cluster = world.clusters.find((c) => !c.corrupt && canCommit(c, liveness(world, c)) && reachable(world, c));
  if (!cluster) return undefined;
  const log = cluster.log + 1;
  const { upToDate } = liveness(world, cluster);
  const volumes = world.volumes.map((volume, i): Volume | null => {
    const takes = volume?.wal?.cluster === cluster.id && upToDate.has(volume.wal.member) && isUp(world.pods[i]);
    return takes ? { ...volume, wal: { ...volume.wal!, at: log } } : volume;
  });
  return withCluster({ ...world, volumes }, { ...cluster, log });
}

/** One of its pods is ready: a voter of the present epoch, which the record calls seeded. */
export function reachable(world: World, cluster: Cluster): boolean {
  const voters = new Set(votersOf(cluster).map((m) => m.id));
  return world.pods.some((pod, i) => {
    const { wal, identity } = world.volumes[i] ?? {};
    if (!isUp(pod) || pod.image || wal?.cluster !== cluster.id || !voters.has(wal.member) || !identity) return false;
    const doc = world.record?.doc;
    return identity.epoch >= pod.minEpoch && (!doc || (identity.epoch >= doc.epoch && doc.seeded));
  });
}

/** Applies what follows at once: removed members exit, a leader is elected, the cluster version rises. */
export function settled(world: World): World {
  let next = world;
  for (const cluster of world.clusters) next = settledCluster(next, cluster);
  return next;
}

function settledCluster(world: World, cluster: Cluster): World {
  let next = world;
  const known = new Set(cluster.members.map((m) => m.id));
  for (let i = 0; i < world.pods.length; i++) {
    const pod = world.pods[i];
    const wal = world.volumes[i]?.wal;
    if (pod?.state === 'run' && wal?.cluster === cluster.id && !known.has(wal.member) && !pod.cut)
      next = withPod(next, i, { ...pod, state: 'down', reason: 'removed' });
  }
  const live = liveness(next, cluster);
  if (hasQuorum(cluster, live)) next = answering(next, cluster, live);
  const voters = votersOf(cluster);
  const behind = voters.filter((m) => live.running.has(m.id) && !live.upToDate.has(m.id));
  if (behind.length >= quorum(voters.length))
    next = violated(next, 'an acknowledged write is lost: a quorum without it');
  const leader = leaderOf(cluster, live);
  const minor = Math.max(cluster.minor, lowestMinor(next, cluster, live));
  if (leader === cluster.leader && minor === cluster.minor) return next;
  return withCluster(next, { ...cluster, leader, minor });
}

function answering(world: World, cluster: Cluster, live: Liveness): World {
  let next = world;
  for (let i = 0; i < world.pods.length; i++) {
    const pod = world.pods[i];
    const wal = world.volumes[i]?.wal;
    if (pod?.mute && wal?.cluster === cluster.id && live.running.has(wal.member))
      next = withPod(next, i, { ...pod, mute: undefined });
  }
  return next;
}

function leaderOf(cluster: Cluster, live: Liveness): string | undefined {
  if (!hasQuorum(cluster, live)) return undefined;
  const able = votersOf(cluster).filter((m) => live.upToDate.has(m.id));
  return (able.find((m) => m.id === cluster.leader) ?? able.toSorted((a, b) => a.ordinal - b.ordinal)[0])?.id;
}

/** etcd raises the cluster version once every started member runs a higher one. */
function lowestMinor(world: World, cluster: Cluster, live: Liveness): number {
  let lowest = Number.POSITIVE_INFINITY;
  for (const member of cluster.members) {
    if (!member.started) continue;
    const at = world.volumes.findIndex((v, i) => isUp(world.pods[i]) && v?.wal?.member === member.id);
    if (at < 0 || !live.running.has(member.id)) return cluster.minor;
    lowest = Math.min(lowest, minorOf(world.pods[at]!.version));
  }
  return lowest === Number.POSITIVE_INFINITY ? cluster.minor : lowest;
}
