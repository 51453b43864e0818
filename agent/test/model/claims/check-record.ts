import type { Permit, RecordDoc } from '../../../src/protocol/record.ts';
import { minorsUp } from '../../../src/protocol/versions.ts';
import { raftIndex, votersOf } from '../world/etcd.ts';
import { hearsNothingOf, isUp } from '../world/processes.ts';
import type { World } from '../world/world.ts';
import { checkOp, checkUpgradeOp } from './check-op.ts';
import { checkTransport, hasWrongTemplate } from './check-transport.ts';
import { allUp, current, type OpOf, ownBackups, serves, shortMinor } from './truth.ts';

/** Checks what is written into the record. */

export function checkRecord(world: World, doc: RecordDoc, young: boolean, justFailed: boolean): string | undefined {
  const before = world.record?.doc;
  if (!before) return checkFirst(world, doc);
  if (doc.clusterUid !== before.clusterUid) return 'the record changes its cluster uid';
  if (doc.epoch < before.epoch || doc.minEpoch < before.minEpoch) return 'an epoch goes back';
  if (doc.minEpoch > doc.epoch) return 'the minEpoch is above the epoch';
  return (
    checkEpoch(world, before, doc) ??
    checkAgain(before, doc, justFailed) ??
    checkFacts(world, before, doc, young) ??
    checkOp(world, before, doc, young) ??
    checkRecovered(world, before, doc) ??
    checkFailure(world, before, doc) ??
    checkRequests(world, before, doc, young) ??
    checkPermits(world, before, doc) ??
    checkVersions(world, before, doc, young) ??
    checkTransport(world, before, doc, young)
  );
}

/** Checks that a recovery that counts as done was not needed. */
function checkRecovered(world: World, before: RecordDoc, doc: RecordDoc): string | undefined {
  if (doc.lastRecoveryId === before.lastRecoveryId || before.op?.kind === 'Recover') return undefined;
  return serves(world) ? undefined : 'a recovery that is needed is taken as done';
}

function checkAgain(before: RecordDoc, doc: RecordDoc, justFailed: boolean): string | undefined {
  const { op } = doc;
  if (!justFailed || !op || op.id === before.op?.id) return undefined;
  const roll = 'args' in op && op.args.id.startsWith('roll:') ? 'Restore roll:' : op.kind;
  if (roll === 'Restore') return undefined;
  return before.failure?.of.startsWith(roll) ? 'what has just failed is tried again at once' : undefined;
}

/** Checks that the facts in the record are true. */
function checkFacts(world: World, before: RecordDoc, doc: RecordDoc, young: boolean): string | undefined {
  const claim = world.claims[0];
  if (doc.seeded && !before.seeded && world.pods[0]?.image) return 'a seed counts that runs another version';
  if (doc.seeded && !before.seeded && isSetBack(world, doc))
    return 'a seed counts whose version nobody asks for any more';
  if (doc.seeded && !before.seeded && claim && claim.epoch !== doc.epoch) return 'seeded before its claim says so';
  for (const [i, member] of Object.entries(doc.members)) {
    if (member.restartedOn === undefined || member.restartedOn === before.members[i]?.restartedOn) continue;
    const pod = world.pods[Number(i)];
    const op = before.op?.kind === 'DeletePod' ? before.op : undefined;
    if (op && pod?.uid === op.podUid && !pod.terminating) return 'a restart is recorded that was none';
  }
  const grown = before.seeded && before.phase === 'Seeding' && doc.phase === 'Running';
  const voters = grown ? votersOf(current(world)!).length : Number.POSITIVE_INFINITY;
  if (voters < (world.spec?.size ?? 0)) return 'a new cluster is called grown that is not';
  if (hasFalseMark(world, before, doc)) return 'a member is said to have reached what its volume does not have';
  if (releasesSnapshots(world, before, doc)) return 'a snapshot that an EtcdRestore names may be deleted';
  if (forgetsRestart(world, before, doc)) return 'a restart is forgotten';
  const { finalizedIndex } = doc.versions;
  const marked = finalizedIndex && finalizedIndex !== before.versions.finalizedIndex && before.seeded;
  if (marked && !(allUp(world) && !young && current(world)?.minor === 6)) return 'Settle begins while a voter is down';
  return checkSpace(world, before, doc);
}

