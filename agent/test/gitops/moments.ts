import { clusterStatus } from '../../src/controllers/cluster/conditions/status.ts';
import { backupStatus } from '../../src/controllers/objects/backup-object.ts';
import { now } from '../../src/controllers/port/observed.fixture.ts';
import { defaultSettings } from '../../src/controllers/port/settings.ts';
import { statusOf } from '../../src/controllers/users/status.ts';
import { outcomeConditions } from '../../src/protocol/outcome-conditions.ts';
import { type ClusterMoment, clusterMoments, type Health, type Kstatus } from './cluster-moments.ts';

export interface Moment {
  readonly kind: 'EtcdCluster' | 'EtcdBackup' | 'EtcdRestore' | 'EtcdUser';
  readonly what: string;
  readonly object: Resource;
  readonly kstatus: Kstatus;
  readonly health: Health;
}

export interface Resource {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace: string; readonly generation: number };
  readonly spec: object;
  readonly status?: Status;
}

interface Status {
  readonly observedGeneration?: number;
  readonly observedAt?: string;
  readonly message?: string;
  readonly conditions?: readonly { readonly type: string; readonly status: string; readonly message: string }[];
}

/** No reconciler has reported since. */
export const long = '2026-01-01T00:00:00Z';
const time = new Date(now).toISOString();

const resource = (kind: Moment['kind'], spec: object, status: Status | undefined, generation = 2): Resource => ({
  ...{ apiVersion: 'cdk8s-etcd.dev/v1alpha1', kind, metadata: { name: 'orders', namespace: 'shop', generation }, spec },
  ...(status && { status }),
});

const moment =
  (kind: Moment['kind'], spec: object) =>
  (what: string, status: Status | undefined, kstatus: Kstatus, health: Health): Moment => ({
    ...{ kind, what, object: resource(kind, spec, status), kstatus, health },
  });

/** What the API server shows of an object that no reconciler has seen: the default of the custom resource. */
const unseen = { observedGeneration: 0, phase: 'Pending', reason: 'NotSeen', message: 'no reconciler has reported' };

function ofCluster([what, make, kstatus, health]: ClusterMoment): Moment {
  const world = make();
  if (world.o.cluster.known && world.o.cluster.v) Object.assign(world.o.cluster.v, { generation: 2 });
  const status = clusterStatus(
    { ...world.o, since: { ...world.o.since, blind: 0 } },
    world.plan().conditions,
    now,
    defaultSettings,
  );
  return cluster(what, status, kstatus, health);
}

const cluster = moment('EtcdCluster', { size: 3, version: '3.6.16' });
const ready = clusterMoments[0]![1];
const readyStatus = () => clusterStatus(ready().o, ready().plan().conditions, now, defaultSettings);

const backup = moment('EtcdBackup', { clusterName: 'orders', schedule: 'nightly' });
const asBackup = { metadata: { generation: 2 }, spec: { clusterName: 'orders' } } as never;
const backupAt = (phase: Parameters<typeof backupStatus>[1], reason: string) =>
  backupStatus({ backup: asBackup, now: time }, phase, { reason, message: 'm' }, {});

const restore = moment('EtcdRestore', { clusterName: 'orders', source: { backupName: 'b' } });
const restoreAt = (phase: string, reason = phase) => {
  const outcome = { phase, reason, message: 'm', observedGeneration: 2 };
  return { ...outcome, conditions: outcomeConditions(outcome, [], time) };
};

const user = moment('EtcdUser', { clusterName: 'orders' });
const userAt = (status: 'True' | 'False' | 'Unknown', reason: string) =>
  statusOf(
    { metadata: { name: 'api', generation: 2 }, spec: { clusterName: 'orders' } } as never,
    { status, reason: reason as never, message: 'm' },
    undefined,
    now,
  );

const seen = { ...readyStatus(), observedGeneration: 2 };

export const moments: readonly Moment[] = [
  cluster('no reconciler has seen it', unseen, 'InProgress', 'Progressing'),
  cluster('its spec has changed since', { ...readyStatus(), observedGeneration: 1 }, 'InProgress', 'Progressing'),
  // Far from any clock: these become files, which are read for years.
  cluster('its reconciler reports', { ...seen, observedAt: '2999-01-01T00:00:00Z' }, 'Current', 'Healthy'),
  cluster('its reconciler is gone', { ...seen, observedAt: long }, 'Current', 'Degraded'),
  ...clusterMoments.map(ofCluster),
  backup('no reconciler has seen it', unseen, 'InProgress', 'Progressing'),
  backup('waits', backupAt('Pending', 'ClusterNotFound'), 'InProgress', 'Progressing'),
  backup('runs', backupAt('BackingUp', 'Running'), 'InProgress', 'Progressing'),
  backup('completed', backupAt('Completed', 'Stored'), 'Current', 'Healthy'),
  backup('failed', backupAt('Failed', 'JobFailed'), 'Failed', 'Degraded'),
  restore('no reconciler has seen it', unseen, 'InProgress', 'Progressing'),
  restore('waits', restoreAt('Pending', 'Waiting'), 'InProgress', 'Progressing'),
  restore('drains', restoreAt('Draining'), 'InProgress', 'Progressing'),
  restore('completed', restoreAt('Completed', 'Restored'), 'Current', 'Healthy'),
  restore('failed', restoreAt('Failed', 'SnapshotRefused'), 'Failed', 'Degraded'),
  user('no reconciler has seen it', { observedGeneration: 0 }, 'InProgress', 'Progressing'),
  user('is made', userAt('False', 'Pending'), 'InProgress', 'Progressing'),
  user('comes before its cluster', userAt('False', 'ClusterNotFound'), 'InProgress', 'Progressing'),
  user('waits for etcd', userAt('Unknown', 'ClusterNotServing'), 'InProgress', 'Progressing'),
  user('can be used', userAt('True', 'UserReady'), 'Current', 'Healthy'),
  user('is refused', userAt('False', 'NameTaken'), 'Failed', 'Degraded'),
  user('its cluster is paused', userAt('False', 'Paused'), 'InProgress', 'Suspended'),
];
