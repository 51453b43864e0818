import type {
  ServiceMonitorSpec,
  ServiceMonitorSpecEndpoints,
} from '../../imports/servicemonitor-monitoring.coreos.com';
import type { PlainData } from '../lib/plain-data';
import type { EtcdScrape } from './etcd-scrape';

type Spec = PlainData<ServiceMonitorSpec>;
type Endpoint = PlainData<ServiceMonitorSpecEndpoints>;
type Relabeling = NonNullable<Endpoint['relabelings']>[number];

/** What Prometheus needs to know of a cluster. */
export interface MonitoredCluster {
  readonly name: string;
  readonly namespace?: string;
  readonly peerService: string;
  readonly memberSelector: Readonly<Record<string, string>>;
  readonly labels: Readonly<Record<string, string>>;
  /** Secret with a certificate for clients. Undefined if they use http. */
  readonly clientSecret?: string;
}

/** The label with the name of the etcd cluster. `cluster` often names the Kubernetes cluster instead. */
export const clusterLabel = 'etcd_cluster';

/** Returns the ServiceMonitorSpec of the members: of etcd, and of the agent beside it. */
export function memberMonitor(cluster: MonitoredCluster, scrape: EtcdScrape): Spec {
  const { name, peerService, clientSecret } = cluster;
  const relabelings = [onlyService(peerService), label(clusterLabel, name)];
  const endpoint = (port: string): Endpoint => ({ port, interval: scrape._interval(), relabelings });
  const tls: Partial<Endpoint> =
    scrape._tls && clientSecret !== undefined ? { scheme: 'https', tlsConfig: tlsConfig(name, clientSecret) } : {};
  return {
    selector: { matchLabels: { 'app.kubernetes.io/name': 'etcd', 'app.kubernetes.io/instance': name } },
    endpoints: [{ ...endpoint(scrape._tls ? 'client' : 'metrics'), ...tls }, endpoint('agent')],
  };
}

/**
 * Returns the ServiceMonitorSpec of the cluster's reconciler. Each cluster scrapes the reconciler of its namespace for
 * itself and keeps what is about it, so that no other cluster's manifests are needed for its alerts.
 */
export function reconcilerMonitor({ name }: MonitoredCluster, scrape: EtcdScrape): Spec {
  const own = { sourceLabels: [clusterLabel], regex: name, action: 'keep' } as const;
  return {
    selector: { matchLabels: { 'app.kubernetes.io/name': 'etcd-reconciler' } },
    endpoints: [
      {
        port: 'metrics',
        interval: scrape._interval(),
        honorLabels: true,
        relabelings: [label('job', `${name}-reconciler`), label(clusterLabel, name)],
        metricRelabelings: [own],
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

function tlsConfig(serverName: string, name: string): Endpoint['tlsConfig'] {
  const key = (file: string) => ({ name, key: file });
  return {
    serverName,
    ca: { secret: key('ca.crt') },
    cert: { secret: key('tls.crt') },
    keySecret: key('tls.key'),
  };
}
