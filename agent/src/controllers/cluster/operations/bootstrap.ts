import type { AgentStatus } from '../../../protocol/agent-status.ts';
import type { Permit, RecordDoc } from '../../../protocol/record.ts';
import { isOrigin } from '../../../protocol/restore-id.ts';
import { minorOf, minorsUp } from '../../../protocol/versions.ts';
import type { Effect } from '../../port/effect.ts';
import { podName } from '../../port/names.ts';
import { implied, rule } from '../engine/rule.ts';
import type { View } from '../engine/view.ts';
import { healthyVoters, isSeeded, memberAt, quorumOf, started, voters, wantedSize } from '../facts/facts.ts';
import { agentAt, claimAt, podAt, refusalAt, requestOf, statefulSet, statusOf } from '../facts/observations.ts';
import { askedScheme, isGuardedByTls, isUnborn, seedUrl, transportAtBirth, transportOf } from '../facts/transport.ts';
import { imageFits } from '../facts/upgrade-path.ts';
import { timestamp, write } from './record/write.ts';
import { outdated } from './restart.ts';

const noPermitWhenSeeded = 'MarkSeeded empties the permits, so that of a seeded epoch no seed serves on its permit';

const hasPermit = (v: View, volumeId: string | undefined): boolean =>
  volumeId !== undefined && v.record.permits[0]?.volumeId === volumeId;

/** Versions of an epoch that has only its first member. */
export const bornOn = (version: string): RecordDoc['versions'] => ({
  current: minorOf(version),
  allowedMinors: [minorOf(version)],
  bornOn: version,
  finalizedIndex: minorOf(version) !== '3.4' && minorOf(version) !== '3.5' ? 0 : undefined,
});

const seedCluster = (v: View): string => `${podName(v.cluster, 0)}=${seedUrl(v, transportAtBirth(v))}`;

const seedPermit = (v: View, volumeId: string): Permit => ({
  id: v.o.fresh.id,
  ordinal: 0,
  volumeId,
  epoch: v.record.epoch + 1,
  mode: 'new',
  token: v.o.fresh.token,
  initialCluster: seedCluster(v),
  issuedAt: timestamp(v),
});

/** Begins an epoch with its own token; its only seed is the volume that asks. A seed that lost its volume never served. */
function seed(v: View): Effect {
  const agent = agentAt(v, 0)!;
  return write(v, {
    epoch: v.record.epoch + 1,
    token: v.o.fresh.token,
    phase: 'Seeding',
    permits: { 0: seedPermit(v, agent.request!.volumeId) },
    members: {},
    tombstones: [],
    versions: bornOn(agent.etcdBinary),
    transport: transportAtBirth(v),
  });
}

const seedAgent = (v: View): AgentStatus | undefined => {
  const agent = agentAt(v, 0);
  const identity = agent?.volume.identity;
  return identity?.epoch === v.record.epoch && identity.permitId === v.record.permits[0]?.id && agent?.volume.walPresent
    ? agent
    : undefined;
};

const seedServes = (v: View): boolean => {
  const agent = seedAgent(v);
  const member = memberAt(v, 0);
  const status = member?.status;
  return (
    voters(v).length === quorumOf(1) &&
    member !== undefined &&
    started(member) &&
    agent?.etcd?.memberId === member.id &&
    agent.etcd.clusterId === status?.clusterId &&
    status?.leader === member.id
  );
};

const claimNamesCluster = (v: View): boolean => {
  if (v.spec.ephemeral) return true;
  const claim = claimAt(v, 0);
  return claim?.clusterUid === v.record.clusterUid && claim.epoch === v.record.epoch;
};

function markSeeded(v: View): Effect {
  const { memberId, clusterId } = seedAgent(v)!.etcd!;
  const { epoch, op, permits, versions } = v.record;
  const version = statusOf(v, memberId)!.version;
  const { volumeId } = permits[0]!;
  return write(v, {
    phase: isNew(v) ? 'Seeding' : 'Running',
    seeded: true,
    clusterId,
    members: { 0: { memberId, volumeId, epoch, everVoter: true } },
    permits: {},
    // The template may have been set back after the record had followed it.
    versions: minorOf(version) === versions.current ? versions : bornOn(version),
    ...seedDone(v),
    op: op?.kind === 'Restore' || op?.kind === 'Recover' ? undefined : op,
  });
}

