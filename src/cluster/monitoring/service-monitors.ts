import type {
  ServiceMonitorSpec,
  ServiceMonitorSpecEndpoints,
} from '../../../imports/servicemonitor-monitoring.coreos.com';
import { keyOf } from '../../lib/backup-pod';
import type { PlainData } from '../../lib/plain-data';
import type { EtcdScrape } from '../../monitoring/etcd-scrape';
import type { EtcdClientTls } from '../../tls/etcd-client-tls';
import type { MonitoredCluster } from './monitored-cluster';

type Spec = PlainData<ServiceMonitorSpec>;
type Endpoint = PlainData<ServiceMonitorSpecEndpoints>;
type Relabeling = NonNullable<Endpoint['relabelings']>[number];

/** The label with the name of the etcd cluster. `cluster` often names the Kubernetes cluster instead. */
export const clusterLabel = 'etcd_cluster';

/** Returns the ServiceMonitorSpec of the members: of etcd, and of the agent beside it. */
export function memberMonitor(cluster: MonitoredCluster, scrape: EtcdScrape): Spec {
  const { name, peerService, clientTls, agentTls } = cluster;
  const relabelings = [onlyService(peerService), label(clusterLabel, name)];
  const endpoint = (port: string): Endpoint => ({ port, interval: scrape._interval(), relabelings });
  const tls: Partial<Endpoint> = scrape._tls && clientTls ? overTls(name, clientTls, true) : {};
  return {
    selector: { matchLabels: { 'app.kubernetes.io/name': 'etcd', 'app.kubernetes.io/instance': name } },
    endpoints: [
      { ...endpoint(scrape._tls ? 'client' : 'metrics'), ...tls },
      { ...endpoint('agent'), ...(agentTls && overTls(name, agentTls, false)) },
    ],
  };
}

/**
 * Returns the ServiceMonitorSpec of the cluster's reconciler. Each cluster scrapes the reconciler of its namespace for
 * itself and keeps what is about it, so that no other cluster's manifests are needed for its alerts.
 */
export function reconcilerMonitor({ name }: MonitoredCluster, scrape: EtcdScrape): Spec {
  // What is about the reconciler itself has no cluster. A scraped label wins by honorLabels; some platforms forbid that, so no
  // label of the target has its name.
  const own = { sourceLabels: [clusterLabel], regex: `${name}|`, action: 'keep' } as const;
  return {
    selector: { matchLabels: { 'app.kubernetes.io/name': 'etcd-reconciler' } },
    endpoints: [
      {
        port: 'metrics',
        interval: scrape._interval(),
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
