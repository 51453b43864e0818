import type { RecordDoc } from '../../../../protocol/record.ts';
import type { Effect } from '../../../port/effect.ts';
import { sizeProblem } from '../../../port/names.ts';
import { implied, rule } from '../../engine/rule.ts';
import type { View } from '../../engine/view.ts';
import { agentOf, statefulSet } from '../../facts/observations.ts';
import { versionProblem } from '../../facts/upgrade-path.ts';
import { agents, epochRead, firstRecord, hasData, membersOf, newestEpoch, oneCluster, rebuilt } from './new-record.ts';

// Without a record: create the first one, or rebuild a lost one. A cluster is never bootstrapped twice (protocol.md: NoSecondBootstrap).

const allAgentsKnown = (v: View): boolean =>
  v.o.pods.known && v.o.pods.v.every(({ ordinal }) => agentOf(v, ordinal) !== undefined);

const annotatedEpochs = (v: View): number[] =>
  v.o.claims.known ? v.o.claims.v.map(({ epoch }) => epoch).filter((epoch) => epoch !== undefined) : [];

/** The status or the template names an epoch. Only a restore raises the template's. */
const namesEpoch = (v: View): boolean => {
  const { epoch, clusterUid } = v.cluster.status;
  return epoch !== undefined || clusterUid !== undefined || (statefulSet(v)?.minEpoch ?? 0) > 0;
};

const neverBorn = (v: View): boolean => statefulSet(v) !== undefined && !namesEpoch(v);

const claimOfACluster = (v: View): boolean =>
  v.o.claims.known && v.o.claims.v.some(({ clusterUid }) => clusterUid !== undefined);

const noClaimOfACluster = (v: View): boolean =>
  v.o.claims.known && v.o.claims.v.every(({ clusterUid }) => clusterUid === undefined);

const create = (doc: RecordDoc): Effect => ({ kind: 'WriteRecord', doc });

const epochSeen = (v: View): number =>
  Math.max(v.cluster.status.epoch ?? 0, statefulSet(v)?.minEpoch ?? 0, epochRead(v), ...annotatedEpochs(v));

/** Enough for the claims that name a cluster. */
const replicasNeeded = (v: View): number =>
  v.o.claims.known
    ? Math.max(0, ...v.o.claims.v.filter(({ clusterUid }) => clusterUid).map(({ ordinal }) => ordinal + 1))
    : 0;

export const firstRecordRules = [
  rule({
    name: 'InitRecord',
    does: 'WriteRecord',
    from: 'no record',
    to: 'no cluster',
    when: { 'status and template name no epoch': neverBorn, 'no claim names a cluster': noClaimOfACluster },
    requires: {
      'size and version are possible': (v) =>
        sizeProblem(v.spec) === undefined && versionProblem(v.spec.version) === undefined,
      'every agent is known': allAgentsKnown,
      'no volume has data': (v) => !agents(v).some(hasData),
      'requests for restores are known': (v) => v.o.restores.known,
    },
    effect: (v) => create(firstRecord(v)),
  }),
  rule({
    name: 'RebuildRecord.scale',
    does: 'ScaleTo',
    from: 'no record',
    to: 'no record',
    when: {
      'pods of claims of a cluster are missing': (v) =>
        (statefulSet(v)?.replicas ?? Number.POSITIVE_INFINITY) < replicasNeeded(v),
    },
    effect: (v) => ({ kind: 'ScaleTo', replicas: replicasNeeded(v), basedOn: statefulSet(v)!.rv }),
  }),
  rule({
    name: 'RebuildRecord',
    does: 'WriteRecord',
    from: 'no record',
    to: 'running',
    requires: {
      'claims and StatefulSet are known': (v) => v.o.claims.known && statefulSet(v) !== undefined,
      'requests for restores are known': (v) => v.o.restores.known,
      'a quorum answers': implied('without a list of members none can attest', (v) => v.o.members.known),
      'the newest data are of one cluster': oneCluster,
      'a member attests for them': (v) => Object.keys(membersOf(v)).length > 0,
      'no newer epoch was seen': (v) => newestEpoch(v) >= epochSeen(v),
    },
    effect: (v) => create(rebuilt(v)),
  }),
  rule({
    name: 'HoldRecordLost',
    from: 'no record',
    to: 'no record',
    requires: {
      'there was a cluster': (v) => namesEpoch(v) || claimOfACluster(v) || agents(v).some(hasData),
    },
    hold: 'RecordLost',
  }),
];
