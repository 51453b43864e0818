import type { Effect } from '../../../src/controllers/port/effect.ts';
import type { Observed } from '../../../src/controllers/port/observed.ts';
import type { RecordDoc } from '../../../src/protocol/record.ts';
import { settings } from '../settings.ts';
import { INDEX_UNIT, quorum, votersOf } from '../world/etcd.ts';
import { clusterById, isUp, liveness } from '../world/processes.ts';
import { A_LITTLE, NOW } from '../world/see.ts';
import type { World } from '../world/world.ts';
import { checkRecord } from './check-record.ts';
import { checkPeerUrls, hasUrls, needsCertificates, speaksOtherwise } from './check-transport.ts';
import { allUp, checkRemove, current, isDraining, mayStart, opOf, ownBackups, serves } from './truth.ts';

/**
 * Checks an effect against the world at the time when plan() decides it; changes before a late effect arrives do not count.
 * Written from the protocol, independently of plan()'s own facts.
 */
export function checkEffect(world: World, effect: Effect, observed: Observed): string | undefined {
  if (world.spec?.paused) return `${effect.kind} while paused`;
  if (!world.spec && effect.kind !== 'ReleaseFinalizer') return `${effect.kind} without an EtcdCluster`;
  const times = Object.values(observed.since.healthy);
  const young = times.length > 0 && times.every((at) => at === NOW);
  const justFailed = observed.since.failure === NOW;
  const { pods } = observed;
  const blind = pods.known && pods.v.length > 0 && pods.v.every((p) => p.resolves.known && !p.resolves.v && p.running);
  const adds = effect.kind === 'WriteRecord' && effect.doc.op?.kind === 'AddLearner' && !world.record?.doc.op;
  if (blind && adds) return 'a member is added whose name does not resolve';
  const restarts = effect.kind === 'WriteRecord' && effect.doc.op?.kind === 'DeletePod' && !world.record?.doc.op;
  if (restarts && lags(observed)) return 'a restart while the others lag';
  if (salvages(world, effect, observed)) return 'LiveSurvivorFirst: a survivor is restarted that answers';
  if (isRepeated(world, effect)) return `TriedOnce: ${effect.kind} is repeated`;
  if (isIdle(world, effect)) return `${effect.kind} for nothing`;
  switch (effect.kind) {
    case 'WriteRecord':
      return checkRecord(world, effect.doc, young, justFailed);
    case 'MemberRemove':
      return checkRemove(world, effect.memberId, observed.since.holder === NOW);
    case 'MemberAdd':
      return checkAdd(world, effect.ordinal);
    case 'MemberUpdate':
      return checkPeerUrls(world, effect.memberId, effect.peerUrls, young);
    case 'MemberPromote':
      return opOf(world, 'Promote')?.memberId === effect.memberId
        ? undefined
        : 'IntentFirst: a promotion without its op';
    case 'MoveLeader':
      return checkMoveLeader(world, effect.leader, effect.to);
    case 'DeletePod':
      return checkEviction(world, effect, observed) ?? checkDeletePod(world, effect.ordinal, young);
    case 'DeleteClaim':
      return checkDeleteClaim(world, effect.ordinal, young);
    case 'ScaleTo':
      return checkScale(world, effect.replicas);
    case 'AnnotateEpoch':
      return effect.epoch === world.record?.doc.minEpoch
        ? undefined
        : 'the epoch annotation is not the minEpoch of the record';
    case 'AnnotateRoots':
      if (world.record?.doc.op) return 'OneOperation: members are to restart beside an op';
      return effect.roots === world.roots && world.pods.some((pod) => pod && pod.loaded !== effect.roots)
        ? undefined
        : 'members are to restart for roots that they have loaded';
    case 'AnnotateClaim':
      return checkAnnotation(world, effect.ordinal, effect.clusterUid, effect.epoch);
    case 'DeleteRecord':
      if (world.claims.some((c) => c)) return 'the record is deleted before the claims';
      return world.spec?.deleting && world.spec.onDelete === 'Delete' ? undefined : 'the record is deleted unasked';
    case 'CreateJob':
      return world.record?.doc.op?.id === effect.job.op ? undefined : 'OneOperation: a Job without its op';
    case 'DeleteJob':
      return checkDeleteJob(world, effect.uid);
    case 'HashKV':
      return allUp(world) && votersOf(current(world)!).length > 1
        ? undefined
        : 'hashes are compared while a voter is down';
    case 'ReportRestore':
      return checkReport(world, effect.name, effect.phase);
    case 'Compact':
      return opOf(world, 'ClearNoSpace') ? undefined : 'OneOperation: Compact without its op';
    case 'Defrag':
      if (!opOf(world, 'ClearNoSpace')) return checkDefrag(world, effect.memberId, young);
      return allUp(world) && !young ? undefined : 'Defrag while a voter is down';
    case 'Disarm':
      if (effect.alarm === 'Corrupt') return checkDisarmCorrupt(world);
      if (!opOf(world, 'ClearNoSpace')) return 'OneOperation: Disarm without its op';
      return checkDisarm(world, effect.memberId);
    case 'LeaseChurn':
      if (current(world)?.minor !== 6) return 'Settle on another minor than 3.6';
      if (isSettled(world)) return 'LeaseChurn for nothing';
      return allUp(world) && !current(world)?.noSpace ? undefined : 'Settle while a voter is down or under an alarm';
    case 'ReleaseFinalizer':
      return checkRelease(world);
    case 'SetFinalizer':
      return world.going ? 'a finalizer is set by one that goes' : undefined;
    default:
      return undefined;
  }
}

