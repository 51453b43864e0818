import { type ClientRequest, Agent as HttpAgent, type IncomingMessage, request as requestHttp } from 'node:http';
import { Agent as HttpsAgent, type RequestOptions, request as requestHttps } from 'node:https';
import { text } from 'node:stream/consumers';
import { ApiError } from './api-error.ts';
import type { KubeList, KubeObject } from './objects.ts';

/** Address of the API server and the credentials for it. */
export interface ApiAccess {
  readonly server: URL;
  /** Context of the kubeconfig. */
  readonly context?: string;
  /** Namespace of the context or of the pod. */
  readonly namespace?: string;
  /** Called for every request, because tokens and certificates are replaced while the process runs. */
  options(): Promise<RequestOptions>;
  /** Forgets credentials that the API server has refused. True: others can be had. */
  renew?(): boolean;
}

export type Query = Readonly<Record<string, string | number | undefined>>;

export interface WatchEvent<T> {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';
  readonly object: T;
}

interface Call {
  readonly query?: Query | undefined;
  readonly body?: unknown;
  readonly contentType?: string;
  readonly accept?: string;
  readonly signal?: AbortSignal | undefined;
}

interface ApiResource {
  readonly name: string;
  readonly verbs?: readonly string[];
}

export interface ListOptions {
  readonly signal?: AbortSignal;
  readonly metadataOnly?: boolean;
}

export interface Preconditions {
  readonly uid?: string;
  readonly resourceVersion?: string;
}

/** Owner of the fields that the reconciler writes. */
export const fieldManager = 'etcd-reconciler';

const pageSize = 200;

/**
 * Idle connections that are kept for the next call. With TLS, one takes 0.1 MiB. The number of connections in use is
 * not limited, so that renewing the Lease never waits.
 */
const maxFreeSockets = 16;

/** Accept header that requests only metadata. */
const partial = (kind: string) => `application/json;as=${kind};g=meta.k8s.io;v=v1,application/json`;

/** Client for the few Kubernetes API calls that we need. Every call has a time limit. No call is retried. */
export class ApiClient {
  readonly #access: ApiAccess;
  readonly #timeout: number;
  readonly #name: string;
  readonly #agent: HttpAgent | HttpsAgent;
  /** Time of the newest answer, by the server's clock and by our monotonic clock. */
  #answered: { readonly date: number; readonly tick: number } | undefined;

  /**
   * `timeout`: time limit of a call in milliseconds. A watch has its own limit. `name`: owner of the fields that are
   * written, also sent as user agent.
   */
  constructor(access: ApiAccess, timeout: number, name: string = fieldManager) {
    this.#access = access;
    this.#timeout = timeout;
    this.#name = name;
    const options = { keepAlive: true, scheduling: 'lifo', maxFreeSockets } as const;
    this.#agent = access.server.protocol === 'http:' ? new HttpAgent(options) : new HttpsAgent(options);
  }

  get server(): URL {
    return this.#access.server;
  }

  async get<T extends KubeObject>(path: string, query?: Query): Promise<T> {
    return withoutOwners(path, await this.#call<T>('GET', path, { query }));
  }

  /** From the API server's cache, which may be some seconds old: that costs etcd nothing. */
  async cachedMetadata(path: string): Promise<KubeObject> {
    const call = { query: { resourceVersion: '0' }, accept: partial('PartialObjectMetadata') };
    return withoutOwners(path, await this.#call<KubeObject>('GET', path, call));
  }

  /** Reads every page. Returns the current state from etcd, never from the API server's cache. */
  async list<T extends KubeObject>(
    path: string,
    query?: Query,
    { signal, metadataOnly = false }: ListOptions = {},
  ): Promise<{ items: T[]; resourceVersion: string }> {
    const accept = metadataOnly ? { accept: partial('PartialObjectMetadataList') } : {};
    const items: T[] = [];
    let resourceVersion = '';
    let next: string | undefined;
    do {
      const page = listOf(
        path,
        await this.#call<KubeList<T>>('GET', path, {
          query: { ...query, limit: pageSize, continue: next },
          signal,
          ...accept,
        }),
      );
      items.push(...(page.items ?? []).map((item) => withoutOwners(path, item)));
      resourceVersion = page.metadata.resourceVersion;
      next = page.metadata.continue || undefined;
    } while (next);
    return { items, resourceVersion };
  }

