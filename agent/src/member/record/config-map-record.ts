import { readFile } from 'node:fs/promises';
import { request } from 'node:https';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { apiTokenDirectory } from '../../../../src/lib/api-token.ts';
import { parseRecord, type RecordAnswer } from '../../protocol/record-schema.ts';
import type { RecordSource } from './record-source.ts';

/** Where the API server is and what it takes to ask it; a pod has all of it by itself. */
export interface ApiAccess {
  readonly host: string;
  readonly port: string;
  /** Holds `token` and `ca.crt`. */
  readonly directory: string;
}

const inPod = (): ApiAccess => ({
  host: process.env.KUBERNETES_SERVICE_HOST ?? 'kubernetes.default.svc',
  port: process.env.KUBERNETES_SERVICE_PORT ?? '443',
  directory: apiTokenDirectory,
});

/** The record in its ConfigMap: one GET, all that a pod may do with the API. */
export class ConfigMapRecord implements RecordSource {
  readonly #path: string;
  readonly #timeout: number;
  readonly #api: ApiAccess;

  /** `timeout` in ms. */
  constructor(namespace: string, name: string, timeout: number, api = inPod()) {
    this.#path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/configmaps/${encodeURIComponent(name)}`;
    this.#timeout = timeout;
    this.#api = api;
  }

  async read(signal?: AbortSignal): Promise<RecordAnswer> {
    const { status, body } = await this.#get(signal);
    if (status === 404) return { kind: 'none' };
    if (status !== 200) throw new Error(`the API server answers ${status} to GET ${this.#path}`);
    const { data } = JSON.parse(body) as { data?: Record<string, string> };
    return parseRecord(data?.['record.json'] ?? '');
  }

  async #get(outer?: AbortSignal): Promise<{ status: number; body: string }> {
    const { host, port, directory } = this.#api;
    // Both are replaced while the pod runs.
    const [token, ca] = await Promise.all([
      readFile(join(directory, 'token'), 'utf8'),
      readFile(join(directory, 'ca.crt')),
    ]);
    const timeout = AbortSignal.timeout(this.#timeout);
    const signal = outer ? AbortSignal.any([outer, timeout]) : timeout;
    const headers = { authorization: `Bearer ${token.trim()}`, accept: 'application/json' };
    const { promise, resolve, reject } = Promise.withResolvers<{ status: number; body: string }>();
    request({ host, port, path: this.#path, ca, headers, signal, agent: false }, (response) => {
      text(response).then((body) => resolve({ status: response.statusCode ?? 0, body }), reject);
    })
      .on('error', reject)
      .end();
    return promise;
  }
}
