import type { RestoreArgs } from '../../../../protocol/record.ts';
import { isOrigin, originId } from '../../../../protocol/restore-id.ts';
import {
  alreadyRestored,
  entryOf,
  hasFailed,
  isOlder,
  isOpOf,
  namesakeOf,
  type Refusal,
  refusalIn,
} from '../../../../protocol/restore-refusal.ts';
import type { Effect } from '../../../port/effect.ts';
import type { RestoreRequest } from '../../../port/observed.ts';
import { implied, rule, steps } from '../../engine/rule.ts';
import type { View } from '../../engine/view.ts';
import {
  beforeFence,
  hasReadyPod,
  healthyVoters,
  isSeeded,
  isWanted,
  restoreOp,
  voters,
  wantedSize,
} from '../../facts/facts.ts';
import { imageFits } from '../../facts/upgrade-path.ts';
import { givesUp, notLater } from '../jobs.ts';
import { failed, oneTimeToken, opBase, write } from '../record/write.ts';
import {
  allRequests,
  args,
  at,
  blocked,
  ended,
  final,
  isAbandoned,
  isOther,
  isRecorded,
  outdone,
  requests,
  seedIsSilent,
  slotFree,
  suspended,
} from './operation.ts';

// Which restore is requested, and what its EtcdRestore reports.

/** Kubernetes truncates a creationTimestamp to seconds, ms. */
const second = 1000;

const argsOf = (v: View, request: RestoreRequest): RestoreArgs => {
  const { name, uid, specHash, safetyBackup, ignoreUnreachablePods, createdAt } = request;
  const { identitySecret, sha256, expectedRevision } = request;
  return {
    id: name,
    uid,
    specHash,
    // A later operation of the same EtcdRestore must not select the safety backup of an earlier one.
    source: notLater(request.source, createdAt + second),
    identitySecret,
    sha256,
    expectedRevision,
    safetyBackup,
    ignoreUnreachablePods,
    sourceToken: oneTimeToken(v),
  };
};

const refused = (v: View, request: RestoreRequest): boolean => refusalIn(v.record, request) !== undefined;

const done = (v: View, request: RestoreRequest): boolean =>
  (isRecorded(v, request.name) || refused(v, request)) && !isOpOf(v.record.op, request);

/** An EtcdRestore may be recreated under its name by apply, Argo CD or Velero. Nothing is restored twice. */
const report = (v: View, request: RestoreRequest): Effect => {
  const { name, uid } = request;
  const why = refusalIn(v.record, request);
  if (why) return { kind: 'ReportRestore', name, uid, phase: 'Failed', ...why };
  const restored = { reason: 'Restored', message: `restored as epoch ${v.record.epoch}` };
  return { kind: 'ReportRestore', name, uid, phase: 'Completed', ...(alreadyRestored(v.record, request) ?? restored) };
};

/** Whoever waits for a restore goes on with a cluster that serves. */
const regrown = (v: View, request: RestoreRequest): boolean => {
  const isOwn = entryOf(v.record, request.name)?.uid === request.uid || v.record.lastRestoreId === request.name;
  const members = isOwn ? healthyVoters(v).filter(hasReadyPod) : voters(v);
  return isSeeded(v) && members.filter(({ ordinal }) => isWanted(v, ordinal)).length >= wantedSize(v);
};

const stillAsked = (v: View): boolean => {
  const op = restoreOp(v)!;
  // The failure must still be reported, and noted.
  if (at(v, 'report')) return true;
  if (v.cluster.deleting) return false;
  const { recovery } = v.spec;
  if (op.kind === 'Recover') return recovery?.id === op.args.uid && recovery.acceptDataLoss;
  // Its origin cannot be changed, but an EtcdCluster that is created again may have another, or none.
  if (isOrigin(op.args.id)) return op.args.uid === v.cluster.uid;
  return !givesUp(op) || !v.o.restores.known || requests(v).some(({ uid }) => uid === op.args.uid);
};

const ownRequest = (v: View): RestoreRequest | undefined =>
  allRequests(v).find((request) => isOpOf(v.record.op, request) && !final(request));

/** The old data are quarantined, so there is nothing left to back up, and no member to ask which revisions were served. */
function supersede(v: View, request: RestoreRequest): Effect {
  const { lastRevision } = args(v);
  const own = { ...argsOf(v, request), safetyBackup: false, lastRevision };
  const { id, uid } = args(v);
  const hasFailed = blocked(v) || allRequests(v).some((own) => own.uid === uid && final(own));
  // It failed past the fence of the one before it, and never came to its own.
  const isSpent = hasFailed && givesUp(restoreOp(v)!) && !isRecorded(v, id) && id !== request.name;
  return write(v, {
    op: { ...opBase(v), kind: 'Restore', step: 'verify', args: own },
    failedRestores: isSpent ? failed(v, id) : v.record.failedRestores,
  });
}