/** No client was served before, so the cluster is not called available until it has its size. */
const isNew = ({ record }: View): boolean =>
  record.phase === 'Seeding' || (record.op?.kind === 'Restore' && isOrigin(record.op.args.id));

/** Ends the restore from which the seed was made. */
function seedDone(v: View): Partial<RecordDoc> {
  const { op, permits, lastRecoveryId } = v.record;
  if (op?.kind !== 'Restore' && op?.kind !== 'Recover') return {};
  return {
    failure: undefined,
    // Another EtcdRestore may have taken the place of the one whose data the seed has.
    lastRestoreId: permits[0]?.restore?.id ?? op.args.id,
    lastRecoveryId: op.kind === 'Recover' ? op.args.uid : lastRecoveryId,
  };
}

/** The pod of the seed was recreated on another minor than its permit's, before any client was served. */
const seedRefused = (v: View): boolean => {
  const agent = agentAt(v, 0);
  return agent?.state === 'Refused' && agent.reason === 'VersionRefused' && !allowsMinor(v, agent.etcdBinary);
};
const allowsMinor = (v: View, version: string): boolean => v.record.versions.allowedMinors.includes(minorOf(version));

function followVersion(v: View): Effect {
  const { etcdBinary, volume } = agentAt(v, 0)!;
  const minor = minorOf(etcdBinary);
  const moved = { ...v.record.versions, current: minor, allowedMinors: [minor] };
  return write(v, { versions: volume.walPresent ? moved : bornOn(etcdBinary) });
}

/** The gate moves the data away when it sees the next epoch, and asks for another permit. */
const seedAnew = (v: View): Effect =>
  write(v, {
    epoch: v.record.epoch + 1,
    token: v.o.fresh.token,
    permits: {},
    members: {},
    tombstones: [],
    versions: bornOn(agentAt(v, 0)!.etcdBinary),
  });

/** The template was set back to an older minor, and the seed of the newer one serves no client yet. */
const isSetBack = (v: View): boolean => {
  const template = statefulSet(v)?.version;
  const binary = agentAt(v, 0)?.etcdBinary;
  return template !== undefined && binary !== undefined && minorsUp(minorOf(binary), minorOf(template)) < 0;
};

/** The pod of the seed has no certificates any more, which its permit needs. Without other members, it may speak otherwise. */
const seedLacksCertificates = (v: View): boolean => {
  // A pod without certificates could not fetch such a snapshot: SeedPod.certificates makes it anew.
  if (isGuardedByTls(v.record)) return false;
  return (
    refusalAt(v, 0) === 'ConfigRefused' && isUnborn(v) && transportOf(v).peers === 'https' && askedScheme(v) === 'http'
  );
};

function followTransport(v: View): Effect {
  const { permits } = v.record;
  const permit = permits[0] && { ...permits[0], initialCluster: seedCluster(v) };
  return write(v, { transport: transportAtBirth(v), permits: permit ? { ...permits, 0: permit } : permits });
}

