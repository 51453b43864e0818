import type { EventOf } from '../../kube/events.ts';
import type { EventObject, JobObject, PodObject } from '../../kube/objects.ts';
import { jobCondition, jobResult } from '../jobs/job-result.ts';
import { hasEnded, isHidden, isPodState, podState, podsOf } from '../jobs/pod-state.ts';
import {
  type BackupStatus,
  backupStatus,
  type EtcdBackupObject,
  isFinal,
  mirroredJob,
  type Why,
} from '../objects/backup-object.ts';
import { deletedBy, deletedCount, failureOf, type Outcome, verifiedOf } from './job-outcome.ts';

export interface ObservedBackup {
  readonly backup: EtcdBackupObject;
  /** Jobs of this EtcdBackup. */
  readonly jobs: readonly JobObject[];
  /** Pods of all Jobs, existing or deleted, with one of its Job names. */
  readonly pods: readonly PodObject[];
  /** Events of the Job or pod that does not start. */
  readonly why?: readonly EventObject[];
  /** Why no Job can be created now, or ever (`permanent`). */
  readonly obstacle?: Why & { readonly permanent?: true };
  /** RFC 3339. */
  readonly now: string;
}

/** Either the attempt whose Job to create, or an Event to emit and then a status to write. */
export interface BackupDecision {
  readonly create?: number;
  readonly event?: BackupEvent;
  readonly status?: BackupStatus;
}

/** `about` distinguishes the Event from earlier Events with the same reason. */
export type BackupEvent = EventOf & { readonly about: string };

const nothing: BackupDecision = {};
/** Number of Jobs to try. A second Job finds the snapshot of the first one in the store. */
const attempts = 2;

/** Decides the next action for an EtcdBackup. */
export function decideBackup(observed: ObservedBackup): BackupDecision {
  const { backup, jobs } = observed;
  if (isFinal(backup) || backup.metadata.deletionTimestamp !== undefined) return nothing;
  const job = [...jobs].sort((a, b) => a.metadata.name.length - b.metadata.name.length).at(-1);
  if (!job) return mirroredJob(backup) ? nothing : withoutJob(observed);
  if (job.metadata.deletionTimestamp !== undefined) return nothing;
  const pods = podsOf(job, observed.pods);
  const failed = jobCondition(job, 'Failed');
  if (failed) return end(observed, 'Failed', job, failureOf(job, backup.status, failed, jobResult(pods)));
  const complete = jobCondition(job, 'Complete');
  if (complete) return completed(observed, job, pods, complete.lastTransitionTime);
  return running(observed, job, pods);
}

function withoutJob(observed: ObservedBackup): BackupDecision {
  const { backup, pods, obstacle } = observed;
  const { jobName, reason } = backup.status ?? {};
  if (jobName !== undefined && isPodState(reason)) {
    const message = `Job ${jobName} no longer exists; the next Job checks the store for its snapshot before it takes a new one`;
    return write(observed, 'BackingUp', { reason: 'JobVanished', message }, { event: 'Warning' });
  }
  // A remaining pod may still store the snapshot.
  if (pods.some((pod) => !hasEnded(pod))) return nothing;
  if (!obstacle) return { create: 1 };
  if (obstacle.permanent) return end(observed, 'Failed', undefined, obstacle);
  return write(observed, jobName === undefined ? 'Pending' : 'BackingUp', obstacle, {
    event: obstacle.reason === 'JobNotCreated' ? 'Warning' : undefined,
  });
}

function running(observed: ObservedBackup, job: JobObject, pods: readonly PodObject[]): BackupDecision {
  const { backup } = observed;
  const before = backup.status;
  const state = podState(job, pods, observed.why);
  const why = isHidden(before, state) ? { ...state, ...before } : state;
  const { name, uid, creationTimestamp } = job.metadata;
  const isNew = !isPodState(before?.reason) || before?.jobName !== name;
  const facts = { jobName: name, startTime: before?.startTime ?? creationTimestamp };
  const status = backupStatus(observed, 'BackingUp', why, facts);
  if (!isNew || mirroredJob(backup)) return { status };
  return { status, event: { type: 'Normal', reason: 'SuccessfulCreate', message: `Created Job ${name}`, about: uid } };
}

