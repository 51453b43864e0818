import type { Effect } from '../../../src/controllers/port/effect.ts';
import type { RecordDoc, RestoreOp } from '../../../src/protocol/record.ts';
import { parseRecord } from '../../../src/protocol/record-schema.ts';
import { fresh, violated, withClaim, withPod } from './change.ts';
import {
  type Answer,
  type Cluster,
  canCommit,
  INDEX_UNIT,
  memberAdd,
  memberPromote,
  memberRemove,
  memberUpdate,
  moveLeader,
} from './etcd.ts';
import { clusterById, liveness, settled, withCluster } from './processes.ts';
import type { Job, Snapshot, World } from './world.ts';

export interface Applied {
  readonly world: World;
  /** Why the effect was refused; the world is then unchanged. */
  readonly error?: string;
}

/** Applies an effect to the world, whoever sends it and however late it arrives. */
export function apply(world: World, effect: Effect): Applied {
  switch (effect.kind) {
    case 'WriteRecord':
      return writeRecord(world, effect);
    case 'DeleteRecord':
      return world.record?.rv === effect.basedOn ? ok({ ...world, record: undefined }) : conflict(world);
    case 'ScaleTo':
      return template(world, effect.basedOn, { replicas: effect.replicas });
    case 'AnnotateEpoch':
      return template(world, effect.basedOn, { minEpoch: effect.epoch });
    case 'AnnotateRoots':
      return template(world, effect.basedOn, { roots: effect.roots });
    case 'AnnotateClaim':
      return annotateClaim(world, effect);
    case 'DeletePod': {
      const pod = world.pods[effect.ordinal];
      if (pod?.uid !== effect.uid) return conflict(world);
      if (effect.evict && world.noEviction) return { world, error: 'refused' };
      return ok(withPod(world, effect.ordinal, { ...pod, terminating: true }));
    }
    case 'DeleteClaim': {
      const claim = world.claims[effect.ordinal];
      if (claim?.uid !== effect.uid || claim.rv !== (effect.basedOn ?? claim.rv)) return conflict(world);
      return ok(withClaim(world, effect.ordinal, { ...claim, deleting: true }));
    }
    case 'MemberAdd': {
      const [next, id] = fresh(world, 'm');
      const added = { id, ...effect };
      return membership(world, next, (c) => memberAdd(c, liveness(world, c), world.truth.rule, added));
    }
    case 'MemberUpdate':
      return membership(world, world, (c) => memberUpdate(c, liveness(world, c), effect.memberId, effect.peerUrls));
    case 'MemberRemove':
      return membership(world, world, (c) => memberRemove(c, liveness(world, c), effect.memberId));
    case 'MemberPromote':
      return membership(world, world, (c) => memberPromote(c, liveness(world, c), effect.memberId));
    case 'MoveLeader':
      return membership(world, world, (c) =>
        c.leader === effect.leader ? moveLeader(c, liveness(world, c), effect.to) : { ok: false, error: 'not leader' },
      );
    case 'CreateJob':
      return createJob(world, effect.job);
    case 'DeleteJob': {
      const job = world.jobs.find((j) => j.uid === effect.uid && j.kind === effect.job);
      if (!job) return conflict(world);
      return ok({ ...world, jobs: world.jobs.map((j) => (j === job ? { ...j, deleting: true as const } : j)) });
    }
    case 'Compact':
      // The first compaction keeps the newest revisions.
      return space(world, (c, s) => ({
        ...c,
        noSpace: { ...s, compacted: s.compacted || s.of === 'old' || effect.revision > 0 },
      }));
    case 'Defrag':
      return space(onlyOnce(world, effect.done), (c, s) =>
        s.compacted && s.of !== 'values' && !s.small.includes(effect.memberId)
          ? { ...c, noSpace: { ...s, small: [...s.small, effect.memberId] } }
          : c,
      );
    case 'Disarm':
      return effect.alarm === 'Corrupt'
        ? disarmCorrupt(world)
        : space(world, (c, s) => disarmed(c, s, effect.memberId));
    case 'HashKV':
      return hashKV(world, effect.of);
    case 'LeaseChurn':
      return leaseChurn(world, effect.pairs);
    case 'SetFinalizer':
      return specIs(world, effect.basedOn, { finalizer: true });
    case 'ReleaseFinalizer':
      return specIs(world, effect.basedOn, { finalizer: undefined });
    case 'ReportRestore': {
      const restore = world.restores.find((r) => r.uid === effect.uid && r.name === effect.name);
      if (!restore) return conflict(world);
      const { phase } = effect;
      return ok({ ...world, restores: world.restores.map((r) => (r === restore ? { ...r, phase } : r)) });
    }
  }
}

