import type {
  ServiceMonitorSpec,
  ServiceMonitorSpecEndpoints,
} from '../../../imports/servicemonitor-monitoring.coreos.com';
import { ports } from '../../etcd/cluster-ports';
import { keyOf } from '../../lib/backup-pod';
import type { Manifests } from '../../lib/manifest';
import type { PlainData } from '../../lib/plain-data';
import { clusterAlerts } from '../../monitoring/alerts/cluster-alerts';
import { alertsProblems } from '../../monitoring/etcd-alerts';
import { MonitoringManifests } from '../../monitoring/monitoring-manifests';
import { monitoringProblems } from '../../monitoring/monitoring-objects';
import { defaults } from '../../resource/defaults';
import type { ClusterMonitoringSpec } from '../../resource/types';
import type { EtcdClientTls } from '../../tls/etcd-client-tls';
import type { MonitoredCluster } from './monitored-cluster';

type Spec = PlainData<ServiceMonitorSpec>;
type Endpoint = PlainData<ServiceMonitorSpecEndpoints>;
type Relabeling = NonNullable<Endpoint['relabelings']>[number];

/** The label with the name of the etcd cluster. `cluster` often names the Kubernetes cluster instead. */
const clusterLabel = 'etcd_cluster';

/** Returns the objects that monitor a cluster. */
export function monitoringManifests(cluster: MonitoredCluster, spec: ClusterMonitoringSpec): Manifests {
  const { name, namespace, memberSelector: selector, agentTls } = cluster;
  const make = new MonitoringManifests(cluster, spec);
  const overHttps = spec.scrape?.tls ?? defaults.ClusterMonitoringSpec.scrape.tls;
  const copied = { [clusterLabel]: name };
  const agent = { selector, copied, port: ports.agent, https: agentTls !== undefined };
  const reconciler = { 'app.kubernetes.io/name': 'etcd-reconciler' };
  const title = `etcd ${name}`;
  return new Map([
    ...make.serviceMonitor('MemberMonitor', name, memberMonitor(cluster, make.interval, overHttps)),
    ...make.serviceMonitor('ReconcilerMonitor', `${name}-reconciler`, reconcilerMonitor(cluster, make.interval)),
    ...make.annotatedService('MemberService', `${name}-metrics`, { selector, copied, port: ports.metrics }),
    ...make.annotatedService('AgentService', `${name}-agent-metrics`, agent),
    ...make.access('MemberPolicy', `${name}-metrics`, selector, [
      overHttps ? ports.client : ports.metrics,
      ports.agent,
    ]),
    ...make.access('ReconcilerPolicy', `${name}-reconciler-metrics`, reconciler, [ports.agent]),
    ...make.rules(name, { name, title, groups: alertGroupsOf(cluster) }),
    ...make.dashboard(name, { of: 'cluster', title, namespace, chosen: copied }),
  ]);
}

const alertGroupsOf = ({ name, namespace, reconciler }: MonitoredCluster) =>
  clusterAlerts({ cluster: name, namespace }, reconciler());

/** Returns the problems with the monitoring of a cluster, whoever wrote it. */
export function clusterMonitoringProblems(cluster: MonitoredCluster, spec: ClusterMonitoringSpec): string[] {
  const lacksCertificate = spec.scrape?.tls && cluster.clientTls === undefined;
  return [
    ...(lacksCertificate ? ['scrape: tls: the cluster has no certificate for clients; leave tls out'] : []),
    ...monitoringProblems(spec),
    ...alertsProblems(spec.alerts, alertGroupsOf(cluster)),
  ];
}

/** Returns the ServiceMonitorSpec of the members: of etcd, and of the agent beside it. */
function memberMonitor(cluster: MonitoredCluster, interval: string | undefined, overHttps: boolean): Spec {
  const { name, peerService, clientTls, agentTls } = cluster;
  const relabelings = [onlyService(peerService), label(clusterLabel, name)];
  const endpoint = (port: string): Endpoint => ({ port, interval, relabelings });
  const tls: Partial<Endpoint> = overHttps && clientTls ? overTls(name, clientTls, true) : {};
  return {
    selector: { matchLabels: { 'app.kubernetes.io/name': 'etcd', 'app.kubernetes.io/instance': name } },
    endpoints: [
      { ...endpoint(overHttps ? 'client' : 'metrics'), ...tls },
      { ...endpoint('agent'), ...(agentTls && overTls(name, agentTls, false)) },
    ],
  };
}

/**
 * Returns the ServiceMonitorSpec of the cluster's reconciler. Each cluster scrapes the reconciler of its namespace for
 * itself and keeps what is about it, so that no other cluster's manifests are needed for its alerts.
 */
function reconcilerMonitor({ name }: MonitoredCluster, interval: string | undefined): Spec {
  // What is about the reconciler itself has no cluster. A scraped label wins by honorLabels; some platforms forbid that, so no
  // label of the target has its name.
  const own = { sourceLabels: [clusterLabel], regex: `${name}|`, action: 'keep' } as const;
  return {
    selector: { matchLabels: { 'app.kubernetes.io/name': 'etcd-reconciler' } },
    endpoints: [
      {
        port: 'metrics',
        interval,
        honorLabels: true,
        relabelings: [label('job', `${name}-reconciler`)],
        metricRelabelings: [own, label(clusterLabel, name)],
      },
    ],
  };
}

/** The other Services of the cluster have the same labels. */
function onlyService(name: string): Relabeling {
  return {
    sourceLabels: ['__meta_kubernetes_service_name'],
    regex: name,
    action: 'keep',
  };
}

const label = (targetLabel: string, replacement: string): Relabeling => ({ targetLabel, replacement });

/** The name of the client Service is in the certificate of every member. */
function overTls(serverName: string, clientTls: EtcdClientTls, identifies: boolean): Partial<Endpoint> {
  const { files, trust, clientCertificate } = clientTls._pod();
  const { secretName, configMapName } = files;
  const secret = (path: string) => ({ name: secretName!, key: keyOf(files, path) });
  const own =
    configMapName === undefined
      ? { secret: secret('ca.crt') }
      : { configMap: { name: configMapName, key: keyOf(files, 'ca.crt') } };
  const ca = trust ? { secret: { name: trust.secretName, key: trust.key } } : own;
  const isKnown = identifies && clientCertificate;
  const tlsConfig = {
    serverName,
    ca,
    ...(isKnown && { cert: { secret: secret('tls.crt') }, keySecret: secret('tls.key') }),
  };
  return { scheme: 'https', tlsConfig };
}
