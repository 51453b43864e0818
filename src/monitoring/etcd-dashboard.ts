import { createHash } from 'node:crypto';
import { defaults } from '../resource/defaults';
import type { ClusterMonitoringSpec } from '../resource/types';
import * as types from '../validation/property-types';
import { buildIfValid } from '../validation/type-checks';
import { type DashboardName, dashboardModel } from './dashboard-model';

type DashboardSpec = NonNullable<ClusterMonitoringSpec['dashboard']>;

/** What a dashboard shows. */
export interface ShownSubject {
  readonly of: DashboardName;
  /** Title of the dashboard, without the namespace. */
  readonly title: string;
  readonly namespace?: string;
  /** Values of the variables, besides the namespace. */
  readonly chosen: Readonly<Record<string, string>>;
}

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

/** Decides how Grafana gets a dashboard . */
export class EtcdDashboard {
  /** Adds a ConfigMap, which the sidecar of Grafana's common charts loads. */
  static configMap(options: DashboardOptions = {}): EtcdDashboard {
    return buildIfValid(EtcdDashboard.prototype, options, types.DashboardOptions, () => new EtcdDashboard(options));
  }

  /** Adds no dashboard. */
  static none(): EtcdDashboard {
    return new EtcdDashboard();
  }

  private constructor(private readonly options?: DashboardOptions) {}

  /** @internal */
  _dashboard(): DashboardSpec {
    return this.options ?? { enabled: false };
  }
}

const usual = defaults.ClusterMonitoringSpec.dashboard;

/** Returns the metadata and the data of the ConfigMap. Undefined without a dashboard. */
export function dashboardConfigMap(
  { enabled = usual.enabled, labels = usual.labels, annotations }: DashboardSpec = {},
  name: string,
  subject: ShownSubject,
) {
  if (!enabled) return undefined;
  const data = { [`etcd-${name}.json`]: `${JSON.stringify(dashboardOf(subject), undefined, 1)}\n` };
  return { labels, annotations, data };
}

/** Each subject has a dashboard of its own: Grafana refuses a second one with the same id. */
function dashboardOf({ of, title, namespace = '', chosen }: ShownSubject): object {
  const values: Readonly<Record<string, string>> = { namespace, ...chosen };
  const model = dashboardModel(of);
  const list = model.templating.list.map((variable) => {
    const value = values[variable.name];
    return value ? { ...variable, current: { text: value, value, selected: true } } : variable;
  });
  const hash = createHash('sha256')
    .update(JSON.stringify([...(of === 'cluster' ? [] : [of]), namespace, ...Object.values(chosen)]))
    .digest('hex')
    .slice(0, 12);
  const whole = namespace ? `${title} (${namespace})` : title;
  return { ...model, uid: `etcd-${hash}`, title: whole, templating: { list } };
}
