import { firstRevision } from '../../../../backup/restore/first-revision.ts';
import type { Permit, RecordDoc, Transport } from '../../../../protocol/record.ts';
import { isOrigin } from '../../../../protocol/restore-id.ts';
import type { Effect } from '../../../port/effect.ts';
import { podName } from '../../../port/names.ts';
import { rule, steps } from '../../engine/rule.ts';
import type { View } from '../../engine/view.ts';
import { agentAt, agentOf, podAt, refusalAt, requestOf, statefulSet } from '../../facts/observations.ts';
import { isGuardedByTls, seedUrl, transportAtBirth, transportOf } from '../../facts/transport.ts';
import { imageFits } from '../../facts/upgrade-path.ts';
import { bornOn } from '../bootstrap.ts';
import { timestamp, write } from '../record/write.ts';
import { isOfAnother } from '../restart.ts';
import { args, at, sameSnapshot, serving, step } from './operation.ts';

// Seed and restore: start one pod, permit its volume, restore the verified snapshot.

function seedPermit(v: View, { epoch, token }: Pick<RecordDoc, 'epoch' | 'token'>, bumpRevision: number): Permit {
  const { id, sourceToken } = args(v);
  const { url, sha256 } = serving(v)!;
  return {
    id: v.o.fresh.id,
    ordinal: 0,
    volumeId: requestOf(v, 0)!,
    epoch,
    mode: 'restore',
    token,
    initialCluster: `${podName(v.cluster, 0)}=${seedUrl(v, transportOfSeed(v))}`,
    restore: {
      id,
      source: { url, sha256, token: sourceToken },
      bumpRevision,
    },
    issuedAt: timestamp(v),
  };
}

/**
 * No client knows a cluster that is born from a backup, so it begins as the spec says. But a Job that relies on TLS may have
 * accepted a snapshot with authentication, which needs certificates: TLS is then switched off afterwards.
 */
function transportOfSeed(v: View): Transport {
  if (!isOrigin(args(v).id)) return transportOf(v);
  return isGuardedByTls(v.record) ? { peers: 'https', clients: 'https', target: 'https' } : transportAtBirth(v);
}

const seedTraits = (v: View): Pick<RecordDoc, 'versions' | 'transport'> => ({
  versions: bornOn(agentAt(v, 0)!.etcdBinary),
  transport: transportOfSeed(v),
});

/** The number stays in the record: a permitted seed may serve from `startRevision` on, so another one begins beyond it. */
function permitSeed(v: View, as: Pick<RecordDoc, 'epoch' | 'token'> = v.record): Effect {
  const { epoch, token } = as;
  const { revision } = args(v).verified!;
  const startRevision = firstRevision(
    Math.max(args(v).lastRevision ?? 0, v.record.startRevision ?? 0, revision),
    v.date,
  );
  const permits = { 0: seedPermit(v, as, startRevision - revision) };
  return write(v, { ...step(v, 'restore'), epoch, token, startRevision, permits, ...seedTraits(v) });
}

/** Restores the same snapshot in a new epoch with its own token, after the seed lost its volume before it was seen to serve. */
const permitAnother = (v: View): Effect => permitSeed(v, { epoch: v.record.epoch + 1, token: v.o.fresh.token });

const permitOfSeed = (v: View): Permit | undefined => v.record.permits[0];

const seedAtMinEpoch = (v: View): boolean => agentOf(v, 0)?.minEpoch === v.record.minEpoch;

/** Pods that wait to be born from a backup are not drained, so theirs may be an old template, without certificates. */
const isSeedCurrent = (v: View): boolean =>
  seedAtMinEpoch(v) && statefulSet(v)?.observed === true && !isOfAnother(v, podAt(v, 0)!);

/** Its pod has no certificates, with which it would fetch the snapshot, and another one would have them. */
const seedLacksCertificates = (v: View): boolean => {
  const keepsData = !agentAt(v, 0)?.volume.walPresent || !v.spec.ephemeral;
  return refusalAt(v, 0) === 'ConfigRefused' && keepsData && isOfAnother(v, podAt(v, 0)!) && !podAt(v, 0)!.deleting;
};

export const seedSteps = [
  rule({
    name: 'SeedPod',
    does: 'ScaleTo',
    from: 'seeding',
    to: 'seeding',
    when: {
      'step seed or restore': (v) => at(v, 'seed') !== undefined || at(v, 'restore') !== undefined,
      'there is no replica': (v) => statefulSet(v)?.replicas === 0,
    },
    requires: { 'the image has the version that the template names': imageFits },
    effect: (v) => ({ kind: 'ScaleTo', replicas: 1, basedOn: statefulSet(v)!.rv }),
  }),
  ...steps({ when: { 'step seed': (v) => at(v, 'seed') !== undefined }, from: 'seeding' }, [
    rule({
      name: 'SeedPod.again',
      does: 'DeletePod',
      to: 'seeding',
      when: {
        'its agent is known': (v) => agentOf(v, 0) !== undefined,
        'it was made from a stale template': (v) =>
          (!seedAtMinEpoch(v) || isOfAnother(v, podAt(v, 0)!)) && !podAt(v, 0)!.deleting,
      },
      requires: { 'the image has the version that the template names': imageFits },
      effect: (v) => ({ kind: 'DeletePod', ordinal: 0, uid: podAt(v, 0)!.uid }),
    }),
    rule({
      name: 'RestorePermit',
      does: 'WriteRecord',
      to: 'restoring',
      requires: {
        'the image has the version that the template names': imageFits,
        'seed requests a permit': (v) => requestOf(v, 0) !== undefined,
        'it is of the present template, with the record’s minEpoch': isSeedCurrent,
        'the verified snapshot is being served': sameSnapshot,
      },
      effect: (v) => permitSeed(v),
    }),
  ]),
  ...steps({ when: { 'step restore': (v) => at(v, 'restore') !== undefined }, from: 'restoring', to: 'restoring' }, [
    rule({
      name: 'SeedPod.certificates',
      does: 'DeletePod',
      when: { 'its gate lacks certificates, and its template is stale': seedLacksCertificates },
      requires: { 'the image has the version that the template names': imageFits },
      effect: (v) => ({ kind: 'DeletePod', ordinal: 0, uid: podAt(v, 0)!.uid }),
    }),
    rule({
      name: 'RestorePermit.another',
      does: 'WriteRecord',
      requires: {
        'the image has the version that the template names': imageFits,
        'another volume requests a permit': (v) =>
          requestOf(v, 0) !== undefined && requestOf(v, 0) !== permitOfSeed(v)?.volumeId,
        'the verified snapshot is being served': sameSnapshot,
      },
      effect: permitAnother,
    }),
    rule({
      name: 'RestorePermit.again',
      does: 'WriteRecord',
      when: {
        'the verified snapshot is being served': sameSnapshot,
        'from another address': (v) => permitOfSeed(v)!.restore!.source.url !== serving(v)!.url,
      },
      effect: (v) => {
        const permit = permitOfSeed(v)!;
        const source = { ...permit.restore!.source, url: serving(v)!.url };
        return write(v, { permits: { 0: { ...permit, restore: { ...permit.restore!, source } } } });
      },
    }),
  ]),
];
