import type { Permit, RecordDoc, RestoreArgs } from '../../../../protocol/record.ts';
import { recoveryId } from '../../../../protocol/restore-id.ts';
import type { Effect } from '../../../port/effect.ts';
import { rule, steps } from '../../engine/rule.ts';
import type { View } from '../../engine/view.ts';
import { beforeFence, isSeeded, quorumLostLong, quorumServes } from '../../facts/facts.ts';
import { agentAt, agentOf, lasts, podAt, requestOf, statusOf } from '../../facts/observations.ts';
import { survivor } from '../../facts/survivors.ts';
import { imageFits } from '../../facts/upgrade-path.ts';
import { ownJob } from '../jobs.ts';
import { oneTimeToken, opBase, takenBackup, timestamp, without, write } from '../record/write.ts';
import { ended, fails, slotFree, step, suspended } from './operation.ts';

// Choose the best survivor, back it up (alive, or salvaged from its volume), then restore that backup.

const asked = (v: View): boolean => {
  const { recovery } = v.spec;
  return recovery?.acceptDataLoss === true && recovery.id !== v.record.lastRecoveryId;
};

const at = (v: View, name: 'backup' | 'salvage'): boolean => v.op('Recover')?.step === name;
const chosen = (v: View): NonNullable<RestoreArgs['survivor']> => v.op('Recover')!.args.survivor!;

const triedJustNow = (v: View): boolean =>
  v.record.failure?.of === `Recover recovery:${v.spec.recovery?.id}` && !lasts(v, v.o.since.failure, v.s.retryFailed);

const salvagePermit = (v: View): Permit | undefined => {
  const permit = v.record.permits[chosen(v).ordinal];
  return permit?.mode === 'salvage' && permit.volumeId === chosen(v).volumeId ? permit : undefined;
};

const holdsData = (v: View): boolean => {
  const volume = agentAt(v, chosen(v).ordinal)?.volume;
  return volume?.walPresent === true && volume.identity?.volumeId === chosen(v).volumeId;
};

/** A gate that cannot read the record lets etcd start. Nothing is known of a new pod whose agent has not answered yet. */
const isPastGate = (v: View): boolean => {
  const { ordinal, podUid } = chosen(v);
  const agent = agentOf(v, ordinal);
  return agent ? !agent.gate : podAt(v, ordinal)?.uid === podUid;
};

function start(v: View): Effect {
  const { id, identitySecret } = v.spec.recovery!;
  const { answers, ...found } = survivor(v)!;
  return write(v, {
    op: {
      ...opBase(v),
      kind: 'Recover',
      step: answers ? 'backup' : 'salvage',
      args: {
        id: recoveryId(id),
        uid: id,
        specHash: '',
        identitySecret,
        safetyBackup: false,
        ignoreUnreachablePods: false,
        sourceToken: oneTimeToken(v),
        survivor: found,
      },
      ...suspended(v),
    },
  });
}

function permitSalvage(v: View): Effect {
  const { ordinal, volumeId } = chosen(v);
  const { permits, epoch, token } = v.record;
  const secret = oneTimeToken(v);
  const permit: Permit = {
    id: v.o.fresh.id,
    ordinal,
    volumeId,
    epoch,
    mode: 'salvage',
    token,
    initialCluster: '',
    salvage: { token: secret },
    issuedAt: timestamp(v),
  };
  return write(v, { permits: { ...permits, [ordinal]: permit }, ...step(v, 'salvage', { salvageToken: secret }) });
}

const stored = (v: View) => ownJob(v, at(v, 'salvage') ? 'salvage' : 'recovery')?.backup;

/** Continues with the step verify: the stored backup is verified and restored. */
function verify(v: View): Effect {
  const backup = stored(v)!;
  const { ordinal } = chosen(v);
  return write(v, {
    ...step(v, 'verify', { source: { schedule: v.spec.schedule, snapshotId: backup.id }, sha256: backup.sha256 }),
    permits: without(v.record.permits, ordinal),
    lastBackup: takenBackup(v, backup),
  });
}

