import type { RecordDoc } from '../../../src/protocol/record.ts';
import { memberAdd, raftIndex, votersOf } from '../world/etcd.ts';
import { hearsNothingOf, isUp, liveness } from '../world/processes.ts';
import { NOW } from '../world/see.ts';
import type { World } from '../world/world.ts';
import { hasWrongTemplate } from './check-transport.ts';
import { notWanted } from './goal.ts';
import {
  allUp,
  checkLoss,
  checkRemove,
  current,
  mayStart,
  needsFinalBackup,
  type OpOf,
  othersUp,
  serves,
  shortMinor,
} from './truth.ts';

/** A removal with a cause that lasts: another removal may give way to it. */
const isDue = (op: RecordDoc['op']): boolean => op?.kind === 'Remove' && (op.why === 'Dead' || op.why === 'Forced');

/** Checks how an operation begins, goes on and ends. */

export function checkOp(world: World, before: RecordDoc, doc: RecordDoc, young: boolean): string | undefined {
  const [was, is] = [before.op, doc.op];
  if (was?.kind === 'Remove' && is?.id !== was.id) {
    const suspended = is && 'suspended' in is ? is.suspended?.id === was.id : false;
    const waits = checkRemove(world, was.memberId, false);
    const there = current(world)?.members.some((m) => m.id === was.memberId);
    const yields = is?.kind === 'Delete' || isDue(is);
    if (there && !suspended && !waits && !yields && doc.epoch === before.epoch)
      return 'IntentFirst: the intent of a removal is dropped';
  }
  if (
    was?.kind === 'Restore' &&
    was.suspended?.kind === 'Remove' &&
    is?.kind === 'Remove' &&
    is.id !== was.suspended.id
  )
    return 'IntentFirst: the intent of a removal that waits is dropped';
  if (is?.kind === 'Delete' && is.step === 'scale' && !(was?.kind === 'Delete' && was.step === 'scale')) {
    const isTaken = world.jobs.some((j) => j.kind === 'final' && j.op === is.id && j.state === 'Succeeded');
    if (needsFinalBackup(world) && !isTaken) return 'a deletion goes on without its final backup';
  }
  if (is?.kind === 'Defragment' && is.present && was?.kind === 'Defragment' && !was.present) {
    if (!allUp(world) || young) return 'a defragmentation while a voter is down';
    if (world.tight) return 'a defragmentation without room';
  }
  const course = was && checkCourse(world, before, doc, was);
  if (course) return course;
  if (!is || is.id === was?.id) return undefined;
  // A suspended operation returns, and checks its guards again before any effect.
  if (was && 'suspended' in was && was.suspended?.id === is.id) return undefined;
  const suspends = 'suspended' in is && is.suspended?.id === was?.id;
  const gives = was?.kind === 'Remove' && (isDue(is) || is.kind === 'Delete');
  // A restore that is blocked past its fence is superseded by another.
  const instead = was?.kind === 'Restore' && is.kind === 'Restore' && before.phase === 'Restoring';
  // Before its fence a restore yields to the removal of a member with a lost volume.
  const yields = was?.kind === 'Restore' && is.kind === 'Remove' && is.why === 'Dead' && before.phase !== 'Restoring';
  if (was && !suspends && !gives && !instead && !yields) return 'OneOperation: a second op takes the slot';
  if (is.kind === 'Remove' && is.step === 'claim') return checkClaimOp(world, is);
  if (is.kind === 'Remove') return checkRemoveOp(world, is, young) ?? checkLoss(world, is.memberId);
  if (is.kind === 'AddLearner') return checkAddOp(world, is);
  if (is.kind === 'Promote') return checkPromoteOp(world, is, young);
  if (is.kind === 'ClearNoSpace' && world.spec?.report) return 'space is cleared although onNoSpace is Report';
  if (is.kind === 'ClearNoSpace' && !current(world)?.noSpace) return 'space is cleared without an alarm';
  if (is.kind === 'ClearNoSpace') return allUp(world) ? undefined : 'maintenance while a voter is down';
  if (is.kind === 'Defragment' || is.kind === 'MoveLeader') return checkMaintenance(world, before, is.kind, young);
  if (is.kind === 'Delete' && !world.spec?.finalizer) return 'a deletion does what nobody waits for';
  const backsUp = is.kind === 'Upgrade' || (is.kind === 'Restore' && is.step === 'backup');
  if (backsUp && world.jobs.some((j) => j.kind === 'pre-upgrade' && j.refused && !j.deleting))
    return 'a backup is tried again that the store refuses';
  if (is.kind === 'Restore' || is.kind === 'Recover') return checkRestoreOp(world, before, is, young);
  if (is.kind === 'Upgrade') return checkUpgradeOp(world, young) ?? checkTarget(world, is.to);
  if (is.kind === 'DeletePod') return checkRestartOp(world, doc, is);
  return undefined;
}