function checkDefrag(world: World, memberId: string, young: boolean): string | undefined {
  if (!isAsked(world, memberId)) return 'IntentFirst: a defragmentation without its op';
  if (world.backup) return 'a defragmentation beside a backup';
  if (world.tight) return 'a defragmentation without room';
  if (current(world)?.leader === memberId && votersOf(current(world)!).length > 1) return 'the leader is defragmented';
  return allUp(world) && !young ? undefined : 'Defrag while a voter is down';
}

/** What somebody asked for is tried once. The others are repeated until they succeed. */
const isRepeated = ({ memory, record }: World, effect: Effect): boolean =>
  'done' in effect &&
  effect.done !== undefined &&
  record?.doc.op?.kind !== 'ClearNoSpace' &&
  [...memory.done, ...(memory.failed ?? [])].includes(effect.done);

/** This process has recorded that it defragments this member. */
function isAsked(world: World, memberId: string): boolean {
  const present = opOf(world, 'Defragment')?.present;
  return present?.memberId === memberId && present.by === world.memory.self;
}

/** A member answers and lags a little. */
const lags = ({ status }: Observed): boolean =>
  Object.values(status).some((s) => s.known && s.v.appliedIndex + A_LITTLE === s.v.raftIndex);

function salvages(world: World, effect: Effect, { status }: Observed): boolean {
  const before = world.record?.doc.op;
  const op = effect.kind === 'WriteRecord' ? effect.doc.op : undefined;
  if (before?.kind !== 'Recover' || before.step !== 'backup' || op?.kind !== 'Recover' || op.step !== 'salvage')
    return false;
  return status[before.args.survivor!.memberId]?.known === true;
}

/** The record knows where the entries of 3.5 end, and every voter has a snapshot beyond them. */
function isSettled(world: World): boolean {
  const { finalizedIndex } = world.record!.doc.versions;
  if (finalizedIndex === undefined) return false;
  const ids = new Set(votersOf(current(world)!).map((m) => m.id));
  const wals = world.volumes.flatMap((v) => (v?.wal && ids.has(v.wal.member) ? [v.wal] : []));
  return wals.every((wal) => INDEX_UNIT * wal.snapIndex - settings.catchUpEntries > finalizedIndex);
}

/** The effect changes nothing. */
function isIdle(world: World, effect: Effect): boolean {
  switch (effect.kind) {
    case 'WriteRecord':
      return (
        world.record?.isListOld !== true &&
        world.record !== undefined &&
        substance(effect.doc) === substance(world.record.doc)
      );
    case 'ScaleTo':
      return world.sts?.replicas === effect.replicas;
    case 'MemberUpdate':
      return hasUrls(world, effect.memberId, effect.peerUrls);
    case 'AnnotateEpoch':
      return world.sts?.minEpoch === effect.epoch;
    case 'AnnotateRoots':
      return world.sts?.roots === effect.roots;
    case 'DeletePod':
      return world.pods[effect.ordinal]?.terminating === true;
    case 'DeleteClaim':
      return world.claims[effect.ordinal]?.deleting === true;
    case 'DeleteJob':
      return world.jobs.some((j) => j.uid === effect.uid && j.deleting);
    case 'SetFinalizer':
      return world.spec?.finalizer === true;
    case 'ReleaseFinalizer':
      return world.spec?.finalizer !== true;
    case 'ReportRestore':
      return world.restores.some((r) => r.uid === effect.uid && r.phase === effect.phase);
    default:
      return false;
  }
}

