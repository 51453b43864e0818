import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { type EtcdMetrics, parseEtcdMetrics } from './etcd-metrics.ts';

export interface HttpAnswer {
  readonly status: number;
  readonly body: string;
}

/** Queries the etcd of this pod at its metrics URL, over plain HTTP. Returns undefined for a request that fails or times out. */
export class EtcdProbe {
  readonly #url: string;
  readonly #timeout: number;
  readonly #signal: AbortSignal;

  /** `timeout` in ms. */
  constructor(metricsUrl: string, signal: AbortSignal, timeout = 2_000) {
    this.#signal = signal;
    this.#url = metricsUrl.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:');
    this.#timeout = timeout;
  }

  async metrics(): Promise<EtcdMetrics | undefined> {
    const answer = await this.#get('/metrics');
    return answer?.status === 200 ? parseEtcdMetrics(answer.body) : undefined;
  }

  readyz(): Promise<HttpAnswer | undefined> {
    return this.#get('/readyz');
  }

  #get(path: string): Promise<HttpAnswer | undefined> {
    const { promise, resolve } = Promise.withResolvers<HttpAnswer | undefined>();
    const none = () => resolve(undefined);
    const signal = AbortSignal.any([this.#signal, AbortSignal.timeout(this.#timeout)]);
    request(`${this.#url}${path}`, { signal, agent: false }, (response) => {
      text(response).then((body) => resolve({ status: response.statusCode ?? 0, body }), none);
    })
      .on('error', none)
      .end();
    return promise;
  }
}

/** Caches the last response of etcd's /metrics. Concurrent callers share one request. */
export class EtcdWatch {
  readonly #probe: EtcdProbe;
  #request: Promise<EtcdMetrics | undefined> | undefined;
  #metrics: EtcdMetrics | undefined;
  #at = Number.NEGATIVE_INFINITY;

  constructor(probe: EtcdProbe) {
    this.#probe = probe;
  }

  /** Returns metrics that are at most `age` ms old, or undefined if etcd does not answer. */
  async metrics(age: number): Promise<EtcdMetrics | undefined> {
    if (performance.now() - this.#at <= age) return this.#metrics;
    this.#request ??= this.#fetch().finally(() => {
      this.#request = undefined;
    });
    return this.#request;
  }

  async #fetch(): Promise<EtcdMetrics | undefined> {
    this.#metrics = await this.#probe.metrics();
    this.#at = performance.now();
    return this.#metrics;
  }
}
