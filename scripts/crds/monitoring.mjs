// The schemas of what Prometheus and Grafana need, which a cluster, a reconciler and a schedule have.
import { networkAccess } from './network.mjs';
import { annotations, furtherLabels, labels } from './pods.mjs';
import { choice, flag, keys, list, matching, named, object, rules, text, withDefault } from './schema.mjs';
import { resources } from './store.mjs';

const seconds = (description) =>
  matching(
    description,
    32,
    /^([0-9]+(s|m|h|d|w))*[1-9][0-9]*(s|m|h|d|w)$/,
    'is not a valid time in whole seconds: write 30s, 5m or 1h',
  );

const noEffect = (field, ...others) => [
  `!has(self.enabled) || self.enabled || !(${others.map((other) => `has(self.${other})`).join(' || ')})`,
  `enabled: false leaves the ${field} out, so the other fields have no effect: remove them, or enabled`,
  { fieldPath: '.enabled' },
];

const scrape = (more) =>
  object(
    'How Prometheus finds what it scrapes.',
    {
      method: withDefault(
        'ServiceMonitors',
        choice(
          'ServiceMonitors: those of the Prometheus operator. Annotations: prometheus.io/scrape and others, on Services of their own. None: something else configures Prometheus, which may still connect.',
          ['ServiceMonitors', 'Annotations', 'None'],
        ),
      ),
      interval: seconds('The time between two scrapes of a ServiceMonitor. Default: that of Prometheus.'),
      ...more,
    },
    rules([
      `!has(self.method) || self.method == 'ServiceMonitors' || !(${['interval', ...Object.keys(more)].map((field) => `has(self.${field})`).join(' || ')})`,
      `only ServiceMonitors have ${['interval', ...Object.keys(more)].join(' and ')}: remove what is given, or method`,
      { fieldPath: '.method' },
    ]),
  );

const fields = (anAlert, ofScrape = {}) => ({
  scrape: scrape(ofScrape),
  scraper: withDefault(
    { peers: [{ podLabels: { 'app.kubernetes.io/name': 'prometheus' }, namespaceLabels: {} }] },
    networkAccess('The pods of Prometheus, which may connect to the metrics.'),
    'every pod with the label app.kubernetes.io/name: prometheus, in any namespace',
  ),
  alerts: object(
    'The alerts: a PrometheusRule, or without ServiceMonitors a ConfigMap with a file of rules.',
    {
      enabled: withDefault(true, flag('False: no alerts.')),
      exclude: list(`The names of alerts to leave out, such as ${anAlert}.`, text('A name.', 63), 0, 64),
      // Prometheus has other names of labels.
      labels: { ...labels('Further labels of every alert.'), [keys]: undefined },
      runbookUrl: text(
        'The URL of the folder with the pages runbook.md and alerts.md. Default: that of this library on GitHub.',
      ),
    },
    rules(noEffect('alerts', 'exclude', 'labels', 'runbookUrl')),
  ),
  dashboard: object(
    'The dashboard for Grafana: a ConfigMap.',
    {
      enabled: withDefault(true, flag('False: no dashboard.')),
      labels: withDefault(
        { grafana_dashboard: '1' },
        labels('The labels by which the sidecar of Grafana finds it.'),
        'grafana_dashboard with the value 1',
      ),
      annotations: annotations('Annotations, such as grafana_folder: etcd.'),
    },
    rules(noEffect('dashboard', 'labels', 'annotations')),
  ),
  labels: furtherLabels(
    'Further labels of these objects, by which Prometheus selects them, such as release: kube-prometheus-stack.',
  ),
});

const all = '{} has the default of each field. Default: no monitoring.';

/** Monitoring of a cluster and of what its reconciler does to it. */
export const clusterMonitoring = named(
  'ClusterMonitoringSpec',
  object(
    `Adds what Prometheus and Grafana need to monitor the cluster: what is scraped, who may connect, alerts and a dashboard. ${all}`,
    fields('EtcdSpecRefused', {
      tls: withDefault(
        false,
        flag(
          'Scrapes etcd over https on the port for clients, with the client certificate of the cluster, instead of over http on port 2381.',
        ),
      ),
    }),
  ),
);

/** Monitoring of a reconciler itself. */
export const reconcilerMonitoring = named(
  'MonitoringSpec',
  object(
    `Adds what Prometheus and Grafana need to monitor the reconciler itself: what is scraped, who may connect, alerts and a dashboard. What it does to a cluster is part of the monitoring of that cluster. ${all}`,
    fields('EtcdReconcilerNotSynced'),
  ),
);

/** Monitoring of the backups of a schedule. */
export const backupMonitoring = named(
  'BackupMonitoringSpec',
  object(
    `Adds what Prometheus and Grafana need to monitor the backups: an exporter, which reads the stores every five minutes, what scrapes it, who may connect, alerts and a dashboard. ${all}`,
    {
      ...fields('EtcdBackupTooOld'),
      maxAge: seconds(
        'The age of the newest verified backup from which an alert fires, at least 15m, and above the longest time between two runs. Default: twice the longest time between two runs, and at least 30m.',
      ),
      resources: resources(
        'The CPU and memory of the exporter. Default: 100m and 100Mi, and as much again for each store.',
      ),
    },
  ),
);
