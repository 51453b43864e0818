import { derivedName } from '../validation/derived-name';
import type { Document } from './documents';
import type { DocumentPlace, Planned, PlannedCluster, PlannedRestore, PlannedSchedule } from './plan';

/**
 * Joins documents that belong together. A cluster that replaces an old one starts with the snapshot of the old
 * cluster's EtcdRestore, and keeps its backup schedule.
 */
export function join(planned: readonly Planned[]): Planned[] {
  reportTwins(planned);
  const clusters = planned.filter((plan) => plan.kind === 'EtcdCluster');
  const origins = new Map<PlannedCluster, PlannedRestore>();
  const schedules = new Map<PlannedCluster, PlannedSchedule[]>();
  const others = planned.filter((plan) => {
    if (plan.kind === 'EtcdCluster') return false;
    if (plan.kind === 'EtcdRestore') return !becameOrigin(plan, clusters, origins);
    return plan.kind !== 'EtcdBackupSchedule' || !becameSchedule(plan, clusters, schedules);
  });
  for (const cluster of clusters) if (cluster.old && !origins.has(cluster)) noteEmpty(cluster);
  for (const restore of others) if (restore.kind === 'EtcdRestore' && restore.old) noteInPlace(restore);
  const joined = clusters.map((cluster) =>
    (schedules.get(cluster) ?? []).reduce(withSchedule, withOrigin(cluster, origins.get(cluster))),
  );
  for (const plan of planned) noteOtherNamespace(plan, others.includes(plan));
  reportSameCronJobs(others.filter((plan) => plan.kind === 'EtcdBackupSchedule'));
  return [...joined, ...others];
}

function reportTwins(planned: readonly Planned[]): void {
  const seen = new Map<string, Document>();
  for (const { kind, document } of planned) {
    const key = JSON.stringify([kind, document.target, document.name]);
    const first = seen.get(key);
    if (first) document.report.error('metadata.name', `is also the name of ${first.report.label}; remove one of them`);
    else seen.set(key, document);
  }
}

/** The CronJob of an old backup has another name than its document. */
function reportSameCronJobs(schedules: readonly PlannedSchedule[]): void {
  for (const [index, { name, document }] of schedules.entries()) {
    const first = schedules
      .slice(0, index)
      .find((other) => other.name === name && other.document.target === document.target);
    if (first && first.document.name !== document.name)
      document.report.error(
        'metadata.name',
        `makes a CronJob '${name}', as ${first.document.report.label} does; rename one of them`,
      );
  }
}

const isSame = ({ document }: PlannedCluster, name: string, { target }: Document) =>
  document.name === name && document.target === target;

function becameOrigin(
  restore: PlannedRestore,
  clusters: readonly PlannedCluster[],
  origins: Map<PlannedCluster, PlannedRestore>,
): boolean {
  const { document, spec } = restore;
  const { clusterName } = spec;
  const field = restore.old ? 'spec.etcdCluster.name' : 'spec.clusterName';
  const cluster = clusters.find((candidate) => candidate.old && isSame(candidate, clusterName, document));
  if (!cluster) return false;
  const first = origins.get(cluster);
  if (first) {
    document.report.error(
      field,
      `'${clusterName}' already starts with the snapshot of ${first.document.report.label}; remove one of them`,
    );
    return true;
  }
  origins.set(cluster, restore);
  document.report.note(
    field,
    `'${clusterName}' is a new cluster, so it starts with this snapshot as its spec.origin, and there is no EtcdRestore; for an empty cluster remove this document`,
  );
  return true;
}

function withOrigin(cluster: PlannedCluster, restore: PlannedRestore | undefined): PlannedCluster {
  if (!restore) return cluster;
  const { clusterName: _, safetyBackup: __, ignoreUnreachablePods: ___, again: ____, ...origin } = restore.spec;
  return { ...cluster, spec: { ...cluster.spec, origin } };
}

