import { hasBeyond, noneBeyond } from '../../../../backup/payload/plausible-revision.ts';
import { formatBytes } from '../../../../lib/terminal/progress.ts';
import { restoreReason } from '../../../../protocol/exit-reasons.ts';
import type { Op, RecordDoc, RestoreArgs, RestoreOp, RestoreStep } from '../../../../protocol/record.ts';
import { entryOf, hasFailed, isOlder, isOpOf, namesakeOf } from '../../../../protocol/restore-refusal.ts';
import type { Effect } from '../../../port/effect.ts';
import type { Job, Pod, RestoreRequest } from '../../../port/observed.ts';
import type { View } from '../../engine/view.ts';
import { beforeFence, pastFence, quorumLostLong, restoreOp } from '../../facts/facts.ts';
import { agentOf, lasts, podsOf, statusOf } from '../../facts/observations.ts';
import { givesUp, ownJob, selectedAgain, stuckJob } from '../jobs.ts';
import { without, write } from '../record/write.ts';

// Shared by the steps of a restore: verify, safety backup, fence, drain, seed, restore. Then the cluster grows again.

export const at = (v: View, step: RestoreStep): RestoreOp | undefined => {
  const op = restoreOp(v);
  return op?.step === step ? op : undefined;
};

export const args = (v: View): RestoreArgs => restoreOp(v)!.args;

export const step = (v: View, next: RestoreStep, change: Partial<RestoreArgs> = {}): Partial<RecordDoc> => {
  const op = restoreOp(v)!;
  return { op: { ...op, step: next, args: { ...op.args, ...change } } };
};

/** Its safety backup is wanted, and not taken. */
export const isUnsaved = (v: View): boolean =>
  beforeFence(v) !== undefined && args(v).safetyBackup && args(v).safetyBackupId === undefined;

/** No operation is in progress, or one that cannot continue because quorum is lost. */
export const slotFree = (v: View): boolean => {
  const { op } = v.record;
  if (op === undefined) return true;
  return op.kind !== 'Restore' && op.kind !== 'Recover' && op.kind !== 'Delete' && quorumLostLong(v);
};

/** What was asked for once does not resume: whether it was tried is only known while it is in flight. */
export function suspended({ record: { op } }: View): { suspended?: Op } {
  return op && op.kind !== 'Defragment' && op.kind !== 'MoveLeader' ? { suspended: op } : {};
}

/** Every EtcdRestore that there is. */
export const allRequests = (v: View): RestoreRequest[] =>
  v.o.restores.known ? [...v.o.restores.v].sort((a, b) => a.createdAt - b.createdAt || (a.name < b.name ? -1 : 1)) : [];

/** One that is being deleted is taken back, although a finalizer may keep it for long. */
export const requests = (v: View): RestoreRequest[] => allRequests(v).filter(({ deleting }) => !deleting);

export const final = ({ phase }: RestoreRequest): boolean => phase === 'Completed' || phase === 'Failed';

/** It was fenced, so it is not carried out again. */
export const isRecorded = (v: View, id: string): boolean => entryOf(v.record, id) !== undefined;

/** Asked for beside the one in flight. */
export const isOther = (v: View, request: RestoreRequest): boolean =>
  !final(request) &&
  !isRecorded(v, request.name) &&
  namesakeOf(v.record, request) === undefined &&
  !isOlder(v.record, request) &&
  !hasFailed(v.record, request) &&
  !isOpOf(v.record.op, request);

/** The Job of the restore, unless it is to be replaced by one that names the verified snapshot. */
const judgedJob = (v: View): Job | undefined => {
  const job = ownJob(v, 'restore');
  return job && !selectedAgain(v, job) ? job : undefined;
};

export const serving = (v: View) => judgedJob(v)?.serving;

export const sameSnapshot = (v: View): boolean =>
  serving(v) !== undefined && serving(v)!.sha256 === args(v).verified?.sha256;

/** The highest revision known to have been served: by members, also without a quorum; by backups; by earlier epochs. */
export const lastRevision = (v: View): number => {
  const served = [
    args(v).lastRevision,
    v.record.startRevision,
    v.record.lastBackup?.revision,
    v.cluster.backups?.last?.revision,
    v.cluster.status.lastBackup?.revision,
    serving(v)?.highestRevision,
    ...Object.keys(v.o.status).map((memberId) => statusOf(v, memberId)?.revision),
  ];
  return Math.max(0, ...served.filter((revision) => revision !== undefined));
};

