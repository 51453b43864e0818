import { createHash } from 'node:crypto';
import { annotationProblems, labelProblems } from '../lib/labels';
import { dashboardTypes } from '../validation/property-types';
import { buildIfValid } from '../validation/type-checks';
import type { AlertScope } from './alerts/alert';
import { dashboardModel } from './dashboard-model';

/** Configures `EtcdDashboard.configMap`. */
export interface DashboardOptions {
  /**
   * Sets the labels by which Grafana's sidecar finds the ConfigMap.
   * @default - `grafana_dashboard: "1"`
   */
  readonly labels?: { readonly [name: string]: string };
  /**
   * Sets annotations, such as `grafana_folder: etcd` for the folder.
   * @default - none
   */
  readonly annotations?: { readonly [name: string]: string };
}

/** Decides how Grafana gets a dashboard of the cluster. */
export class EtcdDashboard {
  /** Adds a ConfigMap, which the sidecar of Grafana's common charts loads. */
  static configMap(options: DashboardOptions = {}): EtcdDashboard {
    return buildIfValid(EtcdDashboard.prototype, options, dashboardTypes, () => new EtcdDashboard(options));
  }

  /** Adds no dashboard. */
  static none(): EtcdDashboard {
    return new EtcdDashboard();
  }

  private constructor(private readonly options?: DashboardOptions) {}

  /**
   * Returns the metadata and the data of the ConfigMap. Undefined without a dashboard.
   * @internal
   */
  _configMap(scope: AlertScope) {
    const { options } = this;
    if (!options) return undefined;
    return {
      labels: options.labels ?? { grafana_dashboard: '1' },
      annotations: options.annotations,
      data: { [`etcd-${scope.cluster}.json`]: `${JSON.stringify(dashboardOf(scope), undefined, 1)}\n` },
    };
  }

  /** @internal */
  _problems(): string[] {
    return [
      ...labelProblems('dashboard: labels', this.options?.labels),
      ...annotationProblems('dashboard: annotations', this.options?.annotations),
    ];
  }
}

/** Each cluster has a dashboard of its own: Grafana refuses a second one with the same id. */
function dashboardOf({ cluster, namespace = '' }: AlertScope): object {
  const chosen: Readonly<Record<string, string>> = { namespace, etcd_cluster: cluster };
  const model = dashboardModel();
  const list = model.templating.list.map((variable) => {
    const value = chosen[variable.name];
    return value ? { ...variable, current: { text: value, value, selected: true } } : variable;
  });
  const hash = createHash('sha256')
    .update(JSON.stringify([namespace, cluster]))
    .digest('hex')
    .slice(0, 12);
  const title = namespace ? `etcd ${cluster} (${namespace})` : `etcd ${cluster}`;
  return { ...model, uid: `etcd-${hash}`, title, templating: { list } };
}