/** The first member of an epoch, until it is seen to serve. */
export const seedRules = [
  rule({
    name: 'SeedVersion',
    does: 'WriteRecord',
    from: 'seeding',
    to: 'seeding',
    when: { 'epoch not seeded': (v) => !isSeeded(v), 'its gate refuses the version': seedRefused },
    requires: {
      'no data, or one minor up': (v) => {
        const { volume, etcdBinary } = agentAt(v, 0)!;
        return !volume.walPresent || minorsUp(v.record.versions.current, minorOf(etcdBinary)) === 1;
      },
    },
    effect: followVersion,
  }),
  rule({
    // The version was lowered before the seed was seen to serve. Until then its pod is not ready, so that no client has written.
    name: 'SeedAnew',
    does: 'WriteRecord',
    from: 'seeding',
    to: 'seeding',
    when: {
      'epoch not seeded': (v) => !isSeeded(v),
      'no restore creates the seed': (v) => v.record.phase === 'Seeding',
      'its gate refuses the version': seedRefused,
    },
    requires: {
      'data of this epoch, of a newer minor': (v) => {
        const { volume, etcdBinary } = agentAt(v, 0)!;
        const isOfEpoch = volume.walPresent && volume.identity?.epoch === v.record.epoch;
        return isOfEpoch && minorsUp(v.record.versions.current, minorOf(etcdBinary)) < 0;
      },
    },
    effect: seedAnew,
  }),
  rule({
    name: 'SeedTransport',
    does: 'WriteRecord',
    from: ['seeding', 'restoring'],
    to: 'seeding',
    when: { 'epoch not seeded, and its gate has no certificates for its permit': seedLacksCertificates },
    effect: followTransport,
  }),
  rule({
    name: 'MarkSeeded.annotate',
    does: 'AnnotateClaim',
    from: 'seeding',
    to: 'seeding',
    when: {
      'epoch not seeded': implied(noPermitWhenSeeded, (v) => !isSeeded(v)),
      'seed serves': seedServes,
      'claim is known': (v) => claimAt(v, 0) !== undefined,
      'claim does not name this epoch': (v) => !claimNamesCluster(v),
    },
    effect: (v) => {
      const { uid, rv } = claimAt(v, 0)!;
      const { clusterUid, epoch } = v.record;
      return { kind: 'AnnotateClaim', ordinal: 0, uid, clusterUid, epoch, basedOn: rv };
    },
  }),
  rule({
    name: 'MarkSeeded',
    does: 'WriteRecord',
    from: ['seeding', 'restoring'],
    to: 'running',
    when: { 'epoch not seeded': implied(noPermitWhenSeeded, (v) => !isSeeded(v)) },
    requires: {
      'seed serves': seedServes,
      'it runs the version of its template': (v) => agentAt(v, 0)?.reason !== 'VersionMismatch',
      'the template was not set back to an older minor': (v) => statefulSet(v) !== undefined && !isSetBack(v),
      'claim names this epoch': claimNamesCluster,
      // The deletion began because no client was served yet; that must stay so.
      'it is not being deleted': (v) => v.op('Delete') === undefined,
    },
    effect: markSeeded,
  }),
  rule({
    // The pod was created from an image of another version, or of a newer minor, and the template has changed since. No
    // client was served yet.
    name: 'RestartSeed',
    does: 'DeletePod',
    from: 'seeding',
    to: 'seeding',
    when: {
      'epoch not seeded': (v) => !isSeeded(v),
      'the seed runs another version than its template names, or a newer minor': (v) =>
        agentAt(v, 0)?.reason === 'VersionMismatch' || isSetBack(v),
      'not as the template and the record have it': (v) => outdated(v, podAt(v, 0)!),
    },
    requires: { 'the image has the version that the template names': imageFits },
    effect: (v) => ({ kind: 'DeletePod', ordinal: 0, uid: podAt(v, 0)!.uid }),
  }),
];

export const seedEpoch = rule({
  name: 'Seed',
  does: 'WriteRecord',
  from: 'no cluster',
  to: 'seeding',
  when: {
    'epoch not seeded': (v) => !isSeeded(v),
    'no restore creates the seed': implied(
      'its operation stays until the seed serves, and HoldOperation, above, keeps it',
      (v) => v.record.phase === 'Seeding',
    ),
    'not born from a backup': implied(
      'Origin, above, takes such a cluster, and HoldOperation keeps it',
      (v) => v.record.epoch > 0 || v.spec.origin === undefined,
    ),
  },
  requires: {
    'the image has the version that the template names': imageFits,
    'seed requests a permit': (v) => requestOf(v, 0) !== undefined,
    'no permit names this volume': (v) => !hasPermit(v, requestOf(v, 0)),
  },
  effect: seed,
});

export const markGrown = rule({
  name: 'MarkGrown',
  does: 'WriteRecord',
  from: 'running',
  to: 'running',
  when: { 'it has not reached its size yet': (v) => v.record.phase === 'Seeding' },
  requires: { 'as many healthy voters as wanted': (v) => healthyVoters(v).length >= wantedSize(v) },
  effect: (v) => write(v, { phase: 'Running' }),
});
