import type * as seen from '../../../src/controllers/port/observed.ts';
import { ExitCode } from '../../../src/lib/errors.ts';
import type { AgentStatus } from '../../../src/protocol/agent-status.ts';
import { type Known, known, unknown } from '../../../src/protocol/known.ts';
import type { RecordDoc } from '../../../src/protocol/record.ts';
import { settings } from '../settings.ts';
import { askedCluster } from './apply.ts';
import { type Cluster, type EtcdMember, hasQuorum, INDEX_UNIT, raftIndex, schemesOf, votersOf } from './etcd.ts';
import { clusterById, isUp, liveness, reachable, speaksOf } from './processes.ts';
import { failsAgain } from './steps.ts';
import type { Pod, Spec, Volume, World } from './world.ts';

/** Observes the world as observe() does for plan(): the same facts, without the waiting. */

/** The time of every pass. A fact that is old enough began at 0; a fact that has just begun began now. */
export const NOW = 1_000_000_000;

/** Quota of every database: 3.6 and newer report it themselves, older versions through their agent. */
const QUOTA = 1000;

/** A lag for which only a restart waits. */
export const A_LITTLE = 2000;

export interface Sight {
  /** Every time in `since` has just begun: health, evidence, the lease. */
  readonly young?: boolean;
}

export function see(world: World, { young = false }: Sight = {}): seen.Observed {
  const at = young ? NOW : 0;
  const cluster = askedCluster(world);
  return {
    cluster: known(clusterOf(world)),
    record: known(world.record),
    statefulSet: known(statefulSetOf(world)),
    pods: known(podsOf(world)),
    claims: known(claimsOf(world)),
    agents: agentsOf(world),
    members: cluster ? known(membersOf(cluster, world)) : unknown('no quorum'),
    status: statusOf(world, cluster),
    alarms: cluster ? known(alarmsOf(cluster)) : unknown('no quorum'),
    jobs: known(jobsOf(world)),
    restores: known(restoresOf(world)),
    since: sinceOf(world, at),
    hash: world.memory.hash && { ...world.memory.hash, at: NOW, minority: [] },
    done: [...world.memory.done],
    failed: Object.fromEntries((world.memory.failed ?? []).map((key) => [key, 'refused'])),
    self: world.memory.self,
    ...(world.marks && { reached: lookOf(world) }),
    refused: world.memory.refused && { at: NOW, since: at, podUid: '', message: 'the budget has no room' },
    failures: 0,
    holder: world.holder,
    fresh: {
      id: `o#${world.seq}`,
      clusterUid: `k#${world.seq}`,
      token: `t#${world.seq}`,
      secret: `x#${world.seq}`,
    },
  };
}

const DOMAIN = 'cluster.local';
const addressIn = (domain: string, i: number): string => `c-${i}.c-peers.n.svc.${domain}:2380`;
export const peerAddress = (i: number): string => addressIn(DOMAIN, i);
/** The ordinal of a member that was added by hand at the address of pod 1, where another member is. */
export const AT_POD_1 = -2;
/** A member that was added by hand is at no ordinal. */
const urlsOf = (member: EtcdMember, { renamed, spec }: World): string[] => {
  const { ordinal } = member;
  if (ordinal === AT_POD_1) return [`${spec?.tls ? 'http' : 'https'}://${addressIn(DOMAIN, 1)}`];
  const address = ordinal < 0 ? '10.0.0.9:2380' : addressIn(renamed ? 'old.example' : DOMAIN, ordinal);
  return schemesOf(member).map((scheme) => `${scheme}://${address}`);
};

