import {
  type ScheduleSpec,
  type ScheduleTarget,
  scheduleLabels,
  scheduleObjects,
} from '../../backup/schedule-manifests';
import { cronJobOf } from '../../etcd/schedule-names';
import type { Manifest } from '../../lib/manifest';
import type { BackupScheduleSpec } from '../../resource/types';
import { EtcdClientTls } from '../../tls/etcd-client-tls';
import { backupEndpoints, clientSecret, type ResolvedCluster, schedulePull } from '../resolved-cluster';

/** Returns the objects of the backup schedules of a cluster, with the ids of their constructs. */
export function scheduleManifests(cluster: ResolvedCluster): [id: string, Manifest][] {
  return (cluster.backup?.schedules ?? []).flatMap((schedule) => {
    const objects = scheduleObjects(withPull(cluster, schedule), targetOf(cluster, schedule));
    return [...objects].map(([kind, object]): [string, Manifest] => [`${schedule.name}/${kind}`, object]);
  });
}

/** A schedule gets its image as the agents of the members do, and the overrides of the cluster before its own. */
export function withPull(cluster: ResolvedCluster, schedule: ScheduleSpec): ScheduleSpec {
  const pull = schedulePull(
    cluster,
    schedule.stores.some(({ command }) => command !== undefined),
  );
  return {
    ...schedule,
    image: schedule.image ?? pull.image,
    imagePullPolicy: schedule.imagePullPolicy ?? pull.imagePullPolicy,
    imagePullSecrets: schedule.imagePullSecrets ?? pull.imagePullSecrets,
    ...((cluster.overrides ?? schedule.overrides) && {
      overrides: [...(cluster.overrides ?? []), ...(schedule.overrides ?? [])],
    }),
  };
}

/** Returns the TLS settings of backups. */
export function backupTls(cluster: ResolvedCluster): EtcdClientTls | undefined {
  const { backup, client } = cluster.tls.secrets ?? {};
  return tlsFrom(backup ?? client, cluster);
}

/** Returns the TLS settings of clients. */
export const clientTls = (cluster: ResolvedCluster): EtcdClientTls | undefined =>
  tlsFrom(clientSecret(cluster), cluster);

const tlsFrom = (secret: string | undefined, { tls }: ResolvedCluster): EtcdClientTls | undefined =>
  secret === undefined ? undefined : EtcdClientTls.fromSecret(secret)._trusting(tls.trust);

function targetOf(cluster: ResolvedCluster, schedule: BackupScheduleSpec): ScheduleTarget {
  const { name, names, labels, annotations } = cluster;
  const cronJobName = cronJobOf(name, schedule);
  return {
    ...{ cronJobName, cluster: name, endpoints: backupEndpoints(cluster), record: names.record },
    protect: cluster.protect,
    labels: scheduleLabels(name, cronJobName, labels, schedule.labels),
    annotations,
    tls: backupTls(cluster)?._pod(),
  };
}
