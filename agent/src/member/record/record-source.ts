import { readFile } from 'node:fs/promises';
import { request } from 'node:https';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { apiTokenDirectory } from '../../../../src/lib/api-token.ts';
import { codeOf } from '../../lib/errors.ts';
import { parseRecord, type RecordAnswer } from '../../protocol/record-schema.ts';

/** The place from which a pod reads the record. A pod never writes the record. */
export interface RecordSource {
  /** Throws if the read fails. A failed read says nothing about the record. */
  read(signal?: AbortSignal): Promise<RecordAnswer>;
}

export interface RecordPlace {
  /** Name of a ConfigMap in the namespace, or file:///path/record.json. */
  readonly record: string;
  readonly namespace: string;
  /** Time-out of one read, in ms. */
  readonly recordTimeout: number;
}

export function openRecordSource({ record, namespace, recordTimeout }: RecordPlace): RecordSource {
  if (record.startsWith('file:')) return new FileRecord(fileURLToPath(record));
  return new ConfigMapRecord(namespace, record, recordTimeout);
}

/** A record in a file, for members that run as local processes. */
class FileRecord implements RecordSource {
  readonly #file: string;

  constructor(file: string) {
    this.#file = file;
  }

  async read(signal?: AbortSignal): Promise<RecordAnswer> {
    try {
      return parseRecord(await readFile(this.#file, { encoding: 'utf8', signal }));
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return { kind: 'none' };
      throw error;
    }
  }
}

/** Address and credentials of the API server. Kubernetes provides all of them in a pod. */
export interface PodApiAccess {
  readonly host: string;
  readonly port: string;
  /** Holds `token` and `ca.crt`. */
  readonly directory: string;
}

const inPod = (): PodApiAccess => ({
  host: process.env.KUBERNETES_SERVICE_HOST ?? 'kubernetes.default.svc',
  port: process.env.KUBERNETES_SERVICE_PORT ?? '443',
  directory: apiTokenDirectory,
});

/** A record in a ConfigMap. Sends one GET for it: the only request that a member's pod may send to the API server. */
export class ConfigMapRecord implements RecordSource {
  readonly #path: string;
  readonly #timeout: number;
  readonly #api: PodApiAccess;

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
    // Read for every request: Kubernetes replaces both while the pod runs.
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
