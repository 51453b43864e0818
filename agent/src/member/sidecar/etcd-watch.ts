import type { EtcdMetrics } from './etcd-metrics.ts';
import type { EtcdProbe } from './etcd-probe.ts';

/** The newest answer of etcd's /metrics; several who ask at once share one request. */
export class EtcdWatch {
  readonly #probe: EtcdProbe;
  #asking: Promise<EtcdMetrics | undefined> | undefined;
  #answer: EtcdMetrics | undefined;
  #at = Number.NEGATIVE_INFINITY;

  constructor(probe: EtcdProbe) {
    this.#probe = probe;
  }

  /** At most `age` ms old; undefined: etcd does not answer. */
  async metrics(age: number): Promise<EtcdMetrics | undefined> {
    if (performance.now() - this.#at <= age) return this.#answer;
    this.#asking ??= this.#ask().finally(() => {
      this.#asking = undefined;
    });
    return this.#asking;
  }

  async #ask(): Promise<EtcdMetrics | undefined> {
    this.#answer = await this.#probe.metrics();
    this.#at = performance.now();
    return this.#answer;
  }
}