export function specOf(spec: Spec): seen.ClusterSpec {
  return {
    size: spec.size,
    allowEvenSize: spec.size % 2 === 0,
    version: spec.version,
    paused: spec.paused === true,
    tls: spec.tls !== undefined,
    disablingTls: spec.tls === 'disabling',
    acceptPlaintextFor: spec.acceptPlaintext ? settings.acceptPlaintext : 0,
    ephemeral: spec.ephemeral === true,
    replace: {
      policy: spec.manual ? 'Manual' : 'OnVolumeLoss',
      force: spec.force.map((f) => ({ ...f, discardVolume: f.discardVolume === true })),
    },
    origin: spec.origin && { source: { snapshotId: spec.origin.id } },
    recovery: spec.recovery,
    onShrink: spec.onShrink ?? 'Retain',
    onDelete: spec.onDelete ?? 'Retain',
    schedule: spec.schedule ? 'daily' : undefined,
    requiredForUpgrade: spec.requiredForUpgrade === true,
    finalBackupRequired: spec.finalBackup === true,
    ...(spec.maintenance && { maintenance: spec.maintenance }),
    onNoSpace: spec.report ? 'Report' : 'CompactDefragDisarm',
  };
}

function clusterOf(world: World): seen.Cluster | undefined {
  const { spec } = world;
  if (!spec) return undefined;
  return {
    name: 'c',
    namespace: 'n',
    uid: spec.uid,
    rv: spec.rv,
    domain: DOMAIN,
    deleting: spec.deleting === true,
    finalizer: spec.finalizer === true,
    skipFinalBackup: spec.skipFinalBackup === true,
    reconcilerGoing: world.going === true,
    spec: specOf(spec),
    status: { epoch: world.statusEpoch },
    ...(world.roots && { certificates: certificatesOf(world) }),
    ...(world.backup && { backups: { running: 'nightly' } }),
    ...(world.users && { authentication: USERS }),
  };
}

const USERS: seen.AuthReport = {
  isWanted: true,
  removed: 0,
  seen: { isEnabled: true, hasUsers: true, age: 0 },
};

function lookOf(world: World): seen.Look {
  const index: Record<string, number> = {};
  const live = watched(world) && liveness(world, watched(world)!);
  for (const { wal } of world.volumes.flatMap((volume) => volume ?? []))
    if (wal && live?.upToDate.has(wal.member)) index[wal.member] = raftIndex(watched(world)!, wal.at);
  return { at: 0, revision: (watched(world)?.log ?? 0) + 1, index };
}

/** As if each member reported what it has loaded even while its etcd is down. */
function certificatesOf({ pods, roots }: World): seen.CertificateReport {
  const isBehind = pods.some((pod) => pod && pod.loaded !== roots);
  const nothing = { secrets: [], certificates: [], authorities: [], unread: [], problems: [] };
  return { ...nothing, now: NOW, looked: { at: NOW, age: 0 }, goodAge: 0, ...(isBehind && { rootsToLoad: roots }) };
}

type Template = Pick<Pod, 'version' | 'change' | 'minEpoch' | 'roots' | 'image' | 'broken' | 'tls'>;

const revisionOf = ({ version, change, minEpoch, roots, image, broken, tls }: Template): string =>
  `${version}/${change}/${minEpoch}/${roots ?? ''}/${image ?? ''}/${broken ?? ''}/${tls ?? ''}`;

function statefulSetOf({ sts }: World): seen.StatefulSet | undefined {
  if (!sts) return undefined;
  return {
    replicas: sts.replicas,
    rv: sts.rv,
    updateRevision: revisionOf(sts),
    observed: sts.seenMinEpoch === sts.minEpoch && sts.seenRoots === sts.roots,
    minEpoch: sts.minEpoch,
    ...(sts.roots && { roots: sts.roots }),
    version: sts.version,
    imageVersion: sts.image ?? sts.version,
    tlsSecrets: sts.tls ? { peer: 'peer', server: 'server' } : {},
  };
}

function podsOf(world: World): seen.Pod[] {
  return world.pods.flatMap((pod, ordinal): seen.Pod[] => {
    if (!pod) return [];
    const running = pod.state !== 'new' && !pod.cut;
    return [
      {
        ordinal,
        uid: pod.uid,
        revision: revisionOf(pod),
        running,
        began: pod.state !== 'new',
        ready: isReady(world, ordinal),
        deleting: pod.terminating === true,
        resolves: known(running),
        ...(pod.broken && { problem: 'ErrImagePull: there is no such image' }),
        ...(pod.state === 'new' && !pod.broken ? { unschedulable: true as const } : { node: nodeOf(world, ordinal) }),
      },
    ];
  });
}