/** Somebody asks for it, it was not tried before, and nothing else is to be done. */
function checkMaintenance(world: World, { maintenance }: RecordDoc, kind: string, young: boolean) {
  const name = kind === 'Defragment' ? 'defragment' : 'moveLeader';
  const request = world.spec?.maintenance?.[name];
  if (!request) return 'maintenance that nobody asks for';
  if (Date.parse(request.at) <= Date.parse(maintenance?.[name]?.at ?? '')) return 'TriedOnce: a request is tried again';
  if (Date.parse(request.at) > NOW) return 'maintenance before its time';
  const missing = notWanted(world);
  if (missing && !missing.endsWith('is asked for') && missing !== 'NOSPACE') return `maintenance although ${missing}`;
  if (kind === 'Defragment' && world.backup) return 'a defragmentation beside a backup';
  return allUp(world) && !young ? undefined : 'maintenance while a voter is down';
}

function checkTarget(world: World, to: string): string | undefined {
  if (!world.spec?.schedule) return 'an upgrade’s backup without a schedule';
  if (shortMinor(to) !== shortMinor(world.spec.version)) return 'an upgrade to what the EtcdCluster does not name';
  return shortMinor(to) === shortMinor(world.sts?.version ?? '')
    ? undefined
    : 'an upgrade to what the template does not name';
}

function checkRestartOp(world: World, doc: RecordDoc, { ordinal }: OpOf<'DeletePod'>): string | undefined {
  const pod = world.pods[ordinal];
  if (isUp(pod) && !pod.image && current(world)?.members.some((m) => m.learner)) return 'a restart beside a learner';
  if (isTooOld(world)) return 'a restart onto an older minor than the cluster’s';
  return mayStart(world, doc) ? undefined : 'a restart onto a version that is refused';
}

/** etcd of the template's version exits with "invalid downgrade". */
const isTooOld = (world: World): boolean =>
  Number(shortMinor(world.sts?.version ?? '').split('.')[1]) < (current(world)?.minor ?? 0);

function checkAddOp(world: World, { ordinal, volumeId }: OpOf<'AddLearner'>): string | undefined {
  const cluster = current(world);
  if (cluster?.members.some((m) => m.learner)) return 'a learner is to be added beside a learner';
  if (cluster?.members.some((m) => m.ordinal === ordinal)) return 'a member is to be added where one is';
  if (!volumeId || world.volumes[ordinal]?.volumeId !== volumeId) return 'a member is to be added for no volume';
  if (cluster && !memberAdd(cluster, liveness(world, cluster), world.truth.rule, { id: 'new', ordinal }).ok)
    return 'a member is to be added that etcd would refuse';
  return ordinal < (world.spec?.size ?? 0) ? undefined : 'a member is to be added that nobody wants';
}

function checkPromoteOp(world: World, op: OpOf<'Promote'>, young: boolean): string | undefined {
  const cluster = current(world)!;
  const { upToDate } = liveness(world, cluster);
  if (!upToDate.has(op.memberId)) return 'a learner that lags is to be promoted';
  return allUp(world) && !young ? undefined : 'a promotion while a voter is down';
}

