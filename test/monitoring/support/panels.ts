import { dashboardModel } from '../../../src/monitoring/dashboard-model';

interface Query {
  readonly expr: string;
  readonly legend: string;
}

/** A panel of the dashboard, with the variables of Grafana filled in. */
export interface Panel {
  readonly title: string;
  readonly kind: 'stat' | 'timeseries';
  readonly unit?: string;
  readonly width: number;
  readonly text: Readonly<Record<string, string>>;
  readonly showsName: boolean;
  readonly queries: readonly Query[];
}

export interface Row {
  readonly title: string;
  readonly panels: readonly Panel[];
}

interface Model {
  readonly type: string;
  readonly title: string;
  readonly gridPos: { readonly w: number };
  readonly options?: { readonly textMode?: string };
  readonly fieldConfig?: { readonly defaults: { readonly unit?: string; readonly mappings?: readonly Mapping[] } };
  readonly targets: readonly { readonly expr: string; readonly legendFormat: string }[];
}

interface Mapping {
  readonly options: Readonly<Record<string, { readonly text: string }>>;
}

/** As Grafana fills them in for a scrape every two seconds. */
const rateInterval = '10s';

/** The rows of the dashboard for one cluster. */
export function rowsOf(namespace: string, cluster: string): Row[] {
  const filled = (expr: string) =>
    expr
      .replaceAll('$namespace', namespace)
      .replaceAll('$etcd_cluster', cluster)
      .replaceAll('$__rate_interval', rateInterval);
  const rows: { title: string; panels: Panel[] }[] = [];
  for (const model of dashboardModel('cluster').panels as unknown as readonly Model[]) {
    const { type, title, gridPos, options, fieldConfig, targets } = model;
    if (type === 'row') {
      rows.push({ title, panels: [] });
      continue;
    }
    const { unit, mappings = [] } = fieldConfig?.defaults ?? {};
    const words = Object.entries(mappings[0]?.options ?? {}).map(([value, { text }]) => [value, text] as const);
    rows.at(-1)!.panels.push({
      ...{ title, kind: type as Panel['kind'], width: gridPos.w, text: Object.fromEntries(words) },
      ...(unit !== undefined && { unit }),
      showsName: options?.textMode === 'name',
      queries: targets.map(({ expr, legendFormat }) => ({ expr: filled(expr), legend: legendFormat })),
    });
  }
  return rows;
}

/** What Grafana shows as the name of a series. */
export const legendOf = (legend: string, labels: Readonly<Record<string, string>>): string =>
  legend.replaceAll(/\{\{(\w+)\}\}/g, (_, label: string) => labels[label] ?? '');