const nodeOf = (world: World, ordinal: number): string => `node ${world.claims[ordinal]?.on ?? ordinal}`;

function isReady(world: World, i: number): boolean {
  const cluster = clusterById(world, world.volumes[i]?.wal?.cluster);
  if (!isUp(world.pods[i]) || world.pods[i].image || !cluster || !hasQuorum(cluster, liveness(world, cluster)))
    return false;
  const member = cluster.members.find((m) => m.id === world.volumes[i]!.wal!.member);
  return member?.learner === false && isConnected(world, i) && reachable(world, cluster);
}

/** Its etcd belongs to those that the leader reaches. */
function isConnected(world: World, i: number): boolean {
  const { wal } = world.volumes[i]!;
  return liveness(world, clusterById(world, wal!.cluster)!).running.has(wal!.member);
}

function claimsOf(world: World): seen.Claim[] {
  return world.claims.flatMap((claim, ordinal): seen.Claim[] => {
    if (!claim) return [];
    const { uid, rv, clusterUid, epoch } = claim;
    return [{ ordinal, uid, rv, deleting: claim.deleting === true, clusterUid, epoch, node: nodeOf(world, ordinal) }];
  });
}

function agentsOf(world: World): Record<number, Known<AgentStatus>> {
  const agents: Record<number, Known<AgentStatus>> = {};
  for (let i = 0; i < world.pods.length; i++) {
    const pod = world.pods[i];
    if (pod) agents[i] = agentOf(world, i, pod);
  }
  return agents;
}

const STATES = {
  wait: 'WaitPermit',
  run: 'Running',
  refused: 'Refused',
  stopped: 'Running',
  down: 'Starting',
} as const;

/** It also asks when etcd could not join with its permit. */
const asks = (pod: Pod, volume: Volume): boolean => !volume.wal && (pod.state === 'wait' || pod.state === 'down');

/** etcd has another version than its template names. */
const isMismatch = (pod: Pod): boolean => pod.state === 'run' && pod.image !== undefined;

const isPastGate = ({ state }: Pod): boolean => state === 'run' || state === 'stopped' || state === 'down';

function agentOf(world: World, i: number, pod: Pod): Known<AgentStatus> {
  if (pod.cut || pod.state === 'new') return unknown('no answer');
  const volume = world.volumes[i]!;
  const { identity, wal } = volume;
  return known({
    v: 1,
    pod: `c-${i}`,
    podUid: pod.uid,
    ordinal: i,
    agentVersion: '0',
    etcdBinary: pod.version,
    gate: pod.state === 'wait' || pod.state === 'refused' ? true : undefined,
    state: isMismatch(pod) ? 'Refused' : STATES[pod.state],
    reason: isMismatch(pod) ? 'VersionMismatch' : pod.state === 'refused' ? pod.reason : undefined,
    volume: {
      walPresent: wal !== undefined,
      volumeId: volume.volumeId,
      identity: identity && {
        v: 1,
        clusterUid: identity.clusterUid,
        epoch: identity.epoch,
        token: identity.token,
        ordinal: i,
        volumeId: identity.volumeId,
        permitId: identity.permitId,
        mode: identity.mode,
        memberId: identity.memberId,
        clusterId: identity.clusterId,
        state: wal ? 'sealed' : 'permitted',
        lastRestoreId: identity.restoreId,
        lastVersion: identity.version,
        runs: 1,
      },
      freeBytes: world.tight ? 1000 : 1e12,
      totalBytes: 2e12,
      quarantineCount: 0,
      snapIndex: wal && wal.snapIndex > 0 ? INDEX_UNIT * wal.snapIndex : undefined,
    },
    request: asks(pod, volume) && volume.volumeId ? { volumeId: volume.volumeId } : undefined,
    minEpoch: pod.minEpoch,
    ...(isPastGate(pod) && { transport: { ...speaksOf(pod), hasCertificates: pod.tls === true } }),
    ...(identity && pastOf(world)),
    recordRev: world.record && world.record.doc.rev + (world.putBack ? 1 : 0),
    salvage:
      pod.state === 'refused' && pod.reason === 'Salvage' && wal
        ? {
            // Abstraction: a gate follows another permit at once. The unit tests of recovery have one that has yet to.
            permitId: world.record?.doc.permits[i]?.id ?? '',
            sha256: wal.member,
            sizeBytes: 100,
            revision: wal.at,
            lastIndex: wal.at,
            commit: wal.at,
            url: pod.uid,
          }
        : undefined,
    etcd: wal && (pod.state === 'run' || pod.state === 'down') ? etcdOf(world, i, pod) : undefined,
  });
}

