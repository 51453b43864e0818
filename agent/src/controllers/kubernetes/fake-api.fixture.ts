import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { ApiAccess } from '../../kube/api-client.ts';
import type { KubeObject } from '../../kube/objects.ts';

/** Replaces the usual response to a request. Returns true if it has answered. */
export type Fault = (request: IncomingMessage, response: ServerResponse, path: string) => boolean;

interface Watcher {
  readonly collection: string;
  readonly response: ServerResponse;
}

const defaults = { creationTimestamp: '2026-11-21T00:00:00Z', namespace: 'shop' };

type Stored = KubeObject & { metadata: Record<string, unknown>; involvedObject?: { uid?: string } };

/** A small API server with versioned objects, watches, and faults on demand. */
export class FakeApi implements AsyncDisposable {
  /** `METHOD /path`, oldest first. */
  readonly requests: string[] = [];
  readonly bodies: unknown[] = [];
  fault: Fault = () => false;
  /** What can be done with EtcdUsers. */
  verbs: readonly string[] = ['create', 'list'];
  readonly #objects = new Map<string, Stored>();
  readonly #server: Server;
  readonly #watchers = new Set<Watcher>();
  #version = 100;

  private constructor() {
    this.#server = createServer((request, response) => void this.#answer(request, response));
  }

