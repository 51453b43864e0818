// The dashboard for Grafana, made of the panels.
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
import { rows } from './panels.mjs';

const datasource = { type: 'prometheus', uid: '$datasource' };
const height = 7;
const builders = { stat: StatBuilder, timeseries: TimeseriesBuilder };

/** Returns the dashboard as Grafana imports it. */
export function dashboard() {
  const built = new DashboardBuilder('etcd')
    .uid('cdk8s-etcd')
    .description('An EtcdCluster: its state, members, disks, clients and backups.')
    .tags(['etcd', 'cdk8s-etcd'])
    .timezone('browser')
    .time({ from: 'now-6h', to: 'now' })
    .refresh('30s')
    .withVariable(new DatasourceVariableBuilder('datasource').label('Prometheus').type('prometheus'))
    .withVariable(variable('namespace', 'Namespace', 'label_values(etcd_server_has_leader, namespace)'))
    .withVariable(
      variable('etcd_cluster', 'Cluster', 'label_values(etcd_server_has_leader{namespace="$namespace"}, etcd_cluster)'),
    );
  for (const { title, panels } of rows) {
    built.withRow(new RowBuilder(title));
    for (const each of panels) built.withPanel(panel(each));
  }
  return built.build();
}

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