/** What agents keep of the record. */
export const readIn = ({ epoch, restores, olderRestores, failedRestores }: RecordDoc): NonNullable<World['read']> => ({
  ...{ epoch, restores: restores.map(({ id, uid, specHash }) => ({ id, uid, specHash })) },
  ...(olderRestores && { olderRestores }),
  ...(failedRestores && { failedRestores }),
});

/** What the agent has read in the record, or in the lost one. */
function pastOf({ record, read }: World): Pick<AgentStatus, 'recordVersions' | 'recordPast'> {
  const known = record ? readIn(record.doc) : read;
  if (!known) return {};
  const { epoch, ...recordPast } = known;
  return { recordVersions: { epoch }, recordPast };
}

function etcdOf(world: World, i: number, pod: Pod): AgentStatus['etcd'] {
  const { wal } = world.volumes[i]!;
  const cluster = clusterById(world, wal!.cluster)!;
  const leads = hasQuorum(cluster, liveness(world, cluster));
  const index = raftIndex(cluster, wal!.at);
  return {
    up: pod.state === 'run',
    memberId: wal!.member,
    clusterId: wal!.cluster,
    hasLeader: leads && (pod.state !== 'run' || isConnected(world, i)),
    isLeader: cluster.leader === wal!.member,
    isLearner: cluster.members.find((m) => m.id === wal!.member)?.learner === true,
    // A member that was cut off has raised its term, and has fewer entries.
    term: wal!.at < cluster.log ? 2 : 1,
    committedIndex: index,
    appliedIndex: index,
    version: pod.image ?? pod.version,
    clusterVersion: `3.${cluster.minor}.0`,
    dbSize: 100,
    dbInUse: 100,
    quota: QUOTA,
    upSince: '1970-01-01T00:00:00Z',
  };
}

function membersOf(cluster: Cluster, world: World): seen.Member[] {
  return cluster.members.map((m) => ({
    id: m.id,
    name: m.started ? `c-${m.ordinal}` : '',
    peerUrls: urlsOf(m, world),
    isLearner: m.learner,
  }));
}

/** The record's cluster, or the newest one if the record names none. */
function watched(world: World): Cluster | undefined {
  return clusterById(world, world.record?.doc.clusterId) ?? world.clusters.at(-1);
}

/** Without a quorum the record names the members to ask. */
function statusOf(world: World, asked: Cluster | undefined): Record<string, Known<seen.MemberStatus>> {
  const recorded = Object.values(world.record?.doc.members ?? {}).map((m) => m.memberId);
  const ids = asked ? asked.members.map((m) => m.id) : recorded;
  return Object.fromEntries(ids.map((id) => [id, memberStatus(world, id)]));
}

function memberStatus(world: World, id: string): Known<seen.MemberStatus> {
  const i = world.volumes.findIndex((v, at) => v?.wal?.member === id && isUp(world.pods[at]) && !world.pods[at].mute);
  const wal = world.volumes[i]?.wal;
  if (!wal) return unknown('no answer');
  const cluster = clusterById(world, wal.cluster)!;
  // etcd frees some pages again soon after a defragmentation.
  const size = cluster.noSpace && !cluster.noSpace.small.includes(wal.member) ? 1000 : 110;
  return known({
    clusterId: cluster.id,
    version: world.pods[i]!.image ?? world.pods[i]!.version,
    leader: isConnected(world, i) ? (cluster.leader ?? '') : '',
    raftTerm: 1,
    raftIndex: raftIndex(cluster, cluster.log),
    appliedIndex: raftIndex(cluster, wal.at),
    revision: wal.at + 1,
    dbSize: size,
    dbInUse: cluster.noSpace && !isFreed(cluster.noSpace) ? 1000 : 100,
    quota: cluster.minor >= 6 ? QUOTA : undefined,
    clusterVersion: `3.${cluster.minor}.0`,
  });
}

