import { Duration } from 'cdk8s';
import { ports } from '../../etcd/cluster-ports';
import { completeResources } from '../../lib/backup-pod';
import { durationText, milliseconds, parseDuration, secondsProblem } from '../../lib/duration';
import type { Labels, Manifests } from '../../lib/manifest';
import { type JobFields, withPodFields } from '../../lib/pods/pod-fields';
import { alertsOnBackups } from '../../monitoring/alerts/backup-alerts';
import { alertsProblems } from '../../monitoring/etcd-alerts';
import { MonitoringManifests } from '../../monitoring/monitoring-manifests';
import { monitoringProblems } from '../../monitoring/monitoring-objects';
import type { BackupMonitoringSpec, ClusterMonitoringSpec } from '../../resource/types';
import { longestGap } from '../../validation/cron';
import { problemsOf } from '../../validation/problems';
import { type ExporterPodSpec, exportedStores, exporterPod } from './exporter-pod';

/** What is monitored of a schedule. */
export interface MonitoredSchedule {
  readonly cronJobName: string;
  readonly cluster: string;
  readonly cron: string;
  readonly namespace?: string;
  /** Those of the schedule. */
  readonly labels: Labels;
  readonly annotations?: Labels;
  /** Complete only at synthesis: stores may be added until then. */
  readonly pod: () => Omit<ExporterPodSpec, 'resources'>;
  readonly fields: () => JobFields;
}

/** Prometheus adds this label. It is that of kube-state-metrics. */
const cronJobLabel = 'cronjob';

/** Labels that select the pod of the exporter. */
export const exporterSelector = (cronJobName: string): Labels => ({
  'app.kubernetes.io/name': 'etcd-backup-exporter',
  'app.kubernetes.io/instance': cronJobName,
});

/** Returns the objects that monitor the backups of a schedule. */
export function backupMonitoringManifests(schedule: MonitoredSchedule, spec: BackupMonitoringSpec): Manifests {
  const { cronJobName, cluster, namespace } = schedule;
  const name = `${cronJobName}-exporter`;
  const selector = exporterSelector(cronJobName);
  const labels = { ...schedule.labels, 'app.kubernetes.io/component': 'exporter', ...selector };
  const title = `etcd ${cluster}, backups of ${cronJobName}`;
  const scraped = { selector, port: ports.agent, copied: { [cronJobLabel]: cronJobName } };
  const make = new MonitoringManifests({ labels, annotations: schedule.annotations }, spec);
  const { container, ...fields } = schedule.fields();
  const deployment = {
    replicas: 1,
    selector: { matchLabels: selector },
    // Two pods may be unable to share a volume.
    strategy: { type: 'Recreate' },
    template: withPodFields(exporterPod({ ...podOf(schedule, spec), labels }), fields, { exporter: container }),
  };
  return new Map([
    make.object('Deployment', 'apps/v1', 'Deployment', name, { spec: deployment }),
    make.service('Service', name, scraped),
    make.policy('NetworkPolicy', name, selector, [ports.agent]),
    ...make.serviceMonitor('ServiceMonitor', name, monitor(schedule, make.interval)),
    ...make.rules(cronJobName, { name: cronJobName, title, groups: alertGroupsOf(schedule, spec) }),
    ...make.dashboard(cronJobName, {
      ...{ of: 'backup', title, namespace },
      chosen: { etcd_cluster: cluster, [cronJobLabel]: cronJobName },
    }),
  ]);
}

function alertGroupsOf({ namespace, cluster, cronJobName, cron }: MonitoredSchedule, { maxAge }: BackupMonitoringSpec) {
  const given = maxAge === undefined ? undefined : parseDuration(maxAge);
  const age = given ?? Duration.minutes(Math.max(30, Math.ceil(2 * (longestGap(cron) ?? 0))));
  const about = { namespace, cluster, cronJob: cronJobName };
  return [{ name: 'etcd-backups', alerts: alertsOnBackups(about, milliseconds(age) / 1_000) }];
}

/** Each store is read by a process of its own. */
function podOf({ pod }: MonitoredSchedule, { resources = {} }: BackupMonitoringSpec): ExporterPodSpec {
  const spec = pod();
  const amount = 100 * (1 + exportedStores(spec.stores).length);
  const quantities = { cpu: `${amount}m`, memory: `${amount}Mi` };
  return { ...spec, resources: completeResources(resources, { requests: quantities, limits: quantities }) };
}

function monitor({ cronJobName }: MonitoredSchedule, interval: string | undefined) {
  const relabelings = [{ targetLabel: cronJobLabel, replacement: cronJobName }];
  return {
    selector: { matchLabels: exporterSelector(cronJobName) },
    // What the exporter says of the namespace and the cluster counts.
    endpoints: [{ port: 'metrics', interval, honorLabels: true, relabelings }],
  };
}

/** Problems with the monitoring of a schedule, whoever wrote it. */
export function backupMonitoringProblems(
  schedule: MonitoredSchedule,
  spec: BackupMonitoringSpec & ClusterMonitoringSpec,
): string[] {
  const maxAge = spec.maxAge === undefined ? undefined : parseDuration(spec.maxAge);
  return [
    ...problemsOf(
      ...[
        storesProblem(schedule),
        secondsProblem('maxAge', maxAge),
        maxAgeProblem(maxAge, schedule),
        nameProblem(schedule),
      ],
      spec.scrape?.tls
        ? 'scrape: tls: the exporter has no certificate, and serves nothing secret; leave tls out'
        : undefined,
    ),
    ...monitoringProblems(spec),
    ...alertsProblems(spec.alerts, alertGroupsOf(schedule, spec)),
  ];
}

function storesProblem({ pod }: MonitoredSchedule): string | undefined {
  if (exportedStores(pod().stores).length > 0) return undefined;
  return 'addMonitoring: every store is a directory of the node, and an exporter sees only that of its own node; add another store';
}

function nameProblem({ cronJobName }: MonitoredSchedule): string | undefined {
  if (/^[a-z][-a-z0-9]*$/.test(cronJobName)) return undefined;
  return `addMonitoring: '${cronJobName}' cannot begin the name of a Service; set the schedule's name to lower-case letters, digits and '-', beginning with a letter`;
}

const leastAge = Duration.minutes(15);

function maxAgeProblem(maxAge: Duration | undefined, { cron }: MonitoredSchedule): string | undefined {
  if (!maxAge || milliseconds(maxAge) <= 0) return undefined;
  const gap = Duration.minutes(Math.ceil(longestGap(cron) ?? 0));
  if (milliseconds(maxAge) >= milliseconds(leastAge) && milliseconds(maxAge) <= milliseconds(gap))
    return `maxAge: ${durationText(maxAge)} is not above the longest time between two runs, ${durationText(gap)}, so the alert would fire before each run; give more`;
  if (milliseconds(maxAge) >= milliseconds(leastAge)) return undefined;
  return `maxAge: ${durationText(maxAge)} is too short, because the exporter reads each store every five minutes; give at least ${durationText(leastAge)}`;
}