/** Voters that wait for this allowance do not count. */
export function checkUpgradeOp(world: World, young: boolean): string | undefined {
  if (current(world)!.members.some((m) => m.learner)) return 'an upgrade begins beside a learner';
  const cluster = current(world)!;
  if (cluster.noSpace || cluster.corrupt) return 'an upgrade begins under an alarm';
  const { upToDate } = liveness(world, cluster);
  const waits = (ordinal: number): boolean => world.pods[ordinal]?.reason === 'VersionRefused';
  const well = votersOf(cluster).every((m) => upToDate.has(m.id) || waits(m.ordinal));
  return well && !young ? undefined : 'an upgrade begins with a member down';
}

/** Checks how an operation goes on and ends. */
function checkCourse(
  world: World,
  before: RecordDoc,
  doc: RecordDoc,
  was: NonNullable<RecordDoc['op']>,
): string | undefined {
  const is = doc.op?.id === was.id ? doc.op : undefined;
  const step = is && 'step' in is ? is.step : undefined;
  if (was.kind === 'Remove' && was.step === 'claim' && !is) {
    const claim = world.claims[was.ordinal];
    if (claim && claim.uid === was.claimUid && !claim.deleting) return 'a claim stays that was to go';
  }
  if (was.kind !== 'Restore' && was.kind !== 'Recover') return undefined;
  const failedBackup = world.jobs.some((j) => j.kind === 'recovery' && j.state === 'Failed');
  if (was.step === 'backup' && step === 'salvage' && !failedBackup)
    return 'LiveSurvivorFirst: a survivor is restarted that could be backed up';
  const failedBefore = world.jobs.some(
    (j) => j.kind === 'safety' && j.op === was.id && j.state === 'Failed' && !j.deleting,
  );
  if (was.step === 'fence' && step === 'safety' && failedBefore)
    return 'a safety backup is to come of the Job that failed before';
  const unreported = world.restores.some((r) => r.uid === was.args.uid && !r.phase);
  if (was.step === 'report' && !is && unreported) return 'an EtcdRestore does not report that it failed';
  // With ignoreUnreachablePods a person has decided it.
  const waits = !was.args.ignoreUnreachablePods && world.pods.some((p) => p);
  if (was.step === 'drain' && step === 'seed' && waits) return 'DrainedBeforeSeed: an old pod is still there';
  const failed = is && 'args' in is ? is.args.failed : undefined;
  const mayFail =
    world.tight ||
    world.store.some((s) => s.replaced) ||
    world.jobs.some((j) => j.state === 'Failed' || j.stuck) ||
    (was.args.safetyBackup && !world.spec?.schedule);
  const isStuck = !was.args.failed && failed?.reason === 'RestoreBlocked';
  const isQueued = world.restores.some((r) => r.uid !== was.args.uid && !r.phase);
  if (isStuck && !isQueued && !serves(world)) return 'a restore is given up although nothing else can be done';
  const isGivenUp = !is && doc.failure?.reason === 'RestoreBlocked';
  if (isGivenUp && was.args.id.startsWith('origin:')) return 'an origin is given up, which waits for its snapshot';
  if (failed && !was.args.failed && !mayFail) return 'a restore is called failed that did not fail';
  if (
    before.phase === 'Restoring' &&
    !before.seeded &&
    !doc.seeded &&
    doc.op?.kind !== was.kind &&
    doc.op?.kind !== 'Delete'
  )
    return 'a restore is dropped past its fence';
  const dropped =
    !is && doc.op?.kind !== 'Remove' && doc.epoch === before.epoch && doc.seeded && !(before.phase === 'Restoring');
  return dropped && !doc.failure ? checkDropped(world, was) : undefined;
}

