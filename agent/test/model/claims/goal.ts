import type { RecordDoc } from '../../../src/protocol/record.ts';
import type { Planner } from '../explore/passes.ts';
import { minorOf } from '../world/change.ts';
import { type EtcdMember, quorum, schemesOf, votersOf } from '../world/etcd.ts';
import { clusterById, isUp, liveness } from '../world/processes.ts';
import { NOW, see } from '../world/see.ts';
import { isCrowdedOut } from '../world/steps.ts';
import type { Job, Pod, World } from '../world/world.ts';
import { askedScheme, hasWrongTemplate, speaksOtherwise } from './check-transport.ts';
import { needsFinalBackup, serves } from './truth.ts';

/** What is wrong with the end of a fair run; undefined: it is as wanted, or in a documented state that the conditions name. */
export function ending(world: World, planner: Planner): string | undefined {
  if (!world.spec || world.spec.paused || world.going) return undefined;
  if (world.spec.foreground && !world.spec.finalizer) return undefined;
  const { conditions, why } = planner.plan(see(world));
  const isTrue = (type: string): boolean => conditions.some((c) => c.type === type && String(c.status) === 'True');
  const neverBegan = world.truth.began.length === 0 && world.statusEpoch === undefined;
  if (neverBegan && conditions.some((c) => c.type === 'Stalled' && c.reason === 'RecordLost'))
    return 'a record is called lost where there was none';
  const isDeleting = world.spec.deleting === true && world.spec.finalizer === true;
  const unanswered = world.spec.deleting ? undefined : unansweredRestore(world);
  if (unanswered) return `EtcdRestore ${unanswered} will never be carried out, and does not say so`;
  const missing = isDeleting ? 'the cluster is not deleted' : notWanted(world);
  const reasons = conditions.map((c) => `${c.type}=${c.status}/${c.reason}`).join(' ');
  // Without TLS the users cannot log in, so it is not given up for good.
  const isHeldByUsers = world.users && world.spec.tls === 'disabling' && !isTrue('Accepted');
  if (!missing && (lacksAcknowledgement(world) || isHeldByUsers))
    return isTrue('Ready') || isTrue('Accepted') ? `a request is refused, but ${reasons}` : undefined;
  if (!missing) return isTrue('Ready') && !isTrue('Stalled') ? undefined : `all is as wanted, but ${reasons} (${why})`;
  const alarmed = missing === 'NOSPACE' || missing === 'CORRUPT' || missing === PUT_BACK || missing === SPLIT;
  if (isTrue('Ready') && !alarmed) return `not as wanted, but Ready: ${missing}`;
  const cause = isDeleting ? excuseOfDeletion(world) : excuse(world);
  const refused = conditions.some((c) => c.type === 'Accepted' && c.status === 'False');
  const quiet = cause === NODE_OFF || cause === NO_SIZE || refused;
  const alarm = quiet || ['Alarm', 'Stalled', 'QuorumLost', 'Degraded'].some(isTrue);
  if (!cause) return `stuck: ${missing}; ${reasons} (${why})`;
  return alarm ? undefined : `not reported: ${missing}; ${reasons} (${why})`;
}

const NODE_OFF = 'a node is off';
const NO_SIZE = 'the size is refused';
const PUT_BACK = 'an old record was put back';
const SPLIT = 'a member is on another volume than the record says';
const NO_MANIFESTS = 'no EtcdCluster or no StatefulSet';
const NO_POD = 'a member at the address of no pod';
const WRONG_IMAGE = 'the image is of another version than its template says';
const BROKEN = 'no pod of the template starts';
const NO_EVICTION = 'no pod may be evicted';
const TWO_VERSIONS = 'the template names another version';

/**
 * An EtcdRestore that is refused whatever else is in the way, because its name or its content was used before. While a
 * quorum is lost, only the text of its progress says so.
 */
function unansweredRestore(world: World): string | undefined {
  const { restores, record, sts, putBack, truth } = world;
  if (!record || !sts || putBack || (record.doc.seeded && !serves(world))) return undefined;
  const { op, restores: fenced } = record.doc;
  const inFlight = op && 'args' in op ? op.args : undefined;
  const isRefused = ({ name, hash }: World['restores'][number]): boolean => {
    if (inFlight?.id === name && inFlight.specHash === hash) return false;
    const own = fenced.find(({ id }) => id === name);
    if (own) return own.specHash !== '' && own.specHash !== hash;
    const isFailed = truth.failed?.includes(name) === true && inFlight?.id !== name;
    return isFailed || fenced.some(({ id, specHash }) => specHash === hash && id !== inFlight?.id);
  };
  return restores.find((restore) => !restore.phase && isRefused(restore))?.name;
}

