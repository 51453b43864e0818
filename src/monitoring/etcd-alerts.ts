import { nearest } from '../validation/nearest';
import { alertsTypes } from '../validation/property-types';
import { buildIfValid } from '../validation/type-checks';
import type { Alert, AlertScope } from './alerts/alert';
import { alertsOnConditions } from './alerts/condition-alerts';
import { alertsOnMembers } from './alerts/member-alerts';
import { alertsOnReconciler } from './alerts/reconciler-alerts';

/** Configures `EtcdAlerts.of`. */
export interface EtcdAlertsOptions {
  /**
   * Lists alerts to leave out, by their names, such as `EtcdSpecRefused`.
   * @default - none
   */
  readonly except?: string[];
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
    return buildIfValid(EtcdAlerts.prototype, options, alertsTypes, () => new EtcdAlerts(options));
  }

  /** Adds no PrometheusRule. */
  static none(): EtcdAlerts {
    return new EtcdAlerts();
  }

  private constructor(private readonly options?: EtcdAlertsOptions) {}

  /**
   * Returns the groups of a PrometheusRule. Undefined without alerts.
   * @internal
   */
  _groups(scope: AlertScope): { readonly name: string; readonly rules: object[] }[] | undefined {
    const { options } = this;
    if (!options) return undefined;
    const { except = [] } = options;
    return groupsOf(scope)
      .map(({ name, alerts }) => ({
        name: `${name}-${scope.cluster}`,
        rules: alerts.filter((alert) => !except.includes(alert.name)).map((alert) => rule(alert, scope, options)),
      }))
      .filter(({ rules }) => rules.length > 0);
  }

  /** @internal */
  _problems(): string[] {
    return (this.options?.except ?? [])
      .filter((name) => !alertNames.includes(name))
      .map((name) => {
        const other = nearest(name, alertNames);
        return `alerts: except: '${name}' is not an alert${other === undefined ? '' : `; did you mean ${other}?`}`;
      });
  }
}

const groupsOf = (scope: AlertScope) => [
  { name: 'etcd-conditions', alerts: alertsOnConditions(scope) },
  { name: 'etcd-members', alerts: alertsOnMembers(scope) },
  { name: 'etcd-reconciler', alerts: alertsOnReconciler(scope) },
];

const alertNames = groupsOf({ cluster: '' }).flatMap(({ alerts }) => alerts.map(({ name }) => name));

const pages = 'https://github.com/cdk8s-etcd/cdk8s-etcd/blob/main/docs/operations';

function rule(
  { name, severity, expr, for: lasts, summary, runbook = `alerts.md#${name.toLowerCase()}` }: Alert,
  { cluster }: AlertScope,
  { labels, runbookUrl = pages }: EtcdAlertsOptions,
): object {
  return {
    alert: name,
    expr,
    for: lasts,
    labels: { severity, ...labels },
    annotations: {
      summary: `etcd ${cluster}: ${summary}`,
      runbook_url: `${runbookUrl.replace(/\/+$/, '')}/${runbook}`,
    },
  };
}
