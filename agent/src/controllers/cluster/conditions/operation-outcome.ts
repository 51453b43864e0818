import type { ReportedOperation, StepKind } from '../../../protocol/cluster-status.ts';
import type { MaintenanceKind } from '../../../protocol/record.ts';
import type { View } from '../engine/view.ts';
import { alarms, isSeeded, learners, voters, wantedSize } from '../facts/facts.ts';
import { switchStep } from '../facts/transport-steps.ts';
import { isMixed } from '../operations/scale.ts';
import { restartsLeft } from './steps.ts';

const sizes: readonly string[] = ['Growing', 'Shrinking'];
const versions: readonly string[] = ['Upgrading', 'FlushingRaftLog'];

/** The size or version that an operation of this type aims at, as the spec is now. */
export function targetOf(v: View, type: string): string | undefined {
  if (sizes.includes(type)) return `${v.spec.size}`;
  return versions.includes(type) ? v.spec.version : undefined;
}

/** It is over with its operation, also in a cluster that is not ready for another reason. */
export const isOver = (v: View, operation: ReportedOperation): boolean =>
  v.record.op === undefined &&
  (maintenances[operation.type] !== undefined || isGivenUp(operation) || isLeftFull(v, operation));

/** A cluster whose space could not be cleared is not Ready before somebody acts. */
const isLeftFull = ({ record }: View, { type }: ReportedOperation): boolean =>
  type === 'ClearingNoSpace' && record.failure?.of === 'ClearNoSpace';

/** A restore that ended before its fence: it may leave a cluster without a quorum behind. */
const isGivenUp = (operation: ReportedOperation): boolean =>
  restores.includes(operation.type) && operation.steps.length > 0 && !isPastFence(operation);

const maintenances: Partial<Record<string, MaintenanceKind>> = {
  Defragmenting: 'defragment',
  MovingLeader: 'moveLeader',
};

type Outcome = NonNullable<ReportedOperation['outcome']>;

/** What has become of an operation, when the cluster is Ready or another operation begins. */
export function outcomeOf(v: View, operation: ReportedOperation, isReady: boolean): Outcome {
  const { type, target } = operation;
  if (target !== targetOf(v, type)) return 'Superseded';
  if (restores.includes(type) && !isPastFence(operation)) return has(operation, 'Report') ? 'Failed' : 'Superseded';
  const kind = maintenances[type];
  const phase = kind && v.record.maintenance?.[kind]?.phase;
  if (kind) return phase === 'Completed' || phase === 'Failed' ? phase : 'Superseded';
  if (type === 'ClearingNoSpace' && isFull(v)) return isReady ? 'Failed' : 'Superseded';
  return isReady || isDone(v, type) ? 'Completed' : 'Superseded';
}

const restores: readonly string[] = ['Restoring', 'Recovering'];

const has = ({ steps }: ReportedOperation, ...kinds: readonly StepKind[]): boolean =>
  steps.some(({ kind }) => kind !== undefined && kinds.includes(kind));

/** From then on a restore ends only with its data. Of a step of an older release, which has no kind, this is not known. */
const isPastFence = (operation: ReportedOperation): boolean =>
  has(operation, 'StopPods', 'Seed', 'Restore') || operation.steps.some(({ kind }) => kind === undefined);

const isFull = (v: View): boolean => !v.o.alarms.known || alarms(v, 'NoSpace').length > 0;

/** Every member is there, and nothing of this operation is left to do. */
function isDone(v: View, type: string): boolean {
  const isWhole = v.o.members.known && isSeeded(v) && learners(v).length === 0 && voters(v).length === wantedSize(v);
  if (!isWhole || !v.o.pods.known) return false;
  if (type === 'Upgrading') return !isMixed(v) && restartsLeft(v).length === 0;
  if (type === 'RollingRestart') return restartsLeft(v).length === 0;
  return type !== 'SwitchingTransport' || switchStep(v) === undefined;
}
