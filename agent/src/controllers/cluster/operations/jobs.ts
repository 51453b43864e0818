import { needsCorrection } from '../../../lib/errors.ts';
import type { RecordedSource, RestoreOp } from '../../../protocol/record.ts';
import { isOfEtcdRestore, isOrigin, isRoll } from '../../../protocol/restore-id.ts';
import { minorOf } from '../../../protocol/versions.ts';
import type { JobRequest } from '../../port/effect.ts';
import type { Job, JobKind } from '../../port/observed.ts';
import { rule } from '../engine/rule.ts';
import type { View } from '../engine/view.ts';
import { jobOf, restoreOp } from '../facts/facts.ts';
import { agentAt, lasts, statefulSet } from '../facts/observations.ts';
import { isUnborn, transportAtBirth, transportOf } from '../facts/transport.ts';

// The Jobs that the operation needs now. A Job of another operation under the same name is deleted first.

const restoreSteps: readonly string[] = ['verify', 'safety', 'fence', 'drain', 'seed', 'restore'];

/** Limits a source so that it selects no snapshot that was stored after this time, ms. */
export function notLater(source: RecordedSource, time: number): RecordedSource {
  const { latestVerifiedBefore: asked } = source;
  const isLater = typeof asked === 'string' && Date.parse(asked) > time;
  return isLater ? { ...source, latestVerifiedBefore: new Date(time).toISOString() } : source;
}

/** Names the snapshot that was verified, where the source selects one. */
function pinned(source: RecordedSource, id: string | undefined): RecordedSource {
  const { latestVerifiedBefore, ...rest } = source;
  return id === undefined || latestVerifiedBefore === undefined ? source : { ...rest, snapshotId: id };
}

/**
 * A second pod of the Job has selected again: a snapshot was stored meanwhile, by a clock that is behind, or the verified one
 * could not be read. What it serves, or that it failed, says nothing about the verified one. The next Job names that one.
 */
export const selectedAgain = (v: View, { kind, uid, state, serving }: Job): boolean => {
  const { source, verified } = restoreOp(v)?.args ?? {};
  const selects = source?.latestVerifiedBefore !== undefined && verified?.id !== undefined;
  if (kind !== 'restore' || !selects) return false;
  return state === 'Failed' ? uid === verified.jobUid : serving?.id !== undefined && serving.id !== verified.id;
};

/** Authentication in a snapshot would shut out the clients that use http. What the cluster itself has saved was on before. */
const shutsClientsOut = (v: View, { kind, args }: RestoreOp): boolean =>
  v.spec.tls &&
  kind === 'Restore' &&
  !isRoll(args.id) &&
  (isUnborn(v) ? transportAtBirth(v) : transportOf(v)).clients !== 'https';

function restoreJob(v: View, op: RestoreOp): JobRequest {
  const { id, args, startedAt } = op;
  const { identitySecret, expectedRevision, sourceToken, verified } = args;
  const sha256 = verified?.sha256 ?? args.sha256;
  return {
    kind: 'restore',
    op: id,
    restore: {
      // The source of an EtcdRestore ends at its creation, by the clock of the API server.
      source: pinned(givesUp(op) ? args.source! : notLater(args.source!, Date.parse(startedAt)), verified?.id),
      isOrigin: isOrigin(args.id) ? true : undefined,
      identitySecret,
      sha256,
      expectedRevision,
      minor: minorOf(statefulSet(v)?.version ?? v.spec.version),
      token: sourceToken,
      refusesAuth: shutsClientsOut(v, op) ? true : undefined,
    },
  };
}

function salvageJob(v: View, { id, args }: RestoreOp): JobRequest[] {
  const { ordinal } = args.survivor!;
  const salvage = agentAt(v, ordinal)?.salvage;
  // After a second try the gate may still serve the snapshot of the first, which it is about to replace.
  if (!salvage || salvage.permitId !== v.record.permits[ordinal]?.id) return [];
  const { url, sha256 } = salvage;
  const { clusterId } = v.record;
  const source = { url, sha256, token: args.salvageToken!, clusterId };
  return [{ kind: 'salvage', op: id, schedule: v.spec.schedule, restored: true, salvage: source }];
}

/** The roll of an ephemeral single member backs it up; a recovery backs up its survivor. */
function firstBackup(v: View, { id, kind, args }: RestoreOp): JobRequest {
  const backup = { op: id, schedule: v.spec.schedule, restored: true } as const;
  return kind === 'Recover'
    ? { kind: 'recovery', ...backup, survivor: args.survivor!.ordinal }
    : { kind: 'pre-upgrade', ...backup };
}

function ofRestore(v: View, op: RestoreOp): JobRequest[] {
  if (op.step === 'backup') return [firstBackup(v, op)];
  if (op.step === 'salvage') return salvageJob(v, op);
  if (!restoreSteps.includes(op.step)) return [];
  const wanted = [restoreJob(v, op)];
  return op.step === 'safety' ? [...wanted, { kind: 'safety', op: op.id, schedule: v.spec.schedule }] : wanted;
}