const noLongerNeeded = (v: View): Partial<RecordDoc> => ({
  lastRecoveryId: v.spec.recovery!.id,
  failure: undefined,
});

export const skipRecovery = rule({
  name: 'Recover.notNeeded',
  does: 'WriteRecord',
  from: 'running',
  to: 'running',
  when: {
    'a recovery is requested': asked,
    'quorum serves': (v) => isSeeded(v) && quorumServes(v),
  },
  effect: (v) => write(v, noLongerNeeded(v)),
});

export const recover = rule({
  name: 'Recover',
  does: 'WriteRecord',
  from: 'running',
  to: ['backing up a survivor', 'salvaging'],
  when: {
    'a recovery is requested': asked,
    'the cluster is not being deleted': (v) => !v.cluster.deleting,
    'it did not fail just now': (v) => !triedJustNow(v),
  },
  requires: {
    'quorum is lost': quorumLostLong,
    'the slot is free': slotFree,
    'there is a backup schedule': (v) => v.spec.schedule !== undefined,
    'a survivor is known, and none is hidden': (v) => survivor(v) !== undefined,
  },
  effect: start,
});

export const endRecovery = rule({
  name: 'Recover.quorumBack',
  does: 'WriteRecord',
  from: ['backing up a survivor', 'salvaging', 'verifying'],
  to: 'running',
  when: {
    'op Recover before the fence': (v) => v.op('Recover') !== undefined && beforeFence(v) !== undefined,
    'quorum serves': quorumServes,
  },
  effect: (v) => {
    const lastRecoveryId = v.op('Recover')!.args.uid;
    return write(v, { ...ended(v), lastRecoveryId, failure: undefined });
  },
});

export const recoverySteps = [
  ...steps(
    {
      when: { 'step backup or salvage': (v) => at(v, 'backup') || at(v, 'salvage') },
      from: ['backing up a survivor', 'salvaging'],
    },
    [
      rule({
        name: 'Recover.stored',
        does: 'WriteRecord',
        to: 'verifying',
        requires: { 'its snapshot is in the store, verified': (v) => stored(v) !== undefined },
        effect: verify,
      }),
      rule({
        name: 'Recover.survivorLost',
        does: 'WriteRecord',
        to: 'running',
        when: {
          'its volume has lost its data': (v) => requestOf(v, chosen(v).ordinal) !== undefined,
        },
        effect: (v) => fails(v, 'BackupFailed', `the volume of ordinal ${chosen(v).ordinal} has lost its data`),
      }),
    ],
  ),
  ...steps({ when: { 'step backup': (v) => at(v, 'backup') } }, [
    rule({
      name: 'Recover.salvageInstead',
      does: 'WriteRecord',
      from: 'backing up a survivor',
      to: 'salvaging',
      requires: {
        'volumes persist': (v) => !v.spec.ephemeral,
        'its Job failed': (v) => ownJob(v, 'recovery')?.state === 'Failed',
        'the survivor no longer answers': (v) => statusOf(v, chosen(v).memberId) === undefined,
        'its agent sees its data': holdsData,
      },
      effect: (v) =>
        write(v, step(v, 'salvage', { survivor: { ...chosen(v), podUid: agentAt(v, chosen(v).ordinal)!.podUid } })),
    }),
  ]),
  ...steps({ when: { 'step salvage': (v) => at(v, 'salvage') }, from: 'salvaging', to: 'salvaging' }, [
    rule({
      name: 'Salvage.permit',
      does: 'WriteRecord',
      requires: { 'no permit for it yet': (v) => salvagePermit(v) === undefined },
      effect: permitSalvage,
    }),
    rule({
      name: 'Salvage.restart',
      does: 'DeletePod',
      when: { 'it is past the gate': isPastGate },
      requires: {
        'it is not being deleted': (v) => podAt(v, chosen(v).ordinal)?.deleting === false,
        'the image has the version that the template names': imageFits,
      },
      effect: (v) => {
        const { ordinal } = chosen(v);
        return { kind: 'DeletePod', ordinal, uid: podAt(v, ordinal)!.uid };
      },
    }),
  ]),
];
