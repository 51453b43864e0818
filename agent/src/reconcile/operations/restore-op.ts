import type { Effect } from '../effect.ts';
import { quorumLostLong } from '../facts.ts';
import type { RestoreRequest } from '../observed.ts';
import type { Op, RecordDoc, RestoreArgs, RestoreOp, RestoreStep } from '../record.ts';
import type { View } from '../view.ts';
import { without, write } from '../write.ts';
import { givesUp, ownJob, restoreOp } from './jobs.ts';

// What the steps of a restore share: R1 verify, R2 safety backup, R3 fence, R4–R5 drain, R6 seed, R7–R8 restore; R9 is growing again.

export const at = (v: View, step: RestoreStep): RestoreOp | undefined => {
  const op = restoreOp(v);
  return op?.step === step ? op : undefined;
};

export const beforeFence = (v: View): RestoreOp | undefined =>
  v.record.phase === 'Restoring' ? undefined : restoreOp(v);

export const args = (v: View): RestoreArgs => restoreOp(v)!.args;

export const step = (v: View, next: RestoreStep, change: Partial<RestoreArgs> = {}): Partial<RecordDoc> => {
  const op = restoreOp(v)!;
  return { op: { ...op, step: next, args: { ...op.args, ...change } } };
};

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

/** Past the fence there is no way back; only another snapshot goes on. */
export const blocked = (v: View): boolean =>
  restoreOp(v) !== undefined &&
  v.record.phase === 'Restoring' &&
  (ownJob(v, 'restore')?.state === 'Failed' || changed(v));