/** The content of a record without the ids and times that every write renews. */
const substance = (doc: RecordDoc): string =>
  JSON.stringify(doc, (key, value) => (NEW_EACH_TIME.has(key) ? undefined : value));
const NEW_EACH_TIME = new Set(['salvage', 'rev', 'id', 'holder', 'at', 'startedAt', 'issuedAt']);

function checkAnnotation(world: World, ordinal: number, clusterUid: string, epoch: number): string | undefined {
  if (clusterUid !== world.record?.doc.clusterUid) return 'a volume claim gets another cluster’s uid';
  const { wal, identity } = world.volumes[ordinal] ?? {};
  const cluster = clusterById(world, wal?.cluster);
  const member = cluster?.members.find((m) => m.id === wal?.member);
  return identity?.epoch === epoch && member && !member.learner
    ? undefined
    : 'a volume claim is annotated that holds no voter';
}

const KEPT_JOBS = new Set(['pre-upgrade', 'final', 'safety', 'recovery']);

function checkDeleteJob(world: World, uid: string): string | undefined {
  const job = world.jobs.find((j) => j.uid === uid);
  const op = world.record?.doc.op;
  if (job && op?.id === job.op && job.state === 'Running') return 'a Job is deleted that the op needs';
  // The next safety backup may come of another quorum.
  if (job?.refused && job.kind !== 'safety' && job.op === op?.id) return 'a Job is made again that the store refuses';
  return job && !op && KEPT_JOBS.has(job.kind) ? 'a backup’s Job is deleted before its time' : undefined;
}

function checkReport(world: World, name: string, phase: string): string | undefined {
  const doc = world.record?.doc;
  const fenced = doc?.restores.some((r) => r.id === name);
  const isDone = fenced && doc?.seeded && world.truth.restored.includes(name);
  const asked = world.restores.find((r) => r.name === name)!;
  if (phase === 'Completed') {
    if (!isDone) return 'an EtcdRestore is called complete that is not';
    const size = world.spec?.size ?? 0;
    if (votersOf(current(world)!).filter((m) => m.ordinal < size).length < size)
      return 'an EtcdRestore is called complete before the cluster has its members again';
    const isOwn = doc.restores.some((r) => r.id === name && r.uid === asked.uid);
    const last = world.truth.restored.findLast((id) => !id.includes(':'));
    return isOwn && last !== name ? 'an EtcdRestore is called complete whose data were replaced' : undefined;
  }
  const inFlight = doc?.op && 'args' in doc.op && doc.op.args.id === name ? doc.op.args : undefined;
  const args = inFlight?.specHash === asked.hash || inFlight?.uid === asked.uid ? inFlight : undefined;
  const mayFail = world.jobs.some((j) => j.state === 'Failed' || j.stuck) || world.store.some((s) => s.replaced);
  const leaves = world.restores.some((r) => r.name !== name && !r.phase && r.ignoreUnreachablePods);
  const isOld = world.pods.some((p) => p?.cut);
  const instead =
    args &&
    !world.spec?.deleting &&
    doc?.phase === 'Restoring' &&
    world.restores.some((r) => r.name !== name && !r.phase) &&
    (mayFail || (leaves && isOld));
  const { hash, later } = asked;
  const isRenamed = !args && doc?.restores.some((r) => r.specHash === hash);
  const isFormer = doc?.olderRestores?.some((r) => r.id === name);
  const isOlder = !args && !later && (isFormer || doc?.restores.some((r) => r.id.startsWith('origin:')));
  // A rebuilt record takes the word of the EtcdRestore.
  const failed = [...(world.truth.failed ?? []), ...(doc?.failedRestores ?? [])];
  const hasBegun = !args && [...failed, ...world.truth.restored].includes(name);
  return args?.failed || hasBegun || (fenced && !args) || isRenamed || isOlder || instead
    ? undefined
    : 'an EtcdRestore is called failed that did not fail';
}