  /** What can be done with each resource of a group's version, by the name of the resource. */
  async verbs(path: string): Promise<ReadonlyMap<string, readonly string[]>> {
    const { resources } = await this.#call<{ resources?: readonly ApiResource[] }>('GET', path, {});
    if (!Array.isArray(resources)) throw new Error(`${path}: the answer is not a list of resources; ${checkProxy}`);
    return new Map((resources as readonly ApiResource[]).map(({ name, verbs = [] }) => [name, verbs]));
  }

  create<T>(path: string, body: unknown): Promise<T> {
    return this.#call('POST', path, { query: { fieldManager: this.#name }, body });
  }

  /** Replaces an object. The API server refuses if `metadata.resourceVersion` of the body is not the stored one. */
  replace<T>(path: string, body: KubeObject): Promise<T> {
    return this.#call('PUT', path, { query: { fieldManager: this.#name }, body });
  }

  merge<T>(path: string, body: unknown): Promise<T> {
    return this.#call('PATCH', path, {
      query: { fieldManager: this.#name },
      body,
      contentType: 'application/merge-patch+json',
    });
  }

  async remove(path: string, preconditions: Preconditions): Promise<void> {
    const options = { apiVersion: 'v1', kind: 'DeleteOptions', preconditions, propagationPolicy: 'Background' };
    await this.#call('DELETE', path, { body: options });
  }

  /** Yields events until the server ends the watch. Throws if nothing arrives for `silence` milliseconds. */
  async *watch<T extends KubeObject>(
    path: string,
    query: Query,
    silence: number,
    { signal, metadataOnly = false }: ListOptions & { readonly signal: AbortSignal },
  ): AsyncGenerator<WatchEvent<T>> {
    const accept = metadataOnly ? { accept: partial('PartialObjectMetadata') } : {};
    const call = { query: { ...query, watch: 'true' }, signal, ...accept };
    for await (const line of this.#linesOf(path, call, silence)) {
      const event: WatchEvent<T> = json(path, line);
      if (event?.type === 'ERROR') throw watchError(path, event.object);
      yield { ...event, object: withoutOwners(path, event?.object) };
    }
  }

  /**
   * Yields the lines of a text, such as a log. Throws if nothing arrives for `silence` milliseconds. Without it there is
   * no time limit: a log that is followed may be silent for long.
   */
  lines(path: string, query: Query, signal: AbortSignal, silence?: number): AsyncGenerator<string> {
    return this.#linesOf(path, { query, signal, accept: '*/*' }, silence);
  }

  async *#linesOf(
    path: string,
    call: Call & { readonly signal: AbortSignal },
    silence: number | undefined,
  ): AsyncGenerator<string> {
    const quiet = new AbortController();
    const expire = () => quiet.abort(new Error(`GET ${path}: nothing arrived for ${(silence ?? 0) / 1000} s`));
    const timer = silence === undefined ? undefined : setTimeout(expire, silence);
    try {
      const response = await this.#send('GET', path, { ...call, signal: AbortSignal.any([call.signal, quiet.signal]) });
      for await (const line of lines(response)) {
        timer?.refresh();
        yield line;
      }
    } catch (error) {
      throw quiet.signal.aborted ? quiet.signal.reason : error;
    } finally {
      clearTimeout(timer);
    }
  }

  /**
   * How far the clock of this machine is ahead of the API server's, in ms, to about a second. Undefined if no answer
   * had a date. Of several servers behind one address, the last that answered counts. It is unknown which of the two
   * clocks is right.
   */
  get clockAhead(): number | undefined {
    if (!this.#answered) return undefined;
    const { date, tick } = this.#answered;
    return Date.now() - (date + performance.now() - tick);
  }

  close(): void {
    this.#agent.destroy();
  }

  async #call<T>(method: string, path: string, call: Call): Promise<T> {
    const limit = AbortSignal.timeout(this.#timeout);
    const signal = call.signal ? AbortSignal.any([limit, call.signal]) : limit;
    try {
      const response = await this.#send(method, path, { ...call, signal });
      return json(path, await text(response));
    } catch (error) {
      if (limit.aborted) throw new Error(`${method} ${path}: no answer in ${this.#timeout} ms`);
      throw error;
    }
  }

  async #send(method: string, path: string, call: Call, renewed = false): Promise<IncomingMessage> {
    const { server } = this.#access;
    const { headers, ...options } = await this.#access.options();
    const body = call.body === undefined ? undefined : Buffer.from(JSON.stringify(call.body));
    const all: RequestOptions = {
      agent: this.#agent,
      ...options,
      method,
      host: server.hostname.replaceAll(/[[\]]/g, ''),
      port: server.port,
      path: `${server.pathname.replace(/\/$/, '')}${path}${queryText(call.query)}`,
      headers: {
        ...headers,
        accept: call.accept ?? 'application/json',
        'user-agent': this.#name,
        ...bodyHeaders(call, body),
      },
      ...(call.signal && { signal: call.signal }),
    };
    const send = server.protocol === 'http:' ? requestHttp : requestHttps;
    const response = await answerOf(send(all), body);
    // Nothing was done yet.
    if (response.statusCode === 401 && !renewed && this.#access.renew?.()) {
      response.resume();
      return this.#send(method, path, call, true);
    }
    const date = Date.parse(response.headers.date ?? '');
    if (!Number.isNaN(date)) this.#answered = { date, tick: performance.now() };
    const status = response.statusCode ?? 0;
    if (status < 200 || status > 299) throw ApiError.of(status, `${method} ${path}`, await text(response));
    return response;
  }
}