/** With such a mark a gate refuses data that are whole. */
const hasFalseMark = (world: World, before: RecordDoc, doc: RecordDoc): boolean =>
  Object.entries(doc.members).some(([i, { memberId, reached }]) => {
    if (!reached || reached.index === before.members[i]?.reached?.index) return false;
    const { wal } = world.volumes[Number(i)] ?? {};
    const cluster = current(world);
    return !cluster || wal?.member !== memberId || raftIndex(cluster, wal.at) < reached.index;
  });

/** As long as an EtcdRestore exists, retention keeps what it restored and what it replaced. */
const releasesSnapshots = (world: World, before: RecordDoc, doc: RecordDoc): boolean =>
  before.restores.some(
    ({ id, snapshots }) =>
      snapshots &&
      world.restores.some(({ name }) => name === id) &&
      !doc.restores.some((now) => now.id === id && now.snapshots),
  );

/** A restart that counts for an upgrade to 3.6 is not recorded. */
function forgetsRestart(world: World, { op }: RecordDoc, doc: RecordDoc): boolean {
  if (op?.kind !== 'DeletePod' || doc.op || op.version !== op.nextVersion) return false;
  const pod = world.pods[op.ordinal];
  const member = doc.members[op.ordinal];
  const gone = pod?.uid !== op.podUid || pod.terminating === true;
  return gone && member !== undefined && member.restartedOn !== op.nextVersion;
}

function checkSpace(world: World, before: RecordDoc, { op }: RecordDoc): string | undefined {
  const cluster = current(world);
  if (op?.kind !== 'ClearNoSpace' || !cluster?.noSpace) return undefined;
  const old = before.op?.kind === 'ClearNoSpace' && before.op.id === op.id ? before.op.done : [];
  const { small, compacted, of } = cluster.noSpace;
  const wasDeep = before.op?.kind === 'ClearNoSpace' && before.op.deep;
  if (op.deep && !wasDeep && compacted && of !== 'values') return 'history is dropped that needs no space';
  if (op.done.some((id) => !old.includes(id) && !small.includes(id))) return 'called defragmented, but is not';
  if (op.step === 'disarm' && !votersOf(cluster).every((m) => small.includes(m.id)))
    return 'disarming begins before every database has room';
  return undefined;
}

function checkFailure(world: World, before: RecordDoc, doc: RecordDoc): string | undefined {
  if (!doc.failure || JSON.stringify(doc.failure) === JSON.stringify(before.failure)) return undefined;
  const cluster = current(world);
  const { noSpace } = cluster ?? {};
  if (doc.failure.of === 'ClearNoSpace') {
    const large = noSpace && cluster && !votersOf(cluster).every((m) => noSpace.small.includes(m.id));
    if (large && noSpace.of !== 'values' && !world.tight) return 'clearing space is given up while it can be freed';
    return large ? undefined : 'clearing space is called failed that did not fail';
  }
  if (doc.failure.of.startsWith('Recover')) {
    const survivor = before.op?.kind === 'Recover' ? before.op.args.survivor?.memberId : undefined;
    const lost = !world.volumes.some((v) => v?.wal?.member === survivor);
    const failed = lost || world.jobs.some((j) => j.state === 'Failed') || world.store.some((s) => s.replaced);
    return failed ? undefined : 'a recovery is called failed that did not fail';
  }
  if (doc.failure.of.startsWith('Restore roll:')) {
    const cannotGoOn = world.sts?.image || hasWrongTemplate(world) || hearsNothingOf(world.pods[0]);
    const failed = cannotGoOn || world.jobs.some((j) => j.state === 'Failed' || j.stuck) || !world.spec?.schedule;
    return failed ? undefined : 'a roll is called failed that did not fail';
  }
  if (!doc.failure.of.startsWith('Upgrade')) return undefined;
  const failed = world.jobs.some((j) => j.kind === 'pre-upgrade' && (j.state === 'Failed' || j.stuck));
  return failed ? undefined : 'an upgrade is called failed that did not fail';
}

