import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { type EtcdMetrics, parseEtcdMetrics } from './etcd-metrics.ts';

export interface HttpAnswer {
  readonly status: number;
  readonly body: string;
}

/** Asks the etcd of this pod on its metrics URL, plain http. What fails or takes too long is no answer. */
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