/** A proxy before the API server may answer with anything. */
const checkProxy = 'check whether a proxy answers instead of the API server';

/** Removes managedFields, which are half of an object and not used here. The API server adds them again on a write. */
function withoutOwners<T extends KubeObject>(path: string, object: T): T {
  if (!object?.metadata || typeof object.metadata !== 'object')
    throw new Error(`${path}: the answer is not an object; ${checkProxy}`);
  delete (object.metadata as { managedFields?: unknown }).managedFields;
  return object;
}

function json(path: string, text: string) {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`${path}: the answer is not JSON; ${checkProxy}`, { cause: error });
  }
}

function listOf<T>(path: string, answer: KubeList<T>): KubeList<T> {
  const isList = typeof answer?.metadata === 'object' && answer.metadata && Array.isArray(answer.items ?? []);
  if (!isList) throw new Error(`${path}: the answer is not a list; ${checkProxy}`);
  return answer;
}

/**
 * Sets the length of the body. Node omits it for DELETE, and the server then ignores the body with its preconditions.
 */
function bodyHeaders({ contentType = 'application/json' }: Call, body: Buffer | undefined): Record<string, string> {
  return body ? { 'content-type': contentType, 'content-length': `${body.length}` } : {};
}

function answerOf(sent: ClientRequest, body: Buffer | undefined): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    sent.once('response', resolve).on('error', reject).end(body);
  });
}

async function* lines(stream: AsyncIterable<Buffer>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of stream) {
    const parts = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = parts.pop() ?? '';
    yield* parts.filter((part) => part !== '');
  }
  if (rest.trim() !== '') yield rest;
}

function queryText(query: Query = {}): string {
  const given = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, `${value}`] as [string, string]],
  );
  return given.length > 0 ? `?${new URLSearchParams(given)}` : '';
}

function watchError(path: string, status: unknown): ApiError {
  const { code = 0 } = status as { code?: number };
  return ApiError.of(code, `GET ${path}`, JSON.stringify(status));
}
