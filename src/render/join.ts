import type { EtcdClusterProps } from '../cluster/etcd-cluster-props';
import type { Document } from './documents';
import { noteElsewhere } from './elsewhere';
import type { Planned, PlannedCluster, PlannedRestore, PlannedSchedule, ScheduleOfCluster } from './plan';

/**
 * Brings together what belongs together: a cluster that takes the place of an old one begins with what that one's
 * EtcdRestore names, and is backed up as the old one was.
 */
export function join(planned: readonly Planned[]): Planned[] {
  reportTwins(planned);
  const clusters = planned.filter((plan) => plan.becomes === 'cluster');
  const origins = new Map<PlannedCluster, PlannedRestore>();
  const schedules = new Map<PlannedCluster, ScheduleOfCluster[]>();
  const others = planned.filter((plan) => {
    if (plan.becomes === 'cluster') return false;
    if (plan.becomes === 'restore') return !becameOrigin(plan, clusters, origins);
    return plan.becomes !== 'schedule' || !becameSchedule(plan, clusters, schedules);
  });
  for (const cluster of clusters) if (cluster.old && !origins.has(cluster)) noteEmpty(cluster);
  for (const restore of others) if (restore.becomes === 'restore' && restore.old) noteInPlace(restore);
  const joined = clusters.map((cluster) => ({
    ...cluster,
    props: { ...cluster.props, ...originOf(origins.get(cluster)) },
    schedules: [...cluster.schedules, ...(schedules.get(cluster) ?? [])],
  }));
  for (const plan of planned) noteElsewhere(plan, others.includes(plan));
  return [...joined, ...others];
}

function reportTwins(planned: readonly Planned[]): void {
  const seen = new Map<string, Document>();
  for (const { becomes, document } of planned) {
    const key = JSON.stringify([becomes, document.target, document.name]);
    const first = seen.get(key);
    if (first) document.report.error('metadata.name', `is that of ${first.report.label}, too; remove one of them`);
    else seen.set(key, document);
  }
}

const isSame = ({ document }: PlannedCluster, name: string, { target }: Document) =>
  document.name === name && document.target === target;

function becameOrigin(
  restore: PlannedRestore,
  clusters: readonly PlannedCluster[],
  origins: Map<PlannedCluster, PlannedRestore>,
): boolean {
  const { document, clusterName } = restore;
  const field = restore.old ? 'spec.etcdCluster.name' : 'spec.clusterName';
  const cluster = clusters.find((candidate) => candidate.old && isSame(candidate, clusterName, document));
  if (!cluster) return false;
  const first = origins.get(cluster);
  if (first) {
    document.report.error(
      field,
      `'${clusterName}' begins with the snapshot of ${first.document.report.label} already; remove one of them`,
    );
    return true;
  }
  origins.set(cluster, restore);
  document.report.note(
    field,
    `'${clusterName}' is made anew, so it begins with this snapshot, as its spec.origin, and there is no EtcdRestore; for an empty cluster remove this document`,
  );
  return true;
}

const originOf = (restore: PlannedRestore | undefined): Pick<EtcdClusterProps, 'origin'> =>
  restore ? { origin: restore.origin } : {};

function becameSchedule(
  schedule: PlannedSchedule,
  clusters: readonly PlannedCluster[],
  schedules: Map<PlannedCluster, ScheduleOfCluster[]>,
): boolean {
  const { document, endpoints, options } = schedule;
  const cluster = clusters.find(
    ({ old, document: { target } }) =>
      target === document.target && endpoints.length > 0 && endpoints.every((endpoint) => old?.isEndpoint(endpoint)),
  );
  if (!cluster) return false;
  const own = schedules.get(cluster) ?? [];
  const id = scheduleId(document.name, cluster.document.name);
  const isTaken = own.some((other) => other.id === id);
  schedules.set(cluster, [...own, { id: isTaken ? document.name : id, options, stores: [], document }]);
  document.report.note(
    schedule.endpointsField,
    `are those of the old '${cluster.document.name}', and the schedule backs up the new one; keep the old schedule until the new cluster serves`,
  );
  return true;
}

/** The CronJob is called `<cluster>-<id>`. */
function scheduleId(name: string, cluster: string): string {
  if (name === cluster) return 'backup';
  return name.startsWith(`${cluster}-`) ? name.slice(cluster.length + 1) : name;
}

function noteEmpty({ document: { name, report } }: PlannedCluster): void {
  report.note(
    'spec',
    `the new cluster begins empty; to take the data along, back up the old cluster and render this file with an EtcdRestore of '${name}' from that snapshot in it`,
  );
}

function noteInPlace({ document: { report }, clusterName }: PlannedRestore): void {
  report.note(
    'spec.etcdCluster.name',
    `'${clusterName}' is no cluster of this file, so the snapshot takes the place of all data in the EtcdCluster of this name, which is backed up before as its first backup schedule says; with the old EtcdCluster in this file that would begin with the snapshot`,
  );
  report.note('metadata.name', 'a restore is done once per name; take another name for another one');
}