export const restoreCluster = rule<RestoreRequest>({
  name: 'Restore',
  does: 'WriteRecord',
  from: 'running',
  to: 'verifying',
  each: requests,
  when: {
    'it is not final': implied('a name is used once, and the record lists it', (_, request) => !final(request)),
    'never fenced': (v, { name }) => !isRecorded(v, name),
    'the same was not restored under another name': (v, request) => namesakeOf(v.record, request) === undefined,
    'it is not older than the data of the cluster': (v, request) => !isOlder(v.record, request),
    'none of its name failed before': (v, request) => !hasFailed(v.record, request),
    'the cluster is not being deleted': (v) => !v.cluster.deleting,
  },
  requires: {
    'epoch seeded': isSeeded,
    'the slot is free': slotFree,
    'the image has the version that the template names': imageFits,
    'the seed’s agent is not silent': (v) => !seedIsSilent(v),
  },
  effect: (v, request) =>
    write(v, { op: { ...opBase(v), kind: 'Restore', step: 'verify', args: argsOf(v, request), ...suspended(v) } }),
});

export const restoreOrigin = rule({
  name: 'Origin',
  does: 'WriteRecord',
  from: 'no cluster',
  to: 'verifying',
  when: {
    'never bootstrapped': (v) => v.record.epoch === 0,
    'born from a backup': (v) => v.spec.origin !== undefined,
    'the cluster is not being deleted': (v) => !v.cluster.deleting,
  },
  requires: { 'the slot is free': slotFree },
  effect: (v) =>
    write(v, {
      op: {
        ...opBase(v),
        kind: 'Restore',
        step: 'verify',
        args: {
          ...v.spec.origin!,
          id: originId(v.record.clusterUid),
          uid: v.cluster.uid,
          specHash: '',
          safetyBackup: false,
          ignoreUnreachablePods: false,
          sourceToken: oneTimeToken(v),
        },
      },
    }),
});

export const withdrawRestore = rule({
  name: 'Restore.withdrawn',
  does: 'WriteRecord',
  from: ['verifying', 'backing up', 'fencing', 'backing up a survivor', 'salvaging'],
  to: 'running',
  when: {
    'op before the fence': (v) => beforeFence(v) !== undefined,
    'it is no longer requested': (v) => !stillAsked(v),
  },
  effect: (v) => write(v, ended(v)),
});

function whyGivenUp(v: View, request: RestoreRequest): Refusal {
  const { name } = request;
  if (blocked(v))
    return { reason: 'RestoreBlocked', message: `its snapshot can no longer be served; ${name} takes its place` };
  if (!outdone(v, request))
    return { reason: 'Superseded', message: `it was deleted before its fence; ${name} takes its place` };
  const message = `it waited for pods on a node that is off; ${name} takes its place and goes on without them`;
  return { reason: 'OldPodsRemain', message };
}

export const replacementSteps = [
  ...steps(
    {
      when: {
        'blocked or taken back past a fence, or waiting for pods that the other may leave behind': (v, request) =>
          blocked(v) || isAbandoned(v) || outdone(v, request),
        'another EtcdRestore is requested': isOther,
        'the cluster is not being deleted': (v) => !v.cluster.deleting,
      },
    },
    [
      rule<RestoreRequest>({
        name: 'Restore.giveUp',
        does: 'ReportRestore',
        each: requests,
        requires: { 'its own does not report it yet': (v) => ownRequest(v) !== undefined },
        effect: (v, request) => {
          const { name, uid } = ownRequest(v)!;
          return { kind: 'ReportRestore', name, uid, phase: 'Failed', ...whyGivenUp(v, request) };
        },
      }),
      rule<RestoreRequest>({
        name: 'Restore.supersede',
        does: 'WriteRecord',
        from: ['draining', 'seeding', 'restoring'],
        to: 'verifying',
        each: requests,
        // Its own EtcdRestore reports the failure, or is gone: otherwise Restore.giveUp, above, comes first.
        effect: supersede,
      }),
    ],
  ),
];

export const reportSteps = [
  ...steps({ when: { 'step report': (v) => at(v, 'report') !== undefined }, from: 'failed' }, [
    rule<RestoreRequest>({
      name: 'Restore.report',
      does: 'ReportRestore',
      to: 'failed',
      each: allRequests,
      when: { 'this one': (v, { uid }) => args(v).uid === uid },
      requires: { 'it does not report it yet': (_, request) => !final(request) },
      effect: (v, { name, uid }) => ({ kind: 'ReportRestore', name, uid, phase: 'Failed', ...args(v).failed! }),
    }),
    rule({
      name: 'Restore.failed',
      does: 'WriteRecord',
      to: 'running',
      requires: { 'no EtcdRestore has to report it': (v) => v.o.restores.known },
      effect: (v) => write(v, { ...ended(v), failedRestores: failed(v, args(v).id) }),
    }),
  ]),
];

export const reportRestore = rule<RestoreRequest>({
  name: 'ReportRestore',
  does: 'ReportRestore',
  from: 'running',
  to: 'running',
  each: allRequests,
  when: { 'it is not final': (_, request) => !final(request), 'its id was restored': done },
  requires: {
    'it is refused, or the cluster has grown again, and if that was this restore, its members serve': (v, request) =>
      refused(v, request) || regrown(v, request),
  },
  effect: report,
});

export const keepSnapshots = rule({
  name: 'KeepSnapshots',
  does: 'WriteRecord',
  when: {
    'the list of what retention keeps is not that of now': (v) => v.o.record.known && v.o.record.v?.isListOld === true,
  },
  effect: (v) => write(v, {}),
});