function checkAdd(world: World, ordinal: number): string | undefined {
  if (opOf(world, 'AddLearner')?.ordinal !== ordinal) return 'IntentFirst: a member is added without its op';
  const cluster = current(world);
  if (cluster?.members.some((m) => m.learner)) return 'a learner is added beside a learner';
  if (cluster?.members.some((m) => m.ordinal === ordinal)) return 'a member is added where one is';
  if (ordinal >= (world.spec?.size ?? 0)) return 'a member is added that nobody wants';
  return undefined;
}

function checkMoveLeader(world: World, leader: string, to: string): string | undefined {
  const op = world.record?.doc.op;
  if (!op) return 'OneOperation: leadership moves without an op';
  if (!to || to === leader) return 'leadership moves to nobody';
  if (op.kind === 'MoveLeader' && to !== op.to) return 'leadership moves to another than asked for';
  if (op.kind === 'Defragment' && op.present) return 'leadership moves beside a defragmentation';
  if (op.kind === 'Defragment' && world.tight) return 'leadership moves for nothing';
  if (op.kind === 'MoveLeader' || op.kind === 'Defragment')
    return allUp(world) ? undefined : 'leadership moves while a voter is down';
  if (!('ordinal' in op)) return 'OneOperation: leadership moves without an op';
  const member = current(world)?.members.find((m) => m.id === leader);
  return member && member.ordinal !== op.ordinal ? 'leadership moves off a member that nobody is to touch' : undefined;
}

/** A ready pod of a member may only be evicted, as by a drain. */
function checkEviction(world: World, effect: Effect & { kind: 'DeletePod' }, observed: Observed): string | undefined {
  const { pods } = observed;
  const { ordinal, evict } = effect;
  if (world.sts?.image && ordinal < world.sts.replicas) return WRONG_IMAGE;
  if (evict && observed.refused?.at === NOW) return 'an eviction that was refused is tried again at once';
  const isReady = pods.known && pods.v.some((pod) => pod.ordinal === ordinal && pod.ready);
  return isReady && !evict && !isDraining(world) ? 'a ready pod is deleted without the Eviction API' : undefined;
}

const WRONG_IMAGE = 'a pod is made of an image of another version';

function checkDeletePod(world: World, ordinal: number, young: boolean): string | undefined {
  const { record, sts, spec } = world;
  const pod = world.pods[ordinal]!;
  const cluster = current(world);
  const wal = world.volumes[ordinal]?.wal;
  const member = wal && cluster?.id === wal.cluster ? cluster.members.find((m) => m.id === wal.member) : undefined;
  const meant = opOf(world, 'DeletePod')?.podUid === pod.uid;
  const asked =
    meant ||
    (sts &&
      (pod.version !== sts.version ||
        pod.change !== sts.change ||
        pod.minEpoch !== sts.minEpoch ||
        pod.roots !== sts.roots ||
        pod.tls !== sts.tls ||
        pod.image ||
        speaksOtherwise(world, pod) ||
        pod.broken !== sts.broken));
  // None of its containers ever ran.
  if (pod.broken && asked) return undefined;
  const { op: now } = record?.doc ?? {};
  if (!member && !asked && !isDraining(world) && ordinal >= (spec?.size ?? 0))
    return 'a pod is restarted that is to go';
  const isSurvivor = now?.kind === 'Recover' && now.args.survivor?.ordinal === ordinal;
  if (isSurvivor && now.step === 'salvage' && (spec?.ephemeral || !wal)) return 'a survivor loses its volume';
  if (member && !asked && !isDraining(world)) return 'a pod is deleted that needs no restart';
  if (member && !member.learner && spec?.ephemeral && isUp(pod))
    return 'an ephemeral member is deleted before its removal';
  if (!member || member.learner || isDraining(world)) return undefined;
  if (needsCertificates(world) && !sts?.tls) return 'a member is restarted without the certificates that it needs';
  const named = record?.doc.op && 'ordinal' in record.doc.op && record.doc.op.ordinal === ordinal;
  if (!named && record && !mayStart(world, record.doc)) return 'a voter’s pod is deleted for a version that is refused';
  if (!isUp(pod) && !named && (serves(world) || spec?.ephemeral)) return 'a voter’s pod is deleted without an op';
  if (!isUp(pod)) return undefined;
  const op = record?.doc.op;
  if (!op || !('ordinal' in op) || op.ordinal !== ordinal) return 'OneOperation: a pod is deleted without an op';
  if (young && votersOf(cluster!).length > 1) return 'a pod is deleted while the others are not known to be stable';
  const { running } = liveness(world, cluster!);
  const voters = votersOf(cluster!);
  const left = voters.filter((m) => m.id !== member.id && running.has(m.id)).length;
  // One or two voters: a restart is announced downtime.
  const pauses = voters.length === 1 || (voters.length === 2 && (spec?.size ?? 0) <= 2);
  return !pauses && left < quorum(voters.length) ? 'QuorumKept: a restart that leaves less than a quorum' : undefined;
}