function completed(
  observed: ObservedBackup,
  job: JobObject,
  pods: readonly PodObject[],
  at: string | undefined,
): BackupDecision {
  const result = jobResult(pods);
  const { name } = job.metadata;
  if (result?.snapshot) {
    const { id, revision, sizeBytes } = result.snapshot;
    const verified = verifiedOf(result);
    const known = revision === undefined ? '' : ` of revision ${revision}`;
    const how = verified ? `verified (${verified})` : 'not verified';
    const message = [`${id}${known}, ${sizeBytes} bytes, ${how}`, ...deletions(deletedCount(result))].join('; ');
    return end(observed, 'Completed', job, { reason: 'Stored', message, at, result });
  }
  const attempt = attemptOf(name);
  if (attempt < attempts && !mirroredJob(observed.backup)) return { create: attempt + 1 };
  const message = `the pod of Job ${name} was deleted before the id of the snapshot could be read: find the snapshot with etcd-agent list`;
  return end(observed, 'Completed', job, { reason: 'ResultLost', message, at });
}

/** So many fit into a termination message. */
const mostDeleted = 64;

const deletions = (count: number): string[] =>
  count === 0 ? [] : [`retention deleted ${count === 1 ? '1 older snapshot' : `${count} older snapshots`}`];

const attemptOf = (jobName: string): number => (/-[0-9a-f]{8}-2$/.test(jobName) ? 2 : 1);

function end(
  observed: ObservedBackup,
  phase: 'Completed' | 'Failed',
  job: JobObject | undefined,
  { reason, message, at, result }: Outcome,
): BackupDecision {
  const { backup, now } = observed;
  const snapshot = result?.snapshot;
  const key = result?.stores?.find((store) => store.key && !store.error)?.key;
  const verified = result && verifiedOf(result);
  const deleted = result ? deletedBy(result).slice(0, mostDeleted) : [];
  const { jobName, startTime } = backup.status ?? {};
  const completionTime = at ?? now;
  const name = job?.metadata.name ?? jobName;
  const began = startTime ?? job?.metadata.creationTimestamp;
  const snapshotTime = takenWithin(snapshot?.createdAt, began, completionTime);
  const line = name ? `Job ${name}: ${message}` : message;
  const status = backupStatus(
    observed,
    phase,
    { reason, message: phase === 'Failed' ? line : message },
    {
      completionTime,
      startTime: began,
      snapshotTime,
      jobName: name,
      ...(snapshot && { snapshotId: snapshot.id, sizeBytes: snapshot.sizeBytes, sha256: snapshot.sha256 }),
      revision: snapshot?.revision,
      key,
      verified: verified || undefined,
      deletedSnapshots: deleted.length > 0 ? deleted : undefined,
    },
  );
  const about = job?.metadata.uid ?? backup.metadata.uid;
  const kind =
    phase === 'Failed'
      ? ({ type: 'Warning', reason: 'BackupFailed' } as const)
      : ({ type: 'Normal', reason: 'BackupSucceeded' } as const);
  return { status, event: { ...kind, message: line, about } };
}

/** The clock of the pod's node may be wrong, but the snapshot was taken while the Job existed. */
function takenWithin(createdAt: string | undefined, from: string | undefined, to: string): string | undefined {
  const time = Date.parse(createdAt ?? '');
  if (Number.isNaN(time)) return undefined;
  const within = Math.min(Math.max(time, Date.parse(from ?? to)), Date.parse(to));
  return `${new Date(within).toISOString().slice(0, 19)}Z`;
}

function write(
  observed: ObservedBackup,
  phase: 'Pending' | 'BackingUp',
  why: Why,
  { event }: { readonly event?: EventOf['type'] } = {},
): BackupDecision {
  const { status: before, metadata } = observed.backup;
  const { jobName, startTime } = before ?? {};
  const facts = { jobName, startTime };
  const status = backupStatus(observed, phase, why, facts);
  if (!event || before?.reason === why.reason) return { status };
  const reason = why.reason === 'JobNotCreated' ? 'FailedCreate' : why.reason;
  return {
    status,
    event: { type: event, reason, message: why.message, about: `${metadata.uid} ${jobName} ${observed.now}` },
  };
}