function becameSchedule(
  schedule: PlannedSchedule,
  clusters: readonly PlannedCluster[],
  schedules: Map<PlannedCluster, PlannedSchedule[]>,
): boolean {
  const { document, spec, endpointsField } = schedule;
  const endpoints = spec.etcd?.endpoints ?? [];
  const cluster = clusters.find(
    ({ old, document: { target } }) =>
      target === document.target && endpoints.length > 0 && endpoints.every((endpoint) => old?.isEndpoint(endpoint)),
  );
  if (!cluster || endpointsField === undefined) return false;
  schedules.set(cluster, [...(schedules.get(cluster) ?? []), schedule]);
  document.report.note(
    endpointsField,
    `belong to the old '${cluster.name}', but the schedule backs up the new cluster; keep the old schedule until the new cluster serves`,
  );
  return true;
}

function withSchedule(cluster: PlannedCluster, { document, spec }: PlannedSchedule): PlannedCluster {
  const { cluster: _, etcd: __, controlPlane: ___, monitoring: ____, ...schedule } = spec;
  const before = cluster.spec.backup?.schedules ?? [];
  const name = freeName(scheduleName(document.name, cluster.name), new Set(before.map((other) => other.name)));
  const place: DocumentPlace = { document };
  return {
    ...cluster,
    spec: {
      ...cluster.spec,
      backup: { ...cluster.spec.backup, schedules: [...before, { ...schedule, name }] },
    },
    schedules: [...(cluster.schedules ?? []), place],
  };
}

/** Returns the name, with a number if it is taken. */
function freeName(name: string, taken: ReadonlySet<string>): string {
  let free = name;
  for (let number = 2; taken.has(free); number++) free = `${name}-${number}`;
  return free;
}

/** Returns the name of a schedule. The name of its CronJob is `<cluster>-<name>`. */
function scheduleName(name: string, cluster: string): string {
  if (name === cluster) return 'backup';
  return derivedName(name.startsWith(`${cluster}-`) ? name.slice(cluster.length + 1) : name);
}

function noteEmpty({ document: { name, report } }: PlannedCluster): void {
  report.note(
    'spec',
    `the new cluster starts empty; to keep the data, back up the old cluster, add an EtcdRestore of '${name}' from that snapshot to this file, and render it again`,
  );
}

function noteInPlace({ document: { report }, spec: { clusterName } }: PlannedRestore): void {
  report.note(
    'spec.etcdCluster.name',
    `'${clusterName}' is not a cluster in this file, so the snapshot replaces all data of the EtcdCluster with this name, after a backup with its first backup schedule; to start a new cluster from the snapshot instead, add the old EtcdCluster to this file`,
  );
  report.note('metadata.name', 'a restore happens once per name; use another name for another restore');
}

/**
 * Adds the notes for a document whose manifests are for a different namespace than its own.
 *
 * @param connects true if its endpoints are still used
 */
export function noteOtherNamespace(plan: Planned, connects: boolean): void {
  const { namespace, target, report, kind } = plan.document;
  if (namespace === undefined || namespace === target) return;
  // The Secrets of an old cluster are not used.
  if (plan.kind !== 'EtcdCluster' || !plan.old) {
    report.note('metadata.namespace', `is now ${target}; the Secrets of the ${kind} must exist there too`);
  }
  const short = (connects ? endpointsOf(plan) : []).find((endpoint) => !isComplete(endpoint));
  if (short === undefined) return;
  report.note(
    'metadata.namespace',
    `is now ${target}, where the endpoint ${short} may refer to another host; write the host as NAME.${namespace}.svc`,
  );
}

function endpointsOf({ kind, spec }: Planned): readonly string[] {
  if (kind === 'EtcdBackup') return spec.endpoints ?? [];
  return kind === 'EtcdBackupSchedule' ? (spec.etcd?.endpoints ?? []) : [];
}

/** Returns true if the host has the same meaning in every namespace. */
function isComplete(endpoint: string): boolean {
  const [, host = ''] = /^(?:https?:\/\/)?(\[.*\]|[^:/]*)/.exec(endpoint) ?? [];
  return /^\[|^[\d.]+$|\.svc$|\..+\..+/.test(host);
}
