// The dashboards for Grafana, made of the panels.
import {
  DashboardBuilder,
  DatasourceVariableBuilder,
  MappingType,
  QueryVariableBuilder,
  RowBuilder,
  ThresholdsConfigBuilder,
  ThresholdsMode,
  VariableRefresh,
} from '@grafana/grafana-foundation-sdk/dashboard';
import { DataqueryBuilder } from '@grafana/grafana-foundation-sdk/prometheus';
import { PanelBuilder as StatBuilder } from '@grafana/grafana-foundation-sdk/stat';
import { PanelBuilder as TimeseriesBuilder } from '@grafana/grafana-foundation-sdk/timeseries';
import * as backup from './backup-panels.mjs';
import * as cluster from './cluster-panels.mjs';
import * as reconciler from './reconciler-panels.mjs';

const datasource = { type: 'prometheus', uid: '$datasource' };
const height = 7;
const builders = { stat: StatBuilder, timeseries: TimeseriesBuilder };

/** Returns the dashboards as Grafana imports them, by what they show. */
export const dashboards = () => ({
  cluster: dashboard({
    id: 'cdk8s-etcd',
    title: 'etcd',
    text: 'An EtcdCluster: its state, members, disks, clients and backups.',
    variables: variables('etcd_server_has_leader', [['etcd_cluster', 'Cluster']]),
    rows: cluster.rows,
  }),
  backup: dashboard({
    id: 'cdk8s-etcd-backup',
    title: 'etcd backups',
    text: 'The backups of an etcd that has no reconciler.',
    variables: variables('etcd_backup_store_up', [
      ['etcd_cluster', 'Cluster'],
      ['cronjob', 'CronJob'],
    ]),
    rows: backup.rows,
  }),
  reconciler: dashboard({
    id: 'cdk8s-etcd-reconciler',
    title: 'etcd reconciler',
    text: 'The reconciler of the EtcdClusters of a namespace.',
    variables: variables('etcd_reconciler_leader', [['reconciler', 'Reconciler']]),
    rows: reconciler.rows,
  }),
});

function dashboard({ id, title, text, variables, rows }) {
  const built = new DashboardBuilder(title)
    .uid(id)
    .description(text)
    .tags(['etcd', 'cdk8s-etcd'])
    .timezone('browser')
    .time({ from: 'now-6h', to: 'now' })
    .refresh('30s')
    .withVariable(new DatasourceVariableBuilder('datasource').label('Prometheus').type('prometheus'));
  for (const each of variables) built.withVariable(each);
  for (const { title, panels } of rows) {
    built.withRow(new RowBuilder(title));
    for (const each of panels) built.withPanel(panel(each));
  }
  return built.build();
}

/** Returns variables, each of which selects among what the ones before it leave of the metric. */
const variables = (metric, labels) =>
  [['namespace', 'Namespace'], ...labels].map(([name, label], index, all) => {
    const before = all.slice(0, index).map(([each]) => `${each}="$${each}"`);
    const selected = before.length > 0 ? `${metric}{${before.join(', ')}}` : metric;
    return variable(name, label, `label_values(${selected}, ${name})`);
  });

const variable = (name, label, query) =>
  new QueryVariableBuilder(name)
    .label(label)
    .datasource(datasource)
    .query(query)
    .refresh(VariableRefresh.OnTimeRangeChanged);

function panel({ title, text, kind, width, unit, queries, thresholds, words, shows }) {
  const built = new builders[kind]()
    .title(title)
    .description(text)
    .datasource(datasource)
    .span(width)
    .height(kind === 'stat' ? 4 : height);
  if (unit) built.unit(unit);
  if (thresholds) built.thresholds(new ThresholdsConfigBuilder().mode(ThresholdsMode.Absolute).steps(thresholds));
  if (words) built.mappings([valueMap(words)]);
  if (kind === 'stat') built.graphMode('none').textMode(shows ?? 'auto');
  for (const [index, { expr, legend = '' }] of queries.entries()) {
    built.withTarget(
      new DataqueryBuilder()
        .refId(String.fromCharCode(65 + index))
        .expr(expr)
        .legendFormat(legend),
    );
  }
  return built;
}

const valueMap = (words) => ({
  type: MappingType.ValueToText,
  options: Object.fromEntries(Object.entries(words).map(([value, text]) => [value, { text }])),
});