/** Checks the end of a restore before its fence. */
function checkDropped(world: World, was: OpOf<'Restore' | 'Recover'>): string | undefined {
  const { id, failed } = was.args;
  if (id.startsWith('roll:')) return undefined;
  if (id.startsWith('recovery:')) {
    const { survivor } = was.args;
    if (survivor && !world.volumes.some((v) => v?.wal?.member === survivor.memberId)) return undefined;
    const asked = world.spec?.recovery?.acceptDataLoss && id === `recovery:${world.spec.recovery.id}`;
    return asked && !failed && !serves(world) && !world.spec?.deleting
      ? 'a recovery that is needed is dropped'
      : undefined;
  }
  const open = world.restores.some((r) => r.uid === was.args.uid && !r.phase);
  const isKept = world.sts?.image || hasWrongTemplate(world) || hearsNothingOf(world.pods[0]);
  const cannotGoOn = was.step === 'fence' && isKept;
  return open && !cannotGoOn && !world.spec?.deleting ? 'a restore is dropped that nobody took back' : undefined;
}

/** Checks the deletion of a claim that is left over from a shrink (protocol.md: NoDataDeleted). */
function checkClaimOp(world: World, op: OpOf<'Remove'>): string | undefined {
  const { spec } = world;
  if (spec?.onShrink !== 'Delete' || op.ordinal < spec.size)
    return 'NoDataDeleted: a claim is to be deleted without a word of a human';
  if (world.claims[op.ordinal]?.deleting) return 'a claim is to be deleted that is going already';
  const member = current(world)?.members.some((m) => m.ordinal === op.ordinal);
  return member || world.pods[op.ordinal] ? 'NoDataDeleted: a claim in use is to be deleted' : undefined;
}

/** Its volume lacks what the member had acknowledged when it was marked. */
function isSetBack(world: World, ordinal: number, memberId: string): boolean {
  const { wal } = world.volumes[ordinal] ?? {};
  const { reached } = world.record?.doc.members[ordinal] ?? {};
  return wal?.member === memberId && raftIndex(current(world)!, wal.at) < (reached?.index ?? 0);
}

function checkRemoveOp(world: World, op: OpOf<'Remove'>, young: boolean): string | undefined {
  const { spec, record } = world;
  const cluster = current(world);
  const member = cluster?.members.find((m) => m.id === op.memberId);
  if (!spec || !cluster || !member) return 'an op to remove what is no member';
  if (member.ordinal < 0) return 'a member is removed that was added by hand';
  const discard = spec.force.some((f) => f.ordinal === op.ordinal && f.discardVolume && f.memberId === op.memberId);
  const shrunk = op.why === 'Shrink' && spec.onShrink === 'Delete';
  if (op.claimUid && !discard && !shrunk) return 'NoDataDeleted: a claim is to be deleted without a word of a human';
  const volume = world.volumes[op.ordinal];
  const lost = volume?.wal?.member !== member.id;
  switch (op.why) {
    case 'Dead':
      if (spec.manual) return 'a dead member is removed although the policy is Manual';
      if (young) return 'evidence of a moment counts';
      if (isSetBack(world, op.ordinal, member.id)) return undefined;
      if (!volume?.volumeId || volume.volumeId === record?.doc.members[op.ordinal]?.volumeId)
        return 'a removal without evidence';
      return lost ? undefined : 'a member with its volume is called dead';
    case 'Forced':
      if (discard && !op.claimUid && world.claims[op.ordinal]) return 'a volume stays that is to be discarded';
      return spec.force.some((f) => f.memberId === op.memberId && f.ordinal === op.ordinal)
        ? undefined
        : 'a forced removal that nobody asked for';
    case 'Learner': {
      if (!member.learner) return 'a voter is collected as a learner';
      if (discard && !op.claimUid && world.claims[op.ordinal]) return 'a volume stays that is to be discarded';
      const bound = record?.doc.permits[op.ordinal];
      const forced = spec.force.some((f) => f.memberId === op.memberId);
      const wanted = op.ordinal < spec.size && bound?.memberId === member.id && bound.volumeId === volume?.volumeId;
      const refusedVersion = world.pods[op.ordinal]?.reason === 'VersionRefused';
      return wanted && !forced && !refusedVersion ? 'a learner that can join is collected' : undefined;
    }
    case 'Shrink': {
      if (op.ordinal < spec.size) return 'a wanted member is removed to shrink';
      if (record!.doc.versions.allowedMinors.length > 1)
        return 'SizeWaitsForUpgrade: shrunk while an upgrade is half done';
      const { upToDate } = liveness(world, cluster);
      const well = cluster.members.every((m) => m.ordinal >= spec.size || upToDate.has(m.id));
      return well && !young ? undefined : 'shrunk onto a broken set';
    }
    case 'Roll':
      if (young || !othersUp(world, member.id) || cluster.members.some((m) => m.learner))
        return 'a member is rolled while another is away';
      if (isTooOld(world)) return 'a member is rolled onto an older minor than the cluster’s';
      if (!mayStart(world, record!.doc)) return 'a member is rolled onto a version that is refused';
      return spec.ephemeral ? undefined : 'a member with a volume claim is rolled by removal';
  }
}