/** Checks what is said of the requests of spec.maintenance. */
function checkRequests(world: World, before: RecordDoc, doc: RecordDoc, young: boolean): string | undefined {
  for (const kind of ['defragment', 'moveLeader'] as const) {
    const [was, is] = [before.maintenance?.[kind], doc.maintenance?.[kind]];
    if (JSON.stringify(was) === JSON.stringify(is)) continue;
    if (!is || Date.parse(is.at) < Date.parse(was?.at ?? '')) return 'TriedOnce: a request is forgotten';
  }
  const { op } = before;
  if (doc.op || (op?.kind !== 'Defragment' && op?.kind !== 'MoveLeader')) return undefined;
  const said = doc.maintenance?.[op.kind === 'MoveLeader' ? 'moveLeader' : 'defragment']?.phase;
  if (said === 'Failed' && !hasFailed(world, op)) return 'a request is called failed that did not fail';
  if (said === 'Failed' && op.kind === 'Defragment' && op.present && !allUp(world) && young)
    return 'a member that may be being defragmented is given up at once';
  const { done } = world.memory;
  if (said === 'Completed' && op.kind === 'MoveLeader' && done.length === 0 && current(world)?.leader !== op.to)
    return 'the leader is called moved, but is not';
  const over = op?.kind === 'Defragment' && !doc.op && doc.maintenance?.defragment?.phase === 'Completed';
  if (!over) return undefined;
  const { defragmented = [] } = world.truth;
  const wanted = votersOf(current(world)!).filter((m) => (op.ordinal ?? m.ordinal) === m.ordinal);
  return wanted.every((m) => defragmented.includes(`defragment ${op.id} ${m.id}`))
    ? undefined
    : 'a defragmentation is called completed that is not';
}

/** Its call failed, or may be another process's; a member is down, or has no room. */
function hasFailed(world: World, op: OpOf<'Defragment' | 'MoveLeader'>): boolean {
  const by = op.kind === 'MoveLeader' ? op.by : op.present?.by;
  const isTried = (by !== undefined && by !== world.memory.self) || world.memory.failed !== undefined;
  const { spec, restores } = world;
  const isGone = op.kind === 'MoveLeader' && !votersOf(current(world)!).some((m) => m.id === op.to);
  const gaveWay =
    op.kind === 'Defragment' &&
    (world.backup ||
      spec?.deleting ||
      current(world)?.noSpace ||
      restores.some((r) => !r.phase) ||
      world.pods.some((p) => p && (p.version !== world.sts?.version || p.change !== world.sts.change)));
  const leads = op.kind === 'Defragment' && world.memory.done.some((key) => key.startsWith('move the leader'));
  const isWithdrawn = op.kind === 'Defragment' && spec?.maintenance?.defragment?.at !== op.at;
  return isTried || world.tight === true || !allUp(world) || isGone || Boolean(gaveWay) || leads || isWithdrawn;
}

/** Checks the first or the rebuilt record (protocol.md: NoSecondBootstrap). */
function checkFirst(world: World, doc: RecordDoc): string | undefined {
  const data =
    world.volumes.some((v) => v?.wal && world.truth.seeded.includes(v.wal.cluster)) ||
    world.claims.some((c) => c?.clusterUid) ||
    world.statusEpoch !== undefined;
  if (doc.epoch === 0 && (world.spec?.size ?? 0) < 1) return 'a cluster begins that cannot be';
  if (data && doc.epoch === 0) return 'NoSecondBootstrap: a first record although there was a cluster';
  if (!data && doc.epoch > 0 && !world.volumes.some((v) => v?.wal)) return 'a record is rebuilt from nothing';
  if (doc.epoch === 0) return undefined;
  if (!world.truth.began.some((epoch) => epoch.startsWith(`${doc.clusterUid} `)))
    return 'a record is rebuilt of another cluster';
  if (Object.keys(doc.members).length === 0) return 'a record is rebuilt that knows no member';
  const fenced = Math.max(world.sts?.minEpoch ?? 0, world.statusEpoch ?? 0, ...world.claims.map((c) => c?.epoch ?? 0));
  if (doc.epoch < fenced) return 'OldEpochNeverServes: a record is rebuilt from data of an epoch that is over';
  if (world.read?.restores.some((each) => !doc.restores.some(({ id }) => id === each.id)))
    return 'RestoredOnce: a rebuilt record has forgotten a restore that its members know of';
  if (doc.restores.some(({ id }) => !world.truth.restored.includes(id)))
    return 'a rebuilt record knows of a restore that never happened';
  if (world.restores.some((r) => r.phase === 'Completed' && !doc.restores.some(({ id }) => id === r.name)))
    return 'RestoredOnce: a rebuilt record has forgotten a restore';
  const newest = Math.max(0, ...world.clusters.map((c) => c.epoch));
  return doc.epoch === newest ? undefined : `NoSecondBootstrap: rebuilt with epoch ${doc.epoch}, but it is ${newest}`;
}