/** Why no revision is left beyond what was served; undefined: one is, or the snapshot is not known yet. */
const noneLeft = (v: View): string | undefined => {
  const last = lastRevision(v);
  if (serving(v) === undefined || hasBeyond(last)) return undefined;
  return `${noneBeyond('the cluster is', last)}; restore into a new cluster, and restart its clients`;
};

/** Why the snapshot cannot be restored; undefined: it can, or that is not known yet. */
export const refusal = (v: View): { readonly reason: string; readonly message: string } | undefined => {
  const job = judgedJob(v);
  if (job?.state === 'Failed')
    return { reason: restoreReason(job.exitCode), message: job.message ?? 'the snapshot could not be verified' };
  const message = noneLeft(v);
  return message === undefined ? undefined : { reason: 'SnapshotRefused', message };
};

/** Ends the operation before its fence: the suspended operation returns, and a salvage permit goes. */
export const ended = (v: View): Partial<RecordDoc> => {
  const { suspended: before, args: own } = restoreOp(v)!;
  const { permits } = v.record;
  return { op: before, permits: own.survivor ? without(permits, own.survivor.ordinal) : permits };
};

export const fails = (v: View, reason: string, message: string): Effect => {
  const op = restoreOp(v)!;
  const of = `${op.kind} ${op.args.id}`;
  return givesUp(op)
    ? write(v, { ...step(v, 'report', { failed: { reason, message } }), failure: { of, reason, message } })
    : write(v, { ...ended(v), failure: { of, reason, message } });
};

/** The Job now serves another content than was verified, and did not only select another snapshot. */
export const changed = (v: View): boolean =>
  args(v).verified !== undefined && serving(v) !== undefined && !sameSnapshot(v);

const restoreSpace = 256 * 1024 * 1024;

/**
 * Space that the restore needs on the volume of ordinal 0, and the available space, in bytes. Undefined if not known
 * yet.
 */
export const roomAtSeed = (v: View): { size: number; needed: number; there: number } | undefined => {
  const { freeBytes, totalBytes = 0 } = agentOf(v, 0)?.volume ?? {};
  const size = (args(v).verified ?? serving(v))?.sizeBytes;
  // A gate that has just started has not read its volume yet.
  if (freeBytes === undefined || totalBytes === 0 || size === undefined) return undefined;
  // Room for two databases. An ephemeral volume is emptied with its pod, so all of it counts.
  return { size, needed: 2 * size + restoreSpace, there: v.spec.ephemeral ? totalBytes : freeBytes };
};

/** Why the volume of ordinal 0 is too small; undefined: it is not, or that is unknown. */
export const noRoom = (v: View): string | undefined => {
  const room = roomAtSeed(v);
  if (!room || room.there >= room.needed) return undefined;
  const [size, needed, there] = [room.size, room.needed, room.there].map(formatBytes);
  return `the snapshot has ${size}; to restore it, the volume of ordinal 0 needs ${needed} free, but has ${there}`;
};

/** The agent of ordinal 0 has not answered for long: the room on its volume is unknown, and its pod would not go. */
export const seedIsSilent = (v: View): boolean => lasts(v, v.o.since.silent?.[0], v.s.unreachable);

/** Left behind on a node that is off: the pod is being deleted, and its agent has not answered for long. */
export const isUnreachable = (v: View, pod: Pod): boolean =>
  pod.deleting && lasts(v, v.o.since.silent?.[pod.ordinal], v.s.unreachable);

/** The restore waits for pods that do not go, and this request may leave them behind. */
export const outdone = (v: View, request: RestoreRequest): boolean =>
  at(v, 'drain') !== undefined &&
  !args(v).ignoreUnreachablePods &&
  request.ignoreUnreachablePods &&
  podsOf(v).some((pod) => isUnreachable(v, pod));

/**
 * It took the place of one past its fence, and was deleted or failed before its own: only another EtcdRestore can continue.
 * The old data are fenced off already. A deletion of the cluster goes on with it, for the sake of the final backup.
 */
export const isAbandoned = (v: View): boolean => {
  const op = pastFence(v);
  if (!op || !givesUp(op) || isRecorded(v, op.args.id) || !v.o.restores.known || v.cluster.deleting) return false;
  return !requests(v).some((request) => isOpOf(op, request) && !final(request));
};

/** Past its fence and without its snapshot: only another EtcdRestore can continue. */
export const blocked = (v: View): boolean =>
  pastFence(v) !== undefined && (judgedJob(v)?.state === 'Failed' || stuckJob(v) !== undefined || changed(v));
