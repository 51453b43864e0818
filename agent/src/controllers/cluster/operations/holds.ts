import type { Reason } from '../../../protocol/reasons.ts';
import { minorOf } from '../../../protocol/versions.ts';
import type { Pod } from '../../port/observed.ts';
import { rule } from '../engine/rule.ts';
import type { View } from '../engine/view.ts';
import { foreignMember, isSeeded, isSetBack, lacksManifests, quorumServes, voters } from '../facts/facts.ts';
import { agentAt, podsOf, requestOf, statefulSet } from '../facts/observations.ts';
import { clusterVersionIsWithin, templateMayRun } from '../facts/upgrade-path.ts';
import { isOfAnother } from './restart.ts';

// Holds: while the guards of one are true, no rule below it in the table is tried.

const reportedReason = (v: View, reasons: readonly string[]): boolean =>
  podsOf(v).some(({ ordinal }) => reasons.includes(agentAt(v, ordinal)?.reason ?? ''));

/** One member id on two volumes, as observed here or by an agent. */
const splitEvidence = (v: View): boolean =>
  reportedReason(v, ['DuplicateMember']) ||
  voters(v).some((m) => {
    const identity = m.agent?.volume.identity;
    return identity?.memberId === m.id && m.recorded?.memberId === m.id && identity.volumeId !== m.recorded.volumeId;
  });

/** Why quorum is lost, according to the volumes that the agents report. */
export function quorumReason(v: View): Reason {
  const members = Object.keys(v.record.members).map(Number);
  const lost = members.filter((ordinal) => requestOf(v, ordinal) !== undefined);
  const setBack = members.filter((ordinal) => isSetBack(v, ordinal, v.record.members[ordinal]!.memberId));
  const isMajority = (count: number): boolean => count > members.length / 2;
  if (members.length > 0 && lost.length === members.length) return members.length === 1 ? 'SeedLost' : 'AllVolumesLost';
  if (isMajority(lost.length)) return 'MajorityVolumesLost';
  return isMajority(lost.length + setBack.length) ? 'VolumesSetBack' : 'MajorityDown';
}

const runsAnother = (v: View, { ordinal }: Pod): boolean => agentAt(v, ordinal)?.reason === 'VersionMismatch';

/** RestartPod replaces the pod, or has done so: the template is newer, and its etcd starts on the data. */
const isReplaced = (v: View, pod: Pod): boolean =>
  isOfAnother(v, pod) && templateMayRun(v) && clusterVersionIsWithin(v, minorOf(statefulSet(v)!.version));

export const holdPaused = rule({
  name: 'HoldPaused',
  requires: { 'spec.paused': (v) => v.spec.paused && !v.cluster.deleting },
  hold: 'Paused',
});

export const holdManifestsMissing = rule({
  name: 'HoldManifestsMissing',
  requires: { 'no StatefulSet': lacksManifests },
  hold: 'ManifestsMissing',
});

/** An agent has read a newer record, so an old one was put back. */
const rolledBack = (v: View): boolean =>
  podsOf(v).some(({ ordinal }) => (agentAt(v, ordinal)?.recordRev ?? 0) > v.record.rev);

export const holdRecordRolledBack = rule({
  name: 'HoldRecordRolledBack',
  requires: { 'an agent has seen a newer record': rolledBack },
  hold: 'RecordRolledBack',
});

export const holdQuorumLost = rule({
  name: 'HoldQuorumLost',
  requires: { 'seeded, and no quorum serves': (v) => isSeeded(v) && !quorumServes(v) },
  hold: quorumReason,
});

export const holdOperation = rule({
  name: 'HoldOperation',
  requires: { 'an operation is in flight': (v) => v.record.op !== undefined },
  hold: 'OperationInFlight',
});

export const holdSeeding = rule({
  name: 'HoldSeeding',
  requires: { 'epoch not seeded': (v) => !isSeeded(v) },
  hold: (v) => (foreignMember(v) ? 'ForeignMember' : 'Bootstrapping'),
});

export const holdSplitEvidence = rule({
  name: 'HoldSplitEvidence',
  requires: { 'one member, two volumes': splitEvidence },
  hold: 'DuplicateMember',
});

export const holdForeignMember = rule({
  // Below the removal of dead members, which continues. Every rule below adds, moves or restarts members.
  name: 'HoldForeignMember',
  requires: { 'a member at an address of no pod': (v) => foreignMember(v) !== undefined },
  hold: 'ForeignMember',
});

export const holdVersionMismatch = rule({
  name: 'HoldVersionMismatch',
  requires: {
    'a pod runs another version than its template names': (v) =>
      podsOf(v).some((pod) => runsAnother(v, pod) && !isReplaced(v, pod)),
  },
  hold: 'VersionMismatch',
});