const isFreed = ({ compacted, of }: NonNullable<Cluster['noSpace']>): boolean => compacted && of !== 'values';

const alarmsOf = ({ noSpace, corrupt }: Cluster): seen.Alarm[] => [
  ...(noSpace?.alarms ?? []).map((memberId) => ({ memberId, type: 'NoSpace' as const })),
  ...(corrupt ? [{ memberId: corrupt, type: 'Corrupt' as const }] : []),
];

function jobsOf(world: World): seen.Job[] {
  return world.jobs.map((job) => ({
    kind: job.kind,
    uid: job.uid,
    op: job.op,
    state: job.state,
    deleting: job.deleting === true,
    message: job.state === 'Failed' ? 'failed' : undefined,
    exitCode: job.state === 'Failed' ? (job.refused ? ExitCode.storeRefused : ExitCode.storeUnreachable) : undefined,
    waits: job.stuck ? 'no node has room' : undefined,
    backup:
      job.state === 'Succeeded' && job.snapshot && !job.lost
        ? { id: job.snapshot.id, revision: job.snapshot.writes + 1, sha256: job.snapshot.id }
        : undefined,
    serving:
      job.serving && job.snapshot
        ? {
            url: job.uid,
            sha256: `${job.snapshot.id}${job.snapshot.replaced ? ' replaced' : ''}`,
            sizeBytes: 100,
            revision: job.snapshot.writes + 1,
          }
        : undefined,
  }));
}

function restoresOf(world: World): seen.RestoreRequest[] {
  return world.restores.map((r, n) => ({
    name: r.name,
    uid: r.uid,
    // In the order in which they were made; the clock of the world stands still.
    createdAt: r.later ? Number.MAX_SAFE_INTEGER - world.restores.length + n : n,
    specHash: r.hash,
    source: { snapshotId: r.snapshot.id },
    safetyBackup: r.safetyBackup,
    ignoreUnreachablePods: r.ignoreUnreachablePods,
    phase: r.phase,
  }));
}

function sinceOf(world: World, at: number): seen.Since {
  const since: seen.Since = { healthy: {}, down: {}, evidence: {}, inSync: {}, jobFailed: {}, holder: at };
  const cluster = watched(world);
  const doc = world.record?.doc;
  if (doc?.failure) since.failure = NOW;
  since.jobWaits = Object.fromEntries(world.jobs.flatMap((job) => (job.stuck ? [[job.uid, at]] : [])));
  for (const job of world.jobs)
    if (job.state === 'Failed') since.jobFailed[job.uid] = failsAgain(world, job) ? NOW : at;
  if (cluster) {
    const live = liveness(world, cluster);
    if (!hasQuorum(cluster, live)) since.quorumLost = at;
    if (votersOf(cluster).some((m) => !live.upToDate.has(m.id)) || !cluster.leader) since.unwell = at;
    for (const member of cluster.members) {
      const well = cluster.leader !== undefined && live.running.has(member.id) && live.upToDate.has(member.id);
      (well ? since.healthy : since.down)[member.id] = at;
      if (well && member.learner) since.inSync[member.id] = at;
    }
  }
  since.silent = {};
  for (let i = 0; i < world.pods.length; i++) {
    if (world.pods[i]?.cut || world.pods[i]?.broken) since.silent[i] = at;
    const [pod, volume] = [world.pods[i], world.volumes[i]];
    if (pod && volume && (asks(pod, volume) || pod.state === 'refused' || isMismatch(pod))) since.evidence[i] = at;
  }
  return since;
}
