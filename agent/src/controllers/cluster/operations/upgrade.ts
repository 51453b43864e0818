import type { RecordDoc } from '../../../protocol/record.ts';
import { minorOf } from '../../../protocol/versions.ts';
import { implied, rule, steps } from '../engine/rule.ts';
import type { View } from '../engine/view.ts';
import { alarms, allVotersHealthy, healthy, jobOf, leaderIndex, learners, removalDue, voters } from '../facts/facts.ts';
import { lasts, statefulSet } from '../facts/observations.ts';
import { clusterVersionIs, isSettled, upgradeProblem, waitsForVersion } from '../facts/upgrade-path.ts';
import { awaitsCorrection, reasonToGiveUp } from './jobs.ts';
import { opBase, takenBackup, write } from './record/write.ts';
import { isMixed } from './scale.ts';

// A new minor: back up, allow it, let RestartPod roll it, finalize it once etcd's own cluster version has followed.

const target = (v: View): string => minorOf(v.spec.version);
const needed = (v: View): boolean => !v.record.versions.allowedMinors.includes(target(v));
const failureOf = (v: View): string => `Upgrade ${target(v)}`;

const triedJustNow = (v: View): boolean =>
  v.record.failure?.of === failureOf(v) && !lasts(v, v.o.since.failure, v.s.retryFailed);

const allow = (v: View, minor: string): RecordDoc['versions'] => ({
  ...v.record.versions,
  allowedMinors: [...v.record.versions.allowedMinors, minor].sort(),
});

const withoutFailure = (v: View) => (v.record.failure?.of === failureOf(v) ? { failure: undefined } : {});

/** A repair is due; the backup must not keep the slot from it. */
const repairWaits = (v: View): boolean => voters(v).some((member) => removalDue(v, member));

const runs = (v: View, minor: string): boolean =>
  voters(v).every(({ status }) => minorOf(status?.version ?? '') === minor);

const added = (v: View): string =>
  v.record.versions.allowedMinors.find((minor) => minor !== v.record.versions.current)!;

const ready = {
  'the upgrade is possible from here': (v: View) => upgradeProblem(v) === undefined,
  'all voters healthy, or waiting for this version': (v: View) =>
    voters(v).every((m) => healthy(v, m.id) || waitsForVersion(v, m)),
  'no learner': (v: View) => learners(v).length === 0,
  'no alarm': (v: View) => alarms(v, 'NoSpace').length === 0,
  'the template names the same version': (v: View) => statefulSet(v)?.version === v.spec.version,
};

const job = (v: View) => {
  const found = jobOf(v, 'pre-upgrade');
  return found && found.op === v.op('Upgrade')?.id ? found : undefined;
};

export const upgradeSteps = [
  ...steps({ from: 'backing up' }, [
    rule({
      name: 'Upgrade.drop',
      does: 'WriteRecord',
      to: 'running',
      when: {
        'op Upgrade': (v) => v.op('Upgrade') !== undefined,
        'another version is asked for, or a repair waits': (v) => v.op('Upgrade')!.to !== target(v) || repairWaits(v),
      },
      effect: (v) => write(v, { op: undefined }),
    }),
    rule({
      name: 'Upgrade.allow',
      does: 'WriteRecord',
      to: 'upgrading',
      when: { 'op Upgrade': implied('its backup is of no other operation', (v) => v.op('Upgrade') !== undefined) },
      requires: {
        'its backup is verified': (v) => job(v)?.state === 'Succeeded' && job(v)?.backup !== undefined,
      },
      effect: (v) =>
        write(v, {
          versions: allow(v, v.op('Upgrade')!.to),
          lastBackup: takenBackup(v, job(v)!.backup!),
          ...withoutFailure(v),
          op: undefined,
        }),
    }),
    rule({
      name: 'Upgrade.fail',
      does: 'WriteRecord',
      to: 'running',
      when: { 'the Job of op Upgrade failed, or does not start': (v) => reasonToGiveUp(v, job(v)) !== undefined },
      effect: (v) =>
        write(v, {
          failure: {
            of: `Upgrade ${v.op('Upgrade')!.to}`,
            reason: 'BackupFailed',
            message: reasonToGiveUp(v, job(v))!,
          },
          op: undefined,
        }),
    }),
  ]),
];

export const finalizeUpgrade = rule({
  name: 'Upgrade.finalize',
  does: 'WriteRecord',
  from: 'upgrading',
  to: 'running',
  when: { 'upgrade half done': implied('else no minor was added for the cluster version to be', isMixed) },
  requires: {
    'all voters healthy': allVotersHealthy,
    'the cluster version has followed': (v) => clusterVersionIs(v, added(v)),
  },
  effect: (v) => {
    const { current, ...versions } = v.record.versions;
    const finalizedIndex = current === '3.5' ? { finalizedIndex: leaderIndex(v) } : {};
    return write(v, {
      versions: { ...versions, current: added(v), allowedMinors: [added(v)], ...finalizedIndex },
    });
  },
});

export const revertUpgrade = rule({
  name: 'Upgrade.revert',
  does: 'WriteRecord',
  from: 'upgrading',
  to: 'running',
  when: {
    'upgrade half done': isMixed,
    'the old minor is asked for': (v) => target(v) === v.record.versions.current,
  },
  requires: {
    'every voter runs the old minor': (v) => runs(v, v.record.versions.current),
    'no learner': (v) => learners(v).length === 0,
    'the template names it too': (v) => minorOf(statefulSet(v)?.version ?? '') === target(v),
  },
  effect: (v) => write(v, { versions: { ...v.record.versions, allowedMinors: [v.record.versions.current] } }),
});

export const beginUpgrade = [
  rule({
    name: 'Upgrade',
    does: 'WriteRecord',
    from: 'running',
    to: 'backing up',
    when: {
      'another minor is asked for': needed,
      'there is a backup schedule': (v) => v.spec.schedule !== undefined,
      'it did not fail just now': (v) => !triedJustNow(v),
      'nor for what nobody has corrected': (v) => v.o.jobs.known && !awaitsCorrection(v, jobOf(v, 'pre-upgrade')),
    },
    requires: ready,
    effect: (v) => write(v, { op: { ...opBase(v), kind: 'Upgrade', to: target(v) } }),
  }),
  rule({
    name: 'Upgrade.withoutBackup',
    does: 'WriteRecord',
    from: 'running',
    to: 'upgrading',
    when: {
      'another minor is asked for': needed,
      'there is no backup schedule': (v) => v.spec.schedule === undefined,
    },
    requires: ready,
    effect: (v) => write(v, { versions: { ...allow(v, target(v)), withoutBackup: true } }),
  }),
];

// Entries of 3.5 must leave the raft log before 3.7 starts: leases are granted and revoked until each member has written
// a raft snapshot far enough beyond them. This needs no key, no revision and no restart.

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
