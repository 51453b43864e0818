import type { Duration } from 'cdk8s';
import { durationText } from '../lib/duration';
import type { ClusterMonitoringSpec } from '../resource/types';
import * as types from '../validation/property-types';
import { buildIfValid } from '../validation/type-checks';

/** Configures `EtcdScrape.serviceMonitors`. */
export interface ServiceMonitorOptions {
  /**
   * Sets the time between two scrapes, in whole seconds.
   * @default - the default of Prometheus
   */
  readonly interval?: Duration;
  /**
   * Lets Prometheus scrape etcd over https, on the port for clients and with the client certificate of the cluster,
   * instead of over http on port 2381. Prometheus then holds a certificate with which it could also read data, unless etcd has users;
   * port 2381 serves metrics and health only.
   * @default false
   */
  readonly tls?: boolean;
}

/** Decides how Prometheus finds the metrics. */
export class EtcdScrape {
  /** Adds ServiceMonitors, for the Prometheus operator. */
  static serviceMonitors(options: ServiceMonitorOptions = {}): EtcdScrape {
    return buildIfValid(
      EtcdScrape.prototype,
      options,
      types.ServiceMonitorOptions,
      () => new EtcdScrape('ServiceMonitors', options.interval, options.tls),
    );
  }

  /**
   * Adds the annotations `prometheus.io/scrape`, `prometheus.io/port` and `prometheus.io/path` to Services of their own,
   * for a Prometheus without the operator that scrapes the endpoints of annotated Services.
   */
  static annotations(): EtcdScrape {
    return new EtcdScrape('Annotations');
  }

  /** Adds nothing, because something else configures Prometheus. The scraper may still connect. */
  static none(): EtcdScrape {
    return new EtcdScrape('None');
  }

  private constructor(
    private readonly method: 'ServiceMonitors' | 'Annotations' | 'None',
    private readonly interval?: Duration,
    private readonly tls?: boolean,
  ) {}

  /** @internal */
  _scrape(): ClusterMonitoringSpec['scrape'] {
    const { method, interval, tls } = this;
    if (method !== 'ServiceMonitors') return { method };
    return interval || tls ? { interval: interval && durationText(interval), tls } : undefined;
  }
}
