import { nearest } from '../validation/nearest';
import { alertsTypes } from '../validation/property-types';
import { buildIfValid } from '../validation/type-checks';
import type { Alert, AlertGroup } from './alerts/alert';

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
  _groups({ name, title, groups }: AlertedSubject): { readonly name: string; readonly rules: object[] }[] | undefined {
    const { options } = this;
    if (!options) return undefined;
    const { exclude = [] } = options;
    return groups
      .map((group) => ({
        name: `${group.name}-${name}`,
        rules: group.alerts
          .filter((alert) => !exclude.includes(alert.name))
          .map((alert) => rule(alert, title, options)),
      }))
      .filter(({ rules }) => rules.length > 0);
  }

  /**
   * Problems with the options for a subject that has these alerts.
   * @internal
   */
  _problems(alertNames: readonly string[]): string[] {
    return (this.options?.exclude ?? [])
      .filter((name) => !alertNames.includes(name))
      .map((name) => {
        const other = nearest(name, alertNames);
        return `alerts: exclude: '${name}' is not an alert${other === undefined ? '' : `; did you mean ${other}?`}`;
      });
  }
}

const pages = 'https://github.com/cdk8s-etcd/cdk8s-etcd/blob/main/docs/operations';

function rule(
  { name, severity, expr, for: lasts, summary, labels: own, runbook = `alerts.md#${name.toLowerCase()}` }: Alert,
  title: string,
  { labels, runbookUrl = pages }: EtcdAlertsOptions,
): object {
  return {
    alert: name,
    expr,
    for: lasts,
    labels: { severity, ...labels, ...own },
    annotations: {
      summary: `${title}: ${summary}`,
      runbook_url: `${runbookUrl.replace(/\/+$/, '')}/${runbook}`,
    },
  };
}