function checkDeleteClaim(world: World, ordinal: number, young: boolean): string | undefined {
  const { spec } = world;
  if (spec?.deleting)
    return spec.onDelete === 'Delete' ? undefined : 'NoDataDeleted: a claim is deleted although onDelete is Retain';
  const wal = world.volumes[ordinal]?.wal;
  const member = current(world)?.members.some((m) => m.id === wal?.member);
  if (member) return 'NoDataDeleted: the volume of a member is deleted';
  const { on, clusterUid } = world.claims[ordinal] ?? {};
  if (on !== undefined && !wal && !clusterUid && world.pods[on]?.state === 'new')
    return young ? 'a volume makes room on the evidence of a moment' : undefined;
  const meant = opOf(world, 'Remove')?.claimUid === world.claims[ordinal]?.uid;
  return meant ? undefined : 'NoDataDeleted: a claim is deleted without its op';
}

function checkScale(world: World, replicas: number): string | undefined {
  const { sts } = world;
  if (sts?.image && replicas > sts.replicas) return WRONG_IMAGE;
  if (!sts || isDraining(world)) return undefined;
  if (replicas > sts.replicas) return checkRaise(world, replicas, sts.replicas);
  if (replicas === sts.replicas) return undefined;
  const lost = current(world)?.members.find((m) => m.ordinal >= replicas);
  if (lost) return `QuorumKept: scaled below member ${lost.ordinal}`;
  return replicas < (world.spec?.size ?? 0) ? 'scaled below the size' : undefined;
}

/** The alarm of a removed member can always be disarmed. */
function checkDisarm(world: World, memberId: string): string | undefined {
  const cluster = current(world);
  const large = cluster?.noSpace && votersOf(cluster).some((m) => !cluster.noSpace!.small.includes(m.id));
  return large || !cluster?.noSpace?.alarms.includes(memberId) ? 'disarmed before the space was freed' : undefined;
}

function checkDisarmCorrupt(world: World): string | undefined {
  const cluster = current(world);
  if (!cluster?.corrupt) return 'disarmed without an alarm';
  if (cluster.members.some((m) => m.id === cluster.corrupt || m.id === cluster.differs))
    return 'disarmed while a member is there whose data differ';
  return allUp(world) ? undefined : 'disarmed before all were compared';
}

/** A pod without a member is added only while every member is healthy. */
function checkRaise(world: World, replicas: number, now: number): string | undefined {
  const cluster = current(world);
  if (!cluster || !world.record?.doc.seeded || cluster.members.some((m) => m.ordinal >= replicas - 1)) return undefined;
  // Without a quorum its removal cannot be known.
  if (world.record.doc.members[replicas - 1] && !serves(world)) return undefined;
  if (!mayStart(world, world.record.doc)) return 'a pod is added whose version is refused';
  const joined = Array.from({ length: now }, (_, i) => cluster.members.some((m) => m.ordinal === i && !m.learner));
  return allUp(world) && joined.every(Boolean) ? undefined : 'a pod is added while another is not well';
}

function checkRelease(world: World): string | undefined {
  const { spec } = world;
  if (!spec || world.going) return undefined;
  const needs = spec.onDelete === 'Delete' || spec.finalBackup;
  if (!spec.deleting) return needs ? 'the finalizer goes although a deletion will have work' : undefined;
  const needed = spec.onDelete === 'Delete' || spec.finalBackup;
  if (needed && world.record && (world.sts?.replicas ?? 0) > 0) return 'the finalizer goes while pods are asked for';
  const data = world.volumes.some((v) => v?.wal && world.truth.seeded.includes(v.wal.cluster));
  if (spec.finalBackup && !spec.skipFinalBackup && data && ownBackups(world) === 0)
    return 'the finalizer goes without the final backup';
  const left = world.claims.some((c) => c && !c.deleting);
  return spec.onDelete === 'Delete' && (left || world.record) ? 'the finalizer goes before the claims' : undefined;
}