function checkEpoch(world: World, before: RecordDoc, doc: RecordDoc): string | undefined {
  if (doc.epoch === before.epoch)
    return doc.token === before.token ? undefined : 'FreshTokenPerEpoch: the token changes within an epoch';
  if (doc.epoch !== before.epoch + 1) return 'an epoch is skipped';
  if (doc.token === before.token) return 'FreshTokenPerEpoch: a new epoch with the old token';
  if (doc.minEpoch === before.minEpoch)
    return before.seeded ? 'a seeded cluster is bootstrapped again' : anew(before, doc);
  const id = doc.restores.at(-1)?.id;
  if (!id || before.restores.some((r) => r.id === id)) return 'RestoredOnce: a fence without a restore of its own';
  const op = before.op;
  if (op?.kind !== 'Restore' && op?.kind !== 'Recover') return 'a fence without an op';
  const { id: asked, uid, specHash } = op.args;
  const isThere = world.restores.some((r) => r.name === asked && (r.uid === uid || r.hash === specHash));
  if (!asked.includes(':') && !isThere && !world.spec?.deleting) return 'fenced although its EtcdRestore was deleted';
  if (world.sts?.image) return 'fenced on an image of another version';
  if (world.tight && before.phase !== 'Restoring') return 'fenced although the seed has no room';
  if (op.kind === 'Recover' && serves(world)) return 'fenced although the quorum is back';
  if (!world.jobs.some((j) => j.kind === 'restore' && j.op === op.id && j.serving))
    return 'VerifiedBeforeFence: fenced before the snapshot was verified';
  const safety = op.args.safetyBackup && !op.args.id.includes(':');
  const saved = ownBackups(world) > 0;
  return safety && serves(world) && !saved ? 'fenced without the safety backup' : undefined;
}

/** Nothing lower would ever run on its data. */
const isSetBack = ({ sts }: World, { versions }: RecordDoc): boolean =>
  sts !== undefined && minorsUp(versions.current, shortMinor(sts.version)) < 0;

/** An epoch that begins without a permit makes the gate move the data of its seed away. */
function anew(before: RecordDoc, doc: RecordDoc): string | undefined {
  const isFence = before.phase === 'Seeding' && doc.phase === 'Restoring';
  if (doc.permits[0] || isFence) return undefined;
  if (before.phase === 'Restoring') return 'the seed of a restore is given up';
  const isOlder = minorsUp(before.versions.current, doc.versions.current) < 0;
  return isOlder ? undefined : 'data are moved away that etcd could start on';
}

function checkPermits(world: World, before: RecordDoc, doc: RecordDoc): string | undefined {
  for (const permit of Object.values(doc.permits)) {
    if (before.permits[permit.ordinal]?.id === permit.id) continue;
    const wrong = checkPermit(world, before, doc, permit);
    if (wrong) return wrong;
  }
  return undefined;
}