function wantedJobs(v: View): JobRequest[] {
  const { op } = v.record;
  if (op?.kind === 'Restore' || op?.kind === 'Recover') return ofRestore(v, op);
  if (op?.kind === 'Upgrade') return [{ kind: 'pre-upgrade', op: op.id, schedule: v.spec.schedule }];
  if (op?.kind === 'Delete' && op.step === 'backup') return [{ kind: 'final', op: op.id, schedule: v.spec.schedule }];
  return [];
}

/** The Job of this kind, if it belongs to the operation in flight. */
export const ownJob = (v: View, kind: JobKind): Job | undefined => {
  const job = jobOf(v, kind);
  return job && job.op === v.record.op?.id ? job : undefined;
};

/** Its pod is gone, and with it the id of the backup that it stored, or the snapshot that it served. */
const isLost = (v: View, job: Job): boolean =>
  job.op === v.record.op?.id && job.state === 'Succeeded' && job.backup === undefined;

/** A Job of this operation whose pod does not start, for example because no node has room or a Secret is missing. */
export const stuckJob = (v: View): Job | undefined =>
  v.o.jobs.known ? v.o.jobs.v.find((job) => job.op === v.record.op?.id && isStuck(v, job)) : undefined;

/**
 * It failed for what only a person can change, and the spec is still that of which it was made. A Secret may be corrected without a
 * change of the spec, and cannot be read here: then the Job is deleted by hand. While its operation is young, time may help.
 */
export const awaitsCorrection = (v: View, job: Job | undefined): boolean =>
  job?.state === 'Failed' &&
  !job.deleting &&
  needsCorrection(job.exitCode) &&
  job.generation === v.cluster.generation &&
  !(job.op === v.record.op?.id && mayRetry(v) && v.date - Date.parse(v.record.op.startedAt) < v.s.correction);

/** Why it failed, and what makes it run again if time does not. */
export const whyFailed = (v: View, job: Job, otherwise: string): string => {
  const { message = otherwise } = job;
  return awaitsCorrection(v, job)
    ? `${message}; correct that, then delete Job ${v.cluster.name}-${job.kind} or change the EtcdCluster to try again`
    : message;
};

/** Why a backup that can be tried again later is given up; undefined: it may still succeed. */
export const reasonToGiveUp = (v: View, job: Job | undefined): string | undefined => {
  if (job?.state === 'Failed') return job.message ?? 'the backup failed';
  return job && isStuck(v, job) ? job.waits : undefined;
};

const isStuck = (v: View, { uid, waits }: Job): boolean =>
  waits !== undefined && lasts(v, v.o.since.jobWaits?.[uid], v.s.jobStart);

const isRetried = (v: View, job: Job): boolean =>
  job.op === v.record.op?.id &&
  job.state === 'Failed' &&
  !awaitsCorrection(v, job) &&
  v.record.op !== undefined &&
  mayRetry(v) &&
  lasts(v, v.o.since.jobFailed[job.uid], v.s.retryFailed);

/** Operations that cannot be given up: past the fence, an origin, a recovery, a deletion. */
const mayRetry = (v: View): boolean => {
  const op = restoreOp(v);
  return v.op('Delete') !== undefined || (op !== undefined && (v.record.phase === 'Restoring' || !givesUp(op)));
};

/** An EtcdRestore may fail before its fence; its owner can create another one. */
export const givesUp = (op: RestoreOp): boolean => op.kind === 'Restore' && isOfEtcdRestore(op.args.id);

const neededOnlyInOp: readonly JobKind[] = ['restore', 'salvage'];

const allJobs = (v: View): Job[] => (v.o.jobs.known ? v.o.jobs.v.filter(({ deleting }) => !deleting) : []);

export const jobRules = [
  rule<JobRequest>({
    name: 'Job.replace',
    does: 'DeleteJob',
    each: wantedJobs,
    when: {
      'its name is taken': (v, { kind }) => jobOf(v, kind)?.deleting === false,
      'by a Job of another operation, or by one to retry': (v, { kind, op }) =>
        jobOf(v, kind)!.op !== op ||
        isRetried(v, jobOf(v, kind)!) ||
        isLost(v, jobOf(v, kind)!) ||
        selectedAgain(v, jobOf(v, kind)!),
    },
    effect: (v, { kind }) => ({ kind: 'DeleteJob', job: kind, uid: jobOf(v, kind)!.uid }),
  }),
  rule<JobRequest>({
    name: 'Job.create',
    does: 'CreateJob',
    each: wantedJobs,
    when: { 'there is none': (v, { kind }) => v.o.jobs.known && jobOf(v, kind) === undefined },
    effect: (_, job) => ({ kind: 'CreateJob', job }),
  }),
];

export const pruneJobs = rule<Job>({
  name: 'PruneJobs',
  does: 'DeleteJob',
  each: allJobs,
  // Below HoldOperation, so no operation is in flight.
  when: { 'it served an operation': (_, { kind }) => neededOnlyInOp.includes(kind) },
  effect: (_, { kind, uid }) => ({ kind: 'DeleteJob', job: kind, uid }),
});
