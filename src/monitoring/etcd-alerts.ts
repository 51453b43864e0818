import { defaults } from '../resource/defaults';
import type { ClusterMonitoringSpec } from '../resource/types';
import { nearest } from '../validation/nearest';
import * as types from '../validation/property-types';
import { buildIfValid } from '../validation/type-checks';
import type { Alert, AlertGroup } from './alerts/alert';

type AlertsSpec = NonNullable<ClusterMonitoringSpec['alerts']>;

/** What a PrometheusRule is about. */
export interface AlertedSubject {
  /** Distinguishes its groups from those of others. */
  readonly name: string;
  /** Begins each summary, such as `etcd orders`. */
  readonly title: string;
  readonly groups: readonly AlertGroup[];
}

/** Configures `EtcdAlerts.of`. */
export interface EtcdAlertsOptions {
  /**
   * Lists alerts to leave out, by their names, such as `EtcdSpecRefused`.
   * @default - none
   */
  readonly exclude?: string[];
  /**
   * Adds labels to every alert, such as `team: shop`. `severity` is `critical` or `warning`.
   * @default - only `severity`
   */
  readonly labels?: { readonly [name: string]: string };
  /**
   * Sets the URL of the folder with the pages `runbook.md` and `alerts.md`, to which the alerts link.
   * @default - docs/operations of this library on GitHub
   */
  readonly runbookUrl?: string;
}

/** Decides which alerts a PrometheusRule contains. docs/operations/alerts.md describes each. */
export class EtcdAlerts {
  /** Adds every alert. */
  static all(): EtcdAlerts {
    return new EtcdAlerts({});
  }

  /** Adds the alerts with these options. */
  static of(options: EtcdAlertsOptions): EtcdAlerts {
    return buildIfValid(EtcdAlerts.prototype, options, types.EtcdAlertsOptions, () => new EtcdAlerts(options));
  }

  /** Adds no PrometheusRule. */
  static none(): EtcdAlerts {
    return new EtcdAlerts();
  }

  private constructor(private readonly options?: EtcdAlertsOptions) {}

  /** @internal */
  _alerts(): AlertsSpec {
    return this.options ?? { enabled: false };
  }
}

/** Returns the groups of a PrometheusRule. */
export function alertGroups(
  spec: AlertsSpec = {},
  { name, title, groups }: AlertedSubject,
): { readonly name: string; readonly rules: object[] }[] {
  const { enabled = defaults.ClusterMonitoringSpec.alerts.enabled, exclude = [] } = spec;
  if (!enabled) return [];
  return groups
    .map((group) => ({
      name: `${group.name}-${name}`,
      rules: group.alerts.filter((alert) => !exclude.includes(alert.name)).map((alert) => rule(alert, title, spec)),
    }))
    .filter(({ rules }) => rules.length > 0);
}

/** Problems with the alerts of a subject that has these groups. */
export function alertsProblems({ exclude = [] }: AlertsSpec = {}, groups: readonly AlertGroup[]): string[] {
  const known = groups.flatMap(({ alerts }) => alerts.map((alert) => alert.name));
  return exclude
    .filter((name) => !known.includes(name))
    .map((name) => {
      const other = nearest(name, known);
      return `alerts: exclude: '${name}' is not an alert${other === undefined ? '' : `; did you mean ${other}?`}`;
    });
}

const pages = 'https://github.com/cdk8s-etcd/cdk8s-etcd/blob/main/docs/operations';

function rule(
  { name, severity, expr, for: lasts, summary, labels: own, runbook = `alerts.md#${name.toLowerCase()}` }: Alert,
  title: string,
  { labels, runbookUrl = pages }: AlertsSpec,
): object {
  return {
    alert: name,
    expr,
    for: lasts,
    // In the order in which a resource has them, because the rules may become one text.
    labels: { severity, ...sorted(labels), ...own },
    annotations: {
      summary: `${title}: ${summary}`,
      runbook_url: `${runbookUrl.replace(/\/+$/, '')}/${runbook}`,
    },
  };
}

const sorted = (labels: AlertsSpec['labels'] = {}) =>
  Object.fromEntries(Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1)));