/** Another survivor could have been chosen that has more writes. */
function hasLess(world: World, { args }: OpOf<'Restore' | 'Recover'>): boolean {
  if (world.spec?.recovery?.survivor !== undefined || world.spec?.ephemeral) return false;
  const of =
    current(world)
      ?.members.filter((m) => !m.learner)
      .map((m) => m.id) ?? [];
  const there = world.volumes.flatMap((v, i) =>
    v?.wal && of.includes(v.wal.member) && !world.pods[i]?.cut ? [v.wal] : [],
  );
  const taken = there.find((wal) => wal.member === args.survivor?.memberId);
  return taken !== undefined && there.some((wal) => wal.at > taken.at);
}

function checkRestoreOp(
  world: World,
  before: RecordDoc,
  op: OpOf<'Restore' | 'Recover'>,
  young: boolean,
): string | undefined {
  const { id } = op.args;
  if (world.spec?.deleting) return 'a restore begins in a cluster that is being deleted';
  if (op.kind === 'Recover' && (serves(world) || young)) return 'a recovery although a quorum may serve';
  if (op.kind === 'Recover' && hasLess(world, op)) return 'a survivor is taken although another has more';
  if (op.kind === 'Recover' && !world.spec?.schedule) return 'a recovery with nowhere to store the survivor’s data';
  // A rebuilt record has forgotten one if neither agents nor statuses know of it any more.
  const isFormer = before.restores.length === 0 && world.truth.restored.includes(id);
  const isRestored = isFormer || before.restores.some((r) => r.id === id);
  if (isRestored) return 'RestoredOnce: a restore begins a second time';
  const asked = world.restores.find((r) => r.name === id);
  const hash = asked?.hash;
  const inFlight = before.op && 'args' in before.op ? before.op.args.id : undefined;
  const isBornAfter = before.restores.some((r) => r.id.startsWith('origin:'));
  if (asked && isBornAfter && !asked.later)
    return 'RestoredOnce: an EtcdRestore of before discards what the cluster was born from';
  if (world.truth.failed?.includes(id)) return 'a restore begins that failed before, of which nobody thinks any more';
  if (before.restores.some((r) => r.specHash === hash && r.id !== inFlight))
    return 'RestoredOnce: a restore begins again under another name';
  if (id.startsWith('recovery:'))
    return world.spec?.recovery?.acceptDataLoss ? undefined : 'a recovery without the acknowledgement';
  if (id.startsWith('origin:'))
    return world.spec?.origin && before.epoch === 0 ? undefined : 'an origin into a cluster that exists';
  if (id.startsWith('roll:') && !world.spec?.schedule) return 'a roll by restore without a schedule';
  if (id.startsWith('roll:') && young) return 'a roll of what is not known to be stable';
  if (id.startsWith('roll:') && !(allUp(world) && mayStart(world, before)))
    return 'a roll of what is down, or onto what is refused';
  if (id.startsWith('roll:'))
    return world.spec?.ephemeral && world.spec.size === 1 ? undefined : 'a roll by restore of what can be rolled';
  if (world.sts?.image) return 'a restore begins that cannot go on';
  return world.restores.some((r) => r.name === id && !r.phase) ? undefined : 'a restore that nobody asked for';
}
