import { minorOf } from '../../../protocol/versions.ts';
import { alarms, allVotersHealthy, leaderIndex, voters } from '../plan/facts.ts';
import { rule } from '../plan/rule.ts';
import { isSettled } from '../plan/upgrade-path.ts';
import type { View } from '../plan/view.ts';
import { write } from '../plan/write.ts';
import { isMixed } from './scale.ts';

// Entries of 3.5 leave the raft log before 3.7 comes: leases are granted and revoked until each member has written
// a raft snapshot far enough beyond them. No key, no revision, no restart.

const on36 = (v: View): boolean =>
  !isMixed(v) && voters(v).every(({ status }) => minorOf(status?.version ?? '') === '3.6');

export const settle = [
  rule({
    name: 'Settle.mark',
    does: 'WriteRecord',
    from: 'running',
    to: 'running',
    when: {
      'every voter runs 3.6, no upgrade is half done': on36,
      'no index is known beyond which 3.5 wrote nothing': (v) => v.record.versions.finalizedIndex === undefined,
    },
    requires: { 'all voters healthy': allVotersHealthy },
    effect: (v) => write(v, { versions: { ...v.record.versions, finalizedIndex: leaderIndex(v) } }),
  }),
  rule({
    name: 'Settle.churn',
    does: 'LeaseChurn',
    from: 'running',
    to: 'running',
    when: { 'every voter runs 3.6, no upgrade is half done': on36, 'not settled': (v) => !isSettled(v) },
    requires: {
      'every agent is known': (v) => voters(v).every((m) => m.agent !== undefined),
      'all voters healthy': allVotersHealthy,
      'no alarm': (v) => alarms(v, 'NoSpace').length === 0,
    },
    effect: (v) => ({ kind: 'LeaseChurn', pairs: v.s.churnPairs }),
  }),
];
