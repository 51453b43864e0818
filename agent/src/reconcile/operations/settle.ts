import { agentAt, alarms, allVotersHealthy, leaderIndex, learners, ordinalOf, statusOf, voters } from '../facts.ts';
import { row } from '../row.ts';
import { isSettled } from '../upgrade-path.ts';
import { minorOf } from '../versions.ts';
import type { View } from '../view.ts';
import { write } from '../write.ts';
import { isMixed } from './scale.ts';

// Entries of 3.5 leave the raft log before 3.7 comes: leases are granted and revoked until each member has written
// a raft snapshot far enough beyond them. No key, no revision, no restart.

const all36 = (v: View): boolean => voters(v).every(({ id }) => minorOf(statusOf(v, id)?.version ?? '') === '3.6');

const unsettled = {
  'the cluster is on 3.6': (v: View) => v.record.versions.current === '3.6' && !isMixed(v),
};

export const settle = [
  row({
    name: 'Settle.mark',
    does: 'WriteRecord',
    priority: 15.1,
    from: 'running',
    to: 'running',
    when: {
      ...unsettled,
      'no index is known beyond which 3.5 wrote nothing': (v) => v.record.versions.finalizedIndex === undefined,
    },
    requires: { 'all voters healthy': allVotersHealthy, 'every voter runs 3.6': all36 },
    effect: (v) => write(v, { versions: { ...v.record.versions, finalizedIndex: leaderIndex(v) } }),
  }),
  row({
    name: 'Settle.churn',
    does: 'LeaseChurn',
    priority: 15.1,
    from: 'running',
    to: 'running',
    when: { ...unsettled, 'not settled': (v) => !isSettled(v) },
    requires: {
      'the index is known': (v) => v.record.versions.finalizedIndex !== undefined,
      'every agent is known': (v) => voters(v).every((m) => agentAt(v, ordinalOf(v, m) ?? -1) !== undefined),
      'all voters healthy': allVotersHealthy,
      'no learner': (v) => learners(v).length === 0,
      'no alarm': (v) => alarms(v, 'NoSpace').length === 0,
    },
    effect: (v) => ({ kind: 'LeaseChurn', pairs: v.s.churnPairs }),
  }),
];
