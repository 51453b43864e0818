import { formatBytes } from '../../../../lib/terminal/progress.ts';
import type { Op, RecordDoc, RestoreArgs, RestoreOp, RestoreStep } from '../../../../protocol/record.ts';
import type { Effect } from '../../effect.ts';
import type { Pod, RestoreRequest } from '../../observed.ts';
import { quorumLostLong } from '../../plan/facts.ts';
import { agentOf, lasts, podsOf } from '../../plan/observations.ts';
import type { View } from '../../plan/view.ts';
import { without, write } from '../../plan/write.ts';
import { givesUp, ownJob, restoreOp, stuckJob } from '../jobs.ts';

// What the steps of a restore share: verify, safety backup, fence, drain, seed, restore; then the cluster grows again.

export const at = (v: View, step: RestoreStep): RestoreOp | undefined => {
  const op = restoreOp(v);
  return op?.step === step ? op : undefined;
};

export const beforeFence = (v: View): RestoreOp | undefined =>
  v.record.phase === 'Restoring' ? undefined : restoreOp(v);

/** Past its fence, with no seed that serves yet: nobody is served meanwhile. */
export const pastFence = (v: View): RestoreOp | undefined =>
  v.record.phase === 'Restoring' ? restoreOp(v) : undefined;

export const args = (v: View): RestoreArgs => restoreOp(v)!.args;

export const step = (v: View, next: RestoreStep, change: Partial<RestoreArgs> = {}): Partial<RecordDoc> => {
  const op = restoreOp(v)!;
  return { op: { ...op, step: next, args: { ...op.args, ...change } } };
};

/** It wants a safety backup that is not taken. */
export const isUnsaved = (v: View): boolean =>
  beforeFence(v) !== undefined && args(v).safetyBackup && args(v).safetyBackupId === undefined;

/** No operation, or one that can not go on because quorum is lost. */
export const slotFree = (v: View): boolean => {
  const { op } = v.record;
  if (op === undefined) return true;
  return op.kind !== 'Restore' && op.kind !== 'Recover' && op.kind !== 'Delete' && quorumLostLong(v);
};

export const suspended = (v: View): { suspended?: Op } => (v.record.op ? { suspended: v.record.op } : {});

export const requests = (v: View): RestoreRequest[] =>
  v.o.restores.known ? [...v.o.restores.v].sort((a, b) => a.createdAt - b.createdAt || (a.name < b.name ? -1 : 1)) : [];

export const final = ({ phase }: RestoreRequest): boolean => phase === 'Completed' || phase === 'Failed';

export const serving = (v: View) => ownJob(v, 'restore')?.serving;

export const sameSnapshot = (v: View): boolean =>
  serving(v) !== undefined && serving(v)!.sha256 === args(v).verified?.sha256;

/** The operation ends before its fence: what it kept waiting comes back, a salvage permit goes. */
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

/** The Job serves by now what was not verified. */
export const changed = (v: View): boolean =>
  args(v).verified !== undefined && serving(v) !== undefined && !sameSnapshot(v);

const restoreSpace = 256 * 1024 * 1024;

/** What restoring takes on the volume of ordinal 0, and what there is; undefined: not known yet. */
export const roomAtSeed = (v: View): { size: number; needed: number; there: number } | undefined => {
  const { freeBytes, totalBytes = 0 } = agentOf(v, 0)?.volume ?? {};
  const size = serving(v)?.sizeBytes;
  // A gate that has only begun has not read its volume.
  if (freeBytes === undefined || totalBytes === 0 || size === undefined) return undefined;
  // Twice the database; an ephemeral volume goes with its pod, and with what is on it.
  return { size, needed: 2 * size + restoreSpace, there: v.spec.ephemeral ? totalBytes : freeBytes };
};

/** Known to be too small. */
export const noRoom = (v: View): string | undefined => {
  const room = roomAtSeed(v);
  if (!room || room.there >= room.needed) return undefined;
  const [size, needed, there] = [room.size, room.needed, room.there].map(formatBytes);
  return `the snapshot has ${size}: to restore it, the volume of ordinal 0 needs ${needed}, and has ${there} free`;
};

/** The seed's agent is not heard of: neither is what its volume has room for, nor would its pod go. */
export const seedIsSilent = (v: View): boolean => lasts(v, v.o.since.silent?.[0], v.s.unreachable);

/** Left behind on a node that is off: it is being deleted, and nobody has heard of it for long. */
export const isUnreachable = (v: View, pod: Pod): boolean =>
  pod.deleting && lasts(v, v.o.since.silent?.[pod.ordinal], v.s.unreachable);

/** It waits for pods that do not go, and another may go on without them. */
export const outdone = (v: View, request: RestoreRequest): boolean =>
  at(v, 'drain') !== undefined &&
  !args(v).ignoreUnreachablePods &&
  request.ignoreUnreachablePods &&
  podsOf(v).some((pod) => isUnreachable(v, pod));

/** Past the fence there is no way back; only another snapshot goes on. */
export const blocked = (v: View): boolean =>
  pastFence(v) !== undefined && (ownJob(v, 'restore')?.state === 'Failed' || stuckJob(v) !== undefined || changed(v));