/** A restore that this write gives up before its own fence: it has failed, or another takes its place. */
function givenUp({ record, restores }: World, doc: RecordDoc): RestoreOp | undefined {
  const op = record?.doc.op;
  if (op?.kind !== 'Restore' || op.id === doc.op?.id) return undefined;
  if (op.step === 'report') return op;
  const next = doc.op?.kind === 'Restore' ? doc.op.args.id : undefined;
  const hasFailed = restores.some(({ uid, phase }) => uid === op.args.uid && phase === 'Failed');
  const isReplaced = next !== undefined && next !== op.args.id && record?.doc.phase === 'Restoring' && hasFailed;
  return isReplaced && !record.doc.restores.some(({ id }) => id === op.args.id) ? op : undefined;
}

const withFailed = (truth: World['truth'], { args }: RestoreOp): World['truth'] => ({
  ...truth,
  failed: [...new Set([...(truth.failed ?? []), args.id])].sort(),
});

const ok = (world: World): Applied => ({ world });
const conflict = (world: World): Applied => ({ world, error: 'conflict' });

function writeRecord(world: World, effect: Extract<Effect, { kind: 'WriteRecord' }>): Applied {
  if (world.record?.rv !== effect.basedOn) return conflict(world);
  const [next, rv] = fresh(world, 'r');
  const { seeded, served } = world.truth;
  const { clusterId, clusterUid } = effect.doc;
  const isNew = effect.doc.seeded && clusterId !== undefined && !seeded.includes(clusterId);
  const op = givenUp(world, effect.doc);
  const known = op ? withFailed(world.truth, op) : world.truth;
  const truth = isNew
    ? { ...known, seeded: [...seeded, clusterId], served: [...new Set([...served, clusterUid])] }
    : known;
  const putBack = world.record ? world.putBack : undefined;
  const written = {
    ...next,
    truth,
    putBack,
    read: undefined,
    record: { doc: effect.doc, rv },
    memory: memoryAfter(world, effect),
  };
  const parsed = parseRecord(JSON.stringify(effect.doc));
  if (parsed.kind === 'refused')
    return ok(violated(written, `a record is written that nobody can read: ${parsed.reason}`));
  const expected = (world.record?.doc.rev ?? 0) + 1;
  return ok(
    effect.doc.rev === expected || !world.record
      ? written
      : violated(written, 'ConsecutiveRevs: rev does not grow by one'),
  );
}

/** Keys of completed effects belong to one operation. */
function memoryAfter(world: World, effect: Extract<Effect, { kind: 'WriteRecord' }>): World['memory'] {
  const [before, after] = [world.record?.doc.op, effect.doc.op];
  const same = after?.id === before?.id;
  const { done, failed, ...rest } = world.memory;
  return same || (done.length === 0 && !failed) ? world.memory : { ...rest, done: [] };
}

function template(
  world: World,
  basedOn: string,
  change: { replicas?: number; minEpoch?: number; roots?: string },
): Applied {
  if (!world.sts || world.sts.rv !== basedOn) return conflict(world);
  const [next, rv] = fresh(world, 'r');
  return ok({ ...next, sts: { ...world.sts, ...change, rv } });
}

function annotateClaim(world: World, effect: Extract<Effect, { kind: 'AnnotateClaim' }>): Applied {
  const claim = world.claims[effect.ordinal];
  if (claim?.uid !== effect.uid || claim.rv !== effect.basedOn) return conflict(world);
  const [next, rv] = fresh(world, 'r');
  const { clusterUid, epoch } = effect;
  return ok(withClaim(next, effect.ordinal, { ...claim, rv, clusterUid, epoch }));
}

/** The reconciler's client asks the members that it observes. */
function membership(world: World, next: World, change: (cluster: Cluster) => Answer): Applied {
  const cluster = askedCluster(world);
  if (!cluster) return { world, error: 'unavailable' };
  const answer = change(cluster);
  return answer.ok ? ok(settled(withCluster(next, answer.cluster))) : { world, error: answer.error };
}

/** The record's cluster, because the reconciler checks the cluster id; without one, the newest that serves. */
export function askedCluster(world: World): Cluster | undefined {
  const serves = (c: Cluster): boolean => canCommit(c, liveness(world, c));
  const recorded = clusterById(world, world.record?.doc.clusterId);
  if (!recorded) return world.clusters.findLast(serves);
  return serves(recorded) ? recorded : undefined;
}