/** The first difference from the spec. */
export function notWanted(world: World): string | undefined {
  const { spec, sts, record } = world;
  if (!spec || !sts) return NO_MANIFESTS;
  const doc = record?.doc;
  if (!doc) return 'no record';
  if (!doc.seeded) return 'not seeded';
  if (doc.op) return `op ${doc.op.kind} in flight`;
  const cluster = clusterById(world, doc.clusterId);
  if (!cluster) return 'no cluster';
  if (sts.version !== spec.version) return TWO_VERSIONS;
  if (sts.image) return WRONG_IMAGE;
  if (sts.broken) return BROKEN;
  if (sts.replicas !== spec.size) return `replicas ${sts.replicas}, size ${spec.size}`;
  if (sts.minEpoch !== doc.minEpoch) return 'epoch annotation';
  if ((sts.tls === true) !== (spec.tls !== undefined)) return 'certificates';
  if (cluster.members.length !== spec.size) return `${cluster.members.length} members, size ${spec.size}`;
  const live = liveness(world, cluster);
  for (const member of cluster.members) {
    const pod = world.pods[member.ordinal];
    if (member.learner || member.ordinal >= spec.size) return `member ${member.ordinal} is a learner or too many`;
    if (!live.upToDate.has(member.id)) return `member ${member.ordinal} is down or behind`;
    if (
      pod?.version !== sts.version ||
      pod.change !== sts.change ||
      pod.minEpoch !== sts.minEpoch ||
      pod.roots !== sts.roots ||
      pod.tls !== sts.tls ||
      pod.image ||
      pod.broken
    )
      return `pod ${member.ordinal} is of an old template`;
    if (pod.loaded !== world.roots) return `member ${member.ordinal} has not loaded the next root`;
    if (pod.terminating) return 'a pod is terminating';
  }
  const between = notSwitched(world);
  if (between) return between;
  if (cluster.noSpace) return 'NOSPACE';
  if (cluster.corrupt || cluster.members.some((m) => m.id === cluster.differs)) return 'CORRUPT';
  if (spec.onShrink === 'Delete' && world.claims.some((c, i) => c && i >= spec.size)) return 'a claim too many';
  if (world.renamed) return NO_POD;
  if (world.putBack) return PUT_BACK;
  if (isSplit(world)) return SPLIT;
  const open = world.restores.find((r) => !r.phase);
  if (open) return `EtcdRestore ${open.name} is open`;
  const kinds = ['defragment', 'moveLeader'] as const;
  const asked = kinds.find((kind) => isAhead(spec.maintenance?.[kind]?.at, doc.maintenance?.[kind]?.at));
  return asked && `${asked} is asked for`;
}

const isAhead = (a: string | undefined, b: string | undefined): boolean =>
  a !== undefined && Date.parse(a) <= NOW && Date.parse(a) > (Date.parse(b ?? '') || 0);

const lacksAcknowledgement = ({ spec, record }: World): boolean =>
  spec?.recovery?.acceptDataLoss === false && spec.recovery.id !== record?.doc.lastRecoveryId;

/** The schemes are not as asked for. While clients may use http beside https, the members wait. */
function notSwitched(world: World): string | undefined {
  const { record, spec } = world;
  const { peers, clients, target } = record!.doc.transport!;
  const asked = askedScheme(world);
  if (target !== asked) return 'the other scheme is still the target';
  const waits = spec?.acceptPlaintext && asked === 'https' && peers === 'http' && clients === 'both';
  if (peers !== asked && !waits) return `members use ${peers}`;
  if (clients === 'both' && !spec?.tls) return 'clients may use https without certificates';
  for (const member of clusterById(world, record!.doc.clusterId)!.members) {
    const pod = world.pods[member.ordinal];
    if (pod && speaksOtherwise(world, pod)) return `member ${member.ordinal} speaks otherwise`;
    const urls = schemesOf(member).join('+');
    if (urls !== (waits ? 'http+https' : asked)) return `member ${member.ordinal} has the peer URLs ${urls}`;
  }
  return undefined;
}

/** Why only a person can end a deletion: the final backup must be skipped, or a node must come back. */
function excuseOfDeletion(world: World): string | undefined {
  const { record, spec } = world;
  const op = record?.doc.op;
  if (!record || needsFinalBackup(world)) return excuse(world);
  const isOther = op && op.kind !== 'Delete' && op.kind !== 'Restore' && op.kind !== 'Recover';
  if (isOther) return excuse(world);
  return spec?.onDelete && world.pods.some((p) => p?.cut) ? NODE_OFF : undefined;
}