  static async listen(): Promise<FakeApi> {
    const api = new FakeApi();
    api.#server.listen(0, '127.0.0.1');
    await once(api.#server, 'listening');
    return api;
  }

  get access(): ApiAccess {
    const { port } = this.#server.address() as AddressInfo;
    return {
      server: new URL(`http://127.0.0.1:${port}`),
      options: async () => ({ headers: { authorization: 'Bearer x' } }),
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.endWatches();
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  /** Also ends requests that a fault left unanswered. */
  closeConnections(): void {
    this.#server.closeAllConnections();
  }

  /** Returns the object at `path`, or undefined. */
  object<T = Record<string, unknown>>(path: string): (T & KubeObject) | undefined {
    return this.#objects.get(path) as (T & KubeObject) | undefined;
  }

  /** Returns the objects of a collection, oldest first. */
  objects<T>(path: string): (T & KubeObject)[] {
    const keys = [...this.#objects.keys()].filter((key) => key.startsWith(`${path}/`));
    return keys.flatMap((key) => this.object<T>(key) ?? []);
  }

  put(path: string, object: object): Stored {
    const old = this.#objects.get(path);
    const given = object as Stored;
    const stored: Stored = {
      ...given,
      metadata: {
        ...defaults,
        ...(old ? { uid: old.metadata.uid } : { uid: randomUUID() }),
        ...(given.metadata as Record<string, unknown> | undefined),
        name: path.split('/').at(-1)!,
        resourceVersion: `${++this.#version}`,
      },
    };
    this.#objects.set(path, stored);
    this.#notify(path, old ? 'MODIFIED' : 'ADDED', stored);
    return stored;
  }

  delete(path: string): void {
    const old = this.#objects.get(path);
    this.#objects.delete(path);
    if (old)
      this.#notify(path, 'DELETED', { ...old, metadata: { ...old.metadata, resourceVersion: `${++this.#version}` } });
  }

  endWatches(): void {
    for (const { response } of this.#watchers) response.end();
    this.#watchers.clear();
  }

  sendToWatches(line: string): void {
    for (const { response } of this.#watchers) response.write(line);
  }

  /** Number of requests like this one. */
  asked(request: string): number {
    return this.requests.filter((each) => each === request).length;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://api');
    const path = url.pathname;
    const watch = url.searchParams.get('watch') === 'true';
    this.requests.push(`${watch ? 'WATCH' : request.method} ${path}`);
    // Same as the real server: a request without content-length has no body.
    const body = request.headers['content-length'] === undefined ? undefined : JSON.parse(await text(request));
    this.bodies.push(body);
    if (this.fault(request, response, path)) return;
    if (watch) this.#watch(path, response);
    else if (request.method === 'GET') this.#get(path, url.searchParams, response);
    else if (request.method === 'POST') this.#create(path, body, response);
    else if (request.method === 'DELETE') this.#remove(path, body, response);
    else this.#change(request, path, body, response);
  }

  #get(path: string, query: URLSearchParams, response: ServerResponse): unknown {
    const object = this.#objects.get(path);
    if (object) return reply(response, 200, object);
    if (path === '/apis/cdk8s-etcd.dev/v1alpha1')
      return reply(response, 200, { resources: [{ name: 'etcdusers', verbs: this.verbs }] });
    const isCollection = collections.some((each) => path.endsWith(`/${each}`));
    if (!isCollection) return failure(response, 404, 'NotFound', `${path} not found`);
    const items = [...this.#objects]
      .filter(([key]) => key.startsWith(`${path}/`) && !key.slice(path.length + 1).includes('/'))
      .map(([, item]) => item)
      .filter((item) => matches(item, query));
    reply(response, 200, { metadata: { resourceVersion: `${this.#version}` }, items });
  }

  #create(path: string, body: Stored, response: ServerResponse): unknown {
    const key = `${path}/${body.metadata.name}`;
    if (this.#objects.has(key)) return failure(response, 409, 'AlreadyExists', `${key} already exists`);
    reply(response, 201, this.put(key, body));
  }

  #change(request: IncomingMessage, path: string, body: Stored, response: ServerResponse): unknown {
    const [, key = path, part] = /^(.*)\/(status|scale)$/.exec(path) ?? [];
    const old = this.#objects.get(key);
    if (!old) return failure(response, 404, 'NotFound', `${key} not found`);
    const { resourceVersion, uid } = body.metadata ?? {};
    const stale = resourceVersion !== undefined && resourceVersion !== old.metadata.resourceVersion;
    if (stale || (uid !== undefined && uid !== old.metadata.uid)) {
      return failure(response, 409, 'Conflict', 'the object has been modified');
    }
    if (request.method === 'PUT') return reply(response, 200, this.put(key, body));
    const change = part === 'status' ? { status: (body as { status?: unknown }).status } : body;
    reply(response, 200, this.put(key, merged(old, change) as object));
  }

  #remove(
    path: string,
    body: { preconditions?: Record<string, string> } | undefined,
    response: ServerResponse,
  ): unknown {
    const old = this.#objects.get(path);
    if (!old) return failure(response, 404, 'NotFound', `${path} not found`);
    const refused = Object.entries(body?.preconditions ?? {}).some(([key, value]) => old.metadata[key] !== value);
    if (refused) return failure(response, 409, 'Conflict', 'Precondition failed');
    this.delete(path);
    reply(response, 200, { kind: 'Status', status: 'Success' });
  }

  #watch(collection: string, response: ServerResponse): void {
    const watcher = { collection, response };
    this.#watchers.add(watcher);
    response.writeHead(200, { 'content-type': 'application/json' }).flushHeaders();
    response.on('close', () => this.#watchers.delete(watcher));
  }

  #notify(path: string, type: string, object: Stored): void {
    for (const { collection, response } of this.#watchers) {
      if (path.startsWith(`${collection}/`)) response.write(`${JSON.stringify({ type, object })}\n`);
    }
  }
}

const collections = [
  ...[
    'configmaps',
    'events',
    'persistentvolumeclaims',
    'pods',
    'statefulsets',
    'cronjobs',
    'jobs',
    'leases',
    'secrets',
    'deployments',
  ],
  ...['etcdclusters', 'etcdbackups', 'etcdrestores', 'etcdusers'],
];

function matches({ metadata, involvedObject }: Stored, query: URLSearchParams): boolean {
  const [, uid] = /^involvedObject\.uid=(.*)$/.exec(query.get('fieldSelector') ?? '') ?? [];
  if (uid !== undefined && involvedObject?.uid !== uid) return false;
  const [, name] = /^metadata\.name=(.*)$/.exec(query.get('fieldSelector') ?? '') ?? [];
  if (name !== undefined && metadata.name !== name) return false;
  const wanted = (query.get('labelSelector') ?? '').split(',').filter(Boolean);
  return wanted.every((each) => {
    const [label, value] = each.split('=') as [string, string];
    return metadata.labels?.[label] === value;
  });
}

function merged(old: unknown, change: unknown): unknown {
  if (change === null || typeof change !== 'object' || Array.isArray(change)) return change;
  const result: Record<string, unknown> = { ...(old as object) };
  for (const [key, value] of Object.entries(change)) {
    if (value === null) delete result[key];
    else result[key] = merged(result[key], value);
  }
  return result;
}

function reply(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

export function failure(response: ServerResponse, status: number, reason: string, message: string): void {
  reply(response, status, { kind: 'Status', status: 'Failure', reason, message, code: status });
}