type Space = NonNullable<Cluster['noSpace']>;

function space(world: World, change: (cluster: Cluster, space: Space) => Cluster): Applied {
  const cluster = askedCluster(world);
  if (!cluster) return { world, error: 'unavailable' };
  return ok(cluster.noSpace ? withCluster(world, change(cluster, cluster.noSpace)) : world);
}

/** The call of a ClearNoSpace may be repeated, one that somebody asked for may not. */
function onlyOnce(world: World, key: string): World {
  if (!key.startsWith('defragment ')) return world;
  const { defragmented = [] } = world.truth;
  const noted = { ...world, truth: { ...world.truth, defragmented: [...defragmented, key] } };
  return defragmented.includes(key)
    ? violated(noted, 'TriedOnce: a member is defragmented twice for one request')
    : noted;
}

/** The alarm is raised again while the member whose data differ exists. */
function disarmCorrupt(world: World): Applied {
  const cluster = askedCluster(world);
  if (!cluster) return { world, error: 'unavailable' };
  return ok(isThere(cluster, cluster.corrupt) ? world : withCluster(world, { ...cluster, corrupt: undefined }));
}

const differs = (cluster: Cluster): boolean => isThere(cluster, cluster.corrupt) || isThere(cluster, cluster.differs);
const isThere = (cluster: Cluster, id: string | undefined): boolean => cluster.members.some((m) => m.id === id);

function hashKV(world: World, of: string): Applied {
  const cluster = askedCluster(world);
  if (!cluster) return { world, error: 'unavailable' };
  return ok({ ...world, memory: { ...world.memory, hash: { of, equal: !differs(cluster) } } });
}

/** The alarm is raised again at the next put while the database is as large as before. */
function disarmed(cluster: Cluster, noSpace: Space, memberId: string): Cluster {
  if (isThere(cluster, memberId) && !noSpace.small.includes(memberId)) return cluster;
  const alarms = noSpace.alarms.filter((id) => id !== memberId);
  return { ...cluster, noSpace: alarms.length > 0 ? { ...noSpace, alarms } : undefined };
}

/** Adds raft entries until every running member has written a snapshot. */
function leaseChurn(world: World, pairs: number): Applied {
  const cluster = askedCluster(world);
  if (!cluster) return { world, error: 'unavailable' };
  const index = cluster.index + (2 * pairs) / INDEX_UNIT;
  const live = liveness(world, cluster);
  const volumes = world.volumes.map((volume) =>
    volume?.wal && live.upToDate.has(volume.wal.member) && volume.wal.cluster === cluster.id
      ? { ...volume, wal: { ...volume.wal, snapIndex: index } }
      : volume,
  );
  return ok(withCluster({ ...world, volumes }, { ...cluster, index }));
}

function createJob(world: World, request: Extract<Effect, { kind: 'CreateJob' }>['job']): Applied {
  if (world.jobs.some((j) => j.kind === request.kind)) return { world, error: 'already exists' };
  const [next, uid] = fresh(world, 'j');
  const job: Job = {
    kind: request.kind,
    uid,
    op: request.op,
    state: 'Running',
    survivor: request.survivor ?? (request.salvage && servedBy(world, request.salvage.url)),
    snapshot: request.restore ? snapshotOf(world, request.restore.source) : undefined,
  };
  return ok({ ...next, jobs: [...world.jobs, job] });
}

/** The address of a salvaged copy is the uid of its pod. */
function servedBy(world: World, url: string): number | undefined {
  const at = world.pods.findIndex((p) => p?.uid === url && p.reason === 'Salvage');
  return at < 0 ? undefined : at;
}

/** Finds the snapshot that a source names. */
function snapshotOf(world: World, source: Record<string, unknown>): Snapshot | undefined {
  const text = JSON.stringify(source);
  const all = [...world.store, ...(world.spec?.origin ? [world.spec.origin] : [])];
  return all.find((s) => text.includes(`"${s.id}"`));
}

function specIs(world: World, basedOn: string, change: { finalizer: true | undefined }): Applied {
  if (!world.spec || world.spec.rv !== basedOn) return conflict(world);
  const [next, rv] = fresh(world, 'r');
  const spec = { ...world.spec, ...change, rv };
  return ok({ ...next, spec: spec.deleting && !spec.finalizer && !spec.foreground ? undefined : spec });
}