/** A fault that only a person can end. */
function excuse(world: World): string | undefined {
  if (world.pods.some((p) => p?.cut) || world.claims.some((c) => c?.dead)) return NODE_OFF;
  if ((world.spec?.size ?? 1) < 1) return NO_SIZE;
  const { spec } = world;
  if (spec && !spec.schedule && (spec.requiredForUpgrade || (spec.ephemeral && spec.size === 1)))
    return 'a backup schedule is asked for';
  const doc = world.record?.doc;
  if (!world.sts) return NO_MANIFESTS;
  if (!doc) return 'the record is lost';
  const cluster = clusterById(world, doc.clusterId);
  if (isSplit(world)) return SPLIT;
  if (world.jobs.some((j) => j.refused || (j.state === 'Failed' && failsForGood(world, j)))) return 'a Job fails';
  const isQueued = beforeFence(doc) && world.restores.filter((r) => !r.phase).length > 1;
  if (!isQueued && world.jobs.some((j) => j.stuck && j.op === doc.op?.id)) return 'the pod of a Job does not start';
  if (isTakenBack(world, doc)) return 'the EtcdRestore that goes on was deleted';
  if (world.putBack) return PUT_BACK;
  if (world.sts?.image) return WRONG_IMAGE;
  if (world.sts?.broken) return BROKEN;
  if (world.noEviction) return NO_EVICTION;
  if (world.tight && (doc.op?.kind === 'Restore' || doc.op?.kind === 'Recover')) return 'the seed has no room';
  if (world.store.some((s) => s.replaced)) return 'the snapshot is another one';
  if (world.sts && world.spec?.version !== world.sts.version) return TWO_VERSIONS;
  if (refusedVersion(world)) return 'the version asked for is refused';
  // A pod of the present template would have the certificates that it lacks.
  const isHelped = (pod: Pod): boolean => pod.reason === 'ConfigRefused' && pod.tls !== world.sts?.tls;
  if (world.pods.some((p) => p?.state === 'refused' && !isHelped(p))) return 'a gate refuses';
  if (world.volumes.some((v) => v?.identity && v.identity.clusterUid !== doc.clusterUid))
    return 'data of another record';
  if (hasWrongTemplate(world)) return 'the template has other certificates than are needed';
  if (world.users && doc.transport?.clients !== 'http' && spec?.tls !== 'on') return 'users are in the way';
  if (doc.failure) return 'something failed, to be tried again later';
  if (world.renamed || cluster?.members.some((m) => m.ordinal < 0)) return NO_POD;
  if (cluster?.noSpace && (world.tight || world.spec?.report)) return 'space is for a human to make';
  if (cluster?.corrupt || cluster?.differs) return 'a corrupt member waits for replace.force';
  if (cluster) {
    const voters = votersOf(cluster);
    // A cluster that is being deleted is not repaired, so the node of a member is not freed.
    const isFreed = (i: number): boolean => isCrowdedOut(world, i) && !spec?.deleting;
    const mayRun = (i: number): boolean => world.pods[i]?.broken === true || isUp(world.pods[i]) || isFreed(i);
    const able = voters.filter((m) => world.volumes.some((v, i) => v?.wal?.member === m.id && mayRun(i)));
    if (able.length < quorum(voters.length) && !isRecoverable(world, able)) return 'the quorum is lost';
  }
  if (world.spec?.manual && world.volumes.some((v, i) => v && !v.wal && doc.members[i]))
    return 'a lost volume waits for replace.force';
  return undefined;
}

/** The old data are fenced off, and what was to take their place is not asked for any more. */
const isTakenBack = ({ restores }: World, { op, phase, restores: fenced }: RecordDoc): boolean =>
  phase === 'Restoring' &&
  op?.kind === 'Restore' &&
  !op.args.id.includes(':') &&
  !fenced.some(({ id }) => id === op.args.id) &&
  !restores.some(({ name }) => name === op.args.id);

/** Its operation may still be given up for another. */
const beforeFence = ({ op, phase }: RecordDoc): boolean => op?.kind === 'Restore' && phase !== 'Restoring';

const isSplit = ({ record, volumes }: World): boolean =>
  volumes.some((v, i) => {
    const member = record?.doc.members[i];
    return v?.wal !== undefined && v.wal.member === member?.memberId && v.identity?.volumeId !== member.volumeId;
  });

/** A final backup fails for good only if the store refuses it. Without a cluster that serves, it fails for that reason. */
const failsForGood = (world: World, job: Job): boolean =>
  job.snapshot?.bad === true && (job.kind !== 'final' || world.refusing === true);

/** A recovery is requested and possible. */
function isRecoverable({ spec, record, pods, volumes }: World, able: readonly EtcdMember[]): boolean {
  const { recovery, schedule, deleting, ephemeral } = spec!;
  if (!recovery?.acceptDataLoss || recovery.id === record!.doc.lastRecoveryId || !schedule || deleting) return false;
  const answers = (m: EtcdMember): boolean =>
    volumes.some((v, i) => v?.wal?.member === m.id && isUp(pods[i]) && !pods[i].mute);
  const named = recovery.survivor === undefined ? able : able.filter((m) => m.ordinal === recovery.survivor);
  return named.some((m) => !ephemeral || answers(m));
}

/** More than one minor up, or down. */
function refusedVersion({ spec, sts, clusters }: World): boolean {
  const minor = clusters.at(-1)?.minor;
  const wanted = [spec?.version, sts?.version].flatMap((v) => (v ? [minorOf(v)] : []));
  return minor !== undefined && wanted.some((m) => m < minor || m > minor + 1);
}