function checkPermit(world: World, before: RecordDoc, doc: RecordDoc, permit: Permit): string | undefined {
  if (permit.epoch !== doc.epoch || permit.token !== doc.token) return 'a permit of another epoch';
  if (!permit.volumeId) return 'a permit for any volume';
  if (permit.mode === 'new' && (permit.ordinal !== 0 || before.seeded || doc.minEpoch > before.minEpoch))
    return 'OneSeedPerEpoch: a permit `new` that is not the seed’s';
  if ((permit.mode === 'new' || permit.mode === 'restore') && world.sts?.image)
    return 'a seed gets its permit on an image of another version';
  if (permit.mode === 'restore' && (permit.ordinal !== 0 || doc.phase !== 'Restoring'))
    return 'a restore permit out of its step';
  if (permit.mode === 'restore' && world.pods[0]?.minEpoch !== doc.minEpoch)
    return 'a restore permit for a pod of a stale template';
  if (before.op?.kind === 'Remove' && before.op.memberId === permit.memberId)
    return 'a permit for a member that is to be removed';
  const again = before.permits[permit.ordinal];
  if (permit.mode === 'salvage' && again?.mode === 'salvage' && again.volumeId === permit.volumeId)
    return 'a second permit to salvage the same volume';
  if (permit.mode === 'new' && before.permits[0]?.mode === 'new' && before.permits[0].volumeId === permit.volumeId)
    return 'OneSeedPerEpoch: a second permit for one seed';
  if (permit.mode !== 'existing') return undefined;
  const member = current(world)?.members.find((m) => m.id === permit.memberId);
  if (!member || member.ordinal !== permit.ordinal) return 'a permit for what is no member there';
  const old = before.permits[permit.ordinal];
  const named = old?.memberId === permit.memberId && old?.volumeId !== permit.volumeId;
  const { wal, identity } = world.volumes[permit.ordinal] ?? {};
  if (wal?.member === member.id && identity?.volumeId === permit.volumeId) return undefined;
  return member.started || named
    ? 'OneVolumePerMember: a permit for a member id that another volume may hold'
    : undefined;
}

/** Every allowed minor is that of the seed's data or one above. */
function startsOnSeed(world: World, { epoch, versions }: RecordDoc): boolean {
  const { wal, identity } = world.volumes[0] ?? {};
  if (!wal || identity?.epoch !== epoch) return true;
  const minor = (version: string): number => Number(version.split('.')[1]);
  return versions.allowedMinors.every((m) => [0, 1].includes(minor(m) - minor(identity.version)));
}

function checkVersions(world: World, before: RecordDoc, doc: RecordDoc, young: boolean): string | undefined {
  const added = doc.versions.allowedMinors.filter((m) => !before.versions.allowedMinors.includes(m));
  if (!before.seeded && doc.epoch === before.epoch && !startsOnSeed(world, doc))
    return 'OneMinorPerStep: a minor is allowed that does not start on the seed’s data';
  const cluster = current(world);
  if (!cluster || before.epoch === 0 || doc.epoch !== before.epoch) return undefined;
  const gone = before.versions.allowedMinors.filter((m) => !doc.versions.allowedMinors.includes(m));
  for (let i = 0; i < world.pods.length; i++) {
    const pod = world.pods[i];
    const runs = pod && cluster.members.some((m) => m.id === world.volumes[i]?.wal?.member);
    if (runs && isUp(pod) && gone.includes(shortMinor(pod.version))) return 'a minor is refused that a member runs';
  }
  const next = shortMinor(world.sts?.version ?? '');
  if (gone.includes(next) && Number(next.split('.')[1]) >= cluster.minor)
    return 'a minor is refused that the next pod will have';
  for (const minor of added) {
    const to = Number(minor.split('.')[1]);
    if (to > cluster.minor + 1) return 'OneMinorPerStep: a skipped minor is allowed';
    if (to < cluster.minor) return 'OneMinorPerStep: an older minor than the cluster’s is allowed';
    const wrong = to > cluster.minor && before.op?.kind !== 'Upgrade' ? checkUpgradeOp(world, young) : undefined;
    if (wrong) return wrong;
    if (minor !== shortMinor(world.sts?.version ?? '')) return 'a minor is allowed that nobody asks for';
    if (to > cluster.minor && world.spec?.requiredForUpgrade && ownBackups(world) === 0)
      return 'an upgrade begins without the backup that it requires';
  }
  return undefined;
}
