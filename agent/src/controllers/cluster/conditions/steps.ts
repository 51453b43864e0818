import type { StepKind } from '../../../protocol/cluster-status.ts';
import type { Op, RestoreOp, RestoreStep } from '../../../protocol/record.ts';
import { minorOf } from '../../../protocol/versions.ts';
import { podName } from '../../port/names.ts';
import type { Pod } from '../../port/observed.ts';
import type { View } from '../engine/view.ts';
import { answers, hasReadyPod, healthy, isSeeded, learners, memberAt, voters, wantedSize } from '../facts/facts.ts';
import { podsOf, statefulSet } from '../facts/observations.ts';
import { transportRefusal } from '../facts/transport.ts';
import { switchStep, whyNotBegun } from '../facts/transport-steps.ts';
import { membersLeft } from '../operations/maintenance/defragment.ts';
import { nextLeader } from '../operations/maintenance/move-leader.ts';
import { podOf } from '../operations/maintenance/request.ts';
import { inOrder, outdated, restarts } from '../operations/restart.ts';
import { isMixed } from '../operations/scale.ts';

/** What is being done to the cluster, and what follows it, each in a few words. */
export interface Steps {
  /** Undefined between two steps. */
  readonly now?: NamedStep;
  readonly next: readonly NamedStep[];
}

export interface NamedStep {
  readonly kind: StepKind;
  readonly name: string;
}

const step = (kind: StepKind, name: string): NamedStep => ({ kind, name });

const restoreSteps: Record<RestoreStep, NamedStep> = {
  backup: step('BackUp', 'back up the survivor'),
  salvage: step('Salvage', 'read the data of the survivor from its volume'),
  verify: step('Verify', 'verify the snapshot'),
  safety: step('BackUp', 'back up the present data'),
  fence: step('Fence', 'shut out the present data'),
  drain: step('StopPods', 'stop all pods'),
  seed: step('Seed', 'choose the volume of the first member'),
  restore: step('Restore', 'restore the snapshot into the first member'),
  report: step('Report', 'report why it failed'),
};

const clearSteps = {
  compact: step('Compact', 'compact the revisions'),
  defrag: step('Defragment', 'defragment the databases'),
  disarm: step('Disarm', 'clear the alarm'),
} as const;

const deleteSteps = {
  backup: step('BackUp', 'take the final backup'),
  scale: step('StopPods', 'stop all pods'),
  claims: step('DeleteClaims', 'delete the volume claims'),
} as const;

/** Undefined: not known now. */
export function stepsOf(v: View): Steps | undefined {
  const { op } = v.record;
  if (op) return inFlight(v, op);
  return isSeeded(v) && !(v.o.members.known && v.o.pods.known) ? undefined : between(v);
}

function inFlight(v: View, op: Op): Steps {
  const pod = 'ordinal' in op && op.ordinal !== undefined ? podName(v.cluster, op.ordinal) : '';
  switch (op.kind) {
    case 'AddLearner':
      return { now: adding(pod), next: [catchingUp(pod), promoting(pod), ...joins(v, op.ordinal)] };
    case 'Promote':
      return { now: promoting(pod), next: joins(v, op.ordinal) };
    case 'Remove':
      return removal(v, pod, op);
    case 'DeletePod':
      return { now: restarting(pod), next: [waitingFor(pod), ...restartsLeft(v, op.ordinal), ...versionStep(v)] };
    case 'Upgrade':
      return { now: step('BackUp', 'back up before the upgrade'), next: [...restartsLeft(v), raisingVersion] };
    case 'Restore':
    case 'Recover':
      return restore(v, op);
    case 'ClearNoSpace':
      return within(clearSteps, op.step);
    case 'Defragment':
      return defragmentation(v, op);
    case 'MoveLeader':
      return { now: step('MoveLeader', `make ${nextLeader(v, op)} the leader`), next: [] };
    case 'Delete':
      return within(deleteSteps, op.step);
  }
}

/** Leaves out the steps that only some restores have. */
function restore(v: View, { step: at, args }: RestoreOp): Steps {
  const { now, next } = within(restoreSteps, at, joins(v, 0));
  const rare: RestoreStep[] = ['backup', 'salvage', 'report', ...(args.safetyBackup ? [] : (['safety'] as const))];
  return { now, next: next.filter((each) => !rare.some((name) => restoreSteps[name] === each)) };
}

function within<S extends string>(all: Readonly<Record<S, NamedStep>>, at: S, then: readonly NamedStep[] = []) {
  const names = Object.keys(all) as S[];
  const later = names.slice(names.indexOf(at) + 1);
  return { now: all[at], next: [...later.map((name) => all[name]), ...then] };
}

function removal(v: View, pod: string, op: Extract<Op, { kind: 'Remove' }>): Steps {
  const claim = step('DeleteClaim', `delete the volume claim of ${pod}`);
  const comesBack = op.ordinal < wantedSize(v);
  const then = comesBack ? joins(v) : [];
  if (op.step === 'claim') return { now: claim, next: then };
  return {
    now: step('Remove', `remove ${pod} from the member list`),
    next: [...(op.claimUid ? [claim] : []), ...then],
  };
}

function defragmentation(v: View, { present }: Extract<Op, { kind: 'Defragment' }>): Steps {
  const later = membersLeft(v).filter(({ id }) => id !== present?.memberId);
  const next = later.map((m) => defragmenting(podOf(v, m)));
  return present ? { now: defragmenting(present.pod), next } : { next };
}

/** No operation is in the record: members start, catch up or become healthy, or everything is done. */
function between(v: View): Steps {
  const later = [...joins(v), ...restartsLeft(v), ...versionStep(v)];
  if (!isSeeded(v)) return { now: starting(podName(v.cluster, 0)), next: joins(v, 0) };
  const [learner] = learners(v);
  if (learner?.ordinal !== undefined) {
    const pod = podName(v.cluster, learner.ordinal);
    return { now: catchingUp(pod), next: [promoting(pod), ...joins(v, learner.ordinal), ...restartsLeft(v)] };
  }
  const old = voters(v).find(({ pod }) => pod && restarts(v, pod))?.pod;
  if (old) {
    const pod = podName(v.cluster, old.ordinal);
    return { now: restarting(pod), next: [waitingFor(pod), ...later] };
  }
  const unwell = voters(v).find((m) => !answers(v, m.id) || !hasReadyPod(m) || !healthy(v, m.id));
  if (unwell?.ordinal !== undefined) return { now: waitingFor(podName(v.cluster, unwell.ordinal)), next: later };
  const started = joining(v).find((ordinal) => ordinal < (statefulSet(v)?.replicas ?? 0));
  if (started !== undefined) {
    const pod = podName(v.cluster, started);
    return { now: starting(pod), next: [adding(pod), catchingUp(pod), promoting(pod), ...joins(v, started)] };
  }
  const isRolled = restartsLeft(v).length === 0;
  if (isMixed(v) && allRunNewest(v)) return { now: raisingVersion, next: [] };
  const transport = isRolled && transportRefusal(v) === undefined && whyNotBegun(v) === undefined && switchStep(v);
  return transport ? { now: step('SwitchTransport', transport), next: later } : { next: later };
}

/** The StatefulSet may not have the new template yet. */
function allRunNewest(v: View): boolean {
  const { allowedMinors, current } = v.record.versions;
  const newest = allowedMinors.find((minor) => minor !== current);
  return voters(v).every(({ status }) => minorOf(status?.version ?? '') === newest);
}

const starting = (pod: string): NamedStep => step('Start', `start ${pod}`);
const waitingFor = (pod: string): NamedStep => step('BecomeHealthy', `wait until ${pod} is healthy`);
const adding = (pod: string): NamedStep => step('Add', `add ${pod}`);
const catchingUp = (pod: string): NamedStep => step('CatchUp', `wait until ${pod} has caught up`);
const promoting = (pod: string): NamedStep => step('Promote', `promote ${pod}`);
const restarting = (pod: string): NamedStep => step('Restart', `restart ${pod}`);
const defragmenting = (pod: string): NamedStep => step('Defragment', `defragment ${pod}`);
const raisingVersion = step('RaiseVersion', 'raise the cluster version');

/** Ordinals that have no member yet. */
const joining = (v: View): number[] =>
  [...Array(wantedSize(v)).keys()].filter((ordinal) => v.o.members.known && memberAt(v, ordinal) === undefined);

const joins = (v: View, except?: number): NamedStep[] =>
  joining(v)
    .filter((ordinal) => ordinal !== except)
    .map((ordinal) => adding(podName(v.cluster, ordinal)));

export const restartsLeft = (v: View, except?: number): NamedStep[] =>
  inOrder(v)
    .filter((pod: Pod) => pod.ordinal !== except && outdated(v, pod) && memberAt(v, pod.ordinal)?.isLearner === false)
    .map(({ ordinal }) => restarting(podName(v.cluster, ordinal)));

const versionStep = (v: View): NamedStep[] => (isMixed(v) && podsOf(v).length > 0 ? [raisingVersion] : []);
