import { lookup } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { S3Client, type S3ClientConfig } from '@aws-sdk/client-s3';
import { AgentError } from '../../lib/errors.ts';
import { proxiesFor, proxyName } from '../../lib/http/proxy.ts';
import type { S3Spec } from '../spec.ts';
import { readCredentials, readRegion } from './credentials.ts';
import { endpointOf, isPathStyle, readAuthorities, s3Url } from './endpoint.ts';
import { CredentialsFault, isAuthFailure, isUnknownKey, s3Fault, statusOf } from './errors.ts';

/** A bucket of S3, or of a service with an S3-compatible endpoint. */
export type S3Place = S3Spec & {
  /** Scheme of the store's URL. Default: s3. */
  readonly scheme?: 'oss';
};

/** Limits. Tests use smaller ones. */
export interface S3Tuning {
  /** Bytes. */
  readonly minPartSize: number;
  readonly maxParts: number;
  /** Longest time in milliseconds without a byte in either direction. */
  readonly idleTimeout: number;
  readonly maxAttempts: number;
  /** Milliseconds that a server may take to learn an access key that was made just now. */
  readonly keyGrace: number;
}

// The smallest part size of S3: two parts are in memory at a time, in a pod with 100 MiB.
const defaults: S3Tuning = {
  minPartSize: 5 * 1024 * 1024,
  maxParts: 10_000,
  idleTimeout: 30_000,
  maxAttempts: 4,
  keyGrace: 10_000,
};

const KEY_AGAIN = 1_000;

const CONNECTION_TIMEOUT = 10_000;

/** Number of idle time-outs that a server may be silent while it assembles the parts. AWS documents several minutes. */
const ASSEMBLING = 20;

/** Bytes that are sent over TLS at a time. */
const SLICE = 256 * 1024;

type Request<T> = (client: S3Client, options: { abortSignal?: AbortSignal }) => Promise<T>;

/** Client for one bucket. Sends requests, repeats a refused one once with fresh credentials, and explains errors. */
export class S3Connection {
  readonly url: string;
  readonly bucket: string;
  readonly tuning: S3Tuning;
  /** True if the server may support conditional writes. For OSS this is not known. */
  readonly hasConditions: boolean;
  /** The server's clock at its last answer. */
  serverDate: Date | undefined;
  readonly #opened = performance.now();
  readonly #endpoint: string;
  readonly #proxy: string | undefined;
  readonly #ownSecrets: readonly string[];
  readonly #config: S3ClientConfig;
  /** For writes, lists and deletes: an idle socket means a stalled server. */
  readonly #client: S3Client;
  /** For reads of whole objects: a socket may also be idle because the caller has not consumed what was read. */
  #reader: S3Client | undefined;
  #assembler: S3Client | undefined;

  /** Messages never contain the credentials or `secrets`. */
  static async open(
    spec: S3Place,
    tuning: Partial<S3Tuning> = {},
    secrets: readonly string[] = [],
  ): Promise<S3Connection> {
    const all = { ...defaults, ...tuning };
    return new S3Connection(spec, all, await clientConfig(spec, all), secrets);
  }

  private constructor(spec: S3Place, tuning: S3Tuning, config: S3ClientConfig, secrets: readonly string[]) {
    this.#ownSecrets = secrets;
    const endpoint = endpointOf(spec);
    this.url = s3Url(spec, spec.scheme);
    this.bucket = spec.bucket;
    this.tuning = tuning;
    this.hasConditions = spec.scheme !== 'oss';
    this.#endpoint = endpoint?.origin ?? 'AWS';
    this.#proxy = proxyName(endpoint, proxiesFor(endpoint));
    this.#config = config;
    this.#client = this.#connect({ socketTimeout: tuning.idleTimeout });
  }

  send<T>(operation: string, signal: AbortSignal | undefined, request: Request<T>): Promise<T> {
    return this.#send(this.#client, operation, signal, request);
  }

  /** Sends a request whose answer is streamed. The reader of the body must detect a stalled transfer. */
  read<T>(operation: string, signal: AbortSignal | undefined, request: Request<T>): Promise<T> {
    const { idleTimeout } = this.tuning;
    this.#reader ??= this.#connect({ socketTimeout: 0, requestTimeout: idleTimeout, throwOnRequestTimeout: true });
    return this.#send(this.#reader, operation, signal, request);
  }

  /** Sends a request on which the server may work for minutes before it answers. */
  assemble<T>(operation: string, signal: AbortSignal | undefined, request: Request<T>): Promise<T> {
    this.#assembler ??= this.#connect({ socketTimeout: ASSEMBLING * this.tuning.idleTimeout });
    return this.#send(this.#assembler, operation, signal, request);
  }

  close(): void {
    this.#client.destroy();
    this.#reader?.destroy();
    this.#assembler?.destroy();
  }

  async #send<T>(
    client: S3Client,
    operation: string,
    signal: AbortSignal | undefined,
    request: Request<T>,
  ): Promise<T> {
    signal?.throwIfAborted();
    try {
      return await this.#withFreshCredentials(client, signal, () => request(client, { abortSignal: signal }));
    } catch (error) {
      signal?.throwIfAborted();
      throw await this.explain(operation, error);
    }
  }

  async #withFreshCredentials<T>(
    client: S3Client,
    signal: AbortSignal | undefined,
    request: () => Promise<T>,
  ): Promise<T> {
    for (let again = false; ; again = true) {
      try {
        return await request();
      } catch (error) {
        const isNew = isUnknownKey(error) && performance.now() - this.#opened < this.tuning.keyGrace;
        if (!isAuthFailure(error) || (again && !isNew)) throw error;
        if (again) await sleep(KEY_AGAIN, undefined, { signal });
        await client.config.credentials({ forceRefresh: true });
      }
    }
  }

  async explain(operation: string, error: unknown): Promise<Error> {
    const secrets = await this.#secrets(error);
    return s3Fault(error, { url: this.url, endpoint: this.#endpoint, proxy: this.#proxy, operation, secrets });
  }

  /** Texts that a server's message may quote and that must not be printed. */
  async #secrets(error: unknown): Promise<string[]> {
    if (statusOf(error) === undefined) return [];
    const identity = await this.#client.config.credentials().catch(() => undefined);
    const all = [identity?.accessKeyId, identity?.secretAccessKey, identity?.sessionToken, ...this.#ownSecrets];
    return all.filter((text) => text !== undefined);
  }

  #connect(handler: { socketTimeout: number; requestTimeout?: number; throwOnRequestTimeout?: boolean }): S3Client {
    const client = new S3Client({
      ...this.#config,
      requestHandler: { ...(this.#config.requestHandler as object), ...handler },
    });
    sendInSlices(client);
    const { credentials } = client.config;
    client.config.credentials = (options) =>
      credentials(options).catch((error: unknown) => {
        throw error instanceof AgentError ? error : new CredentialsFault(error);
      });
    client.middlewareStack.add(
      (next) => async (args) => {
        const result = await next(args);
        const { headers } = result.response as { headers?: Record<string, string> };
        const date = Date.parse(headers?.date ?? '');
        if (!Number.isNaN(date)) this.serverDate = new Date(date);
        return result;
      },
      { step: 'deserialize', priority: 'low', name: 'serverDate' },
    );
    return client;
  }
}

async function clientConfig(spec: S3Spec, tuning: S3Tuning): Promise<S3ClientConfig> {
  const endpoint = endpointOf(spec);
  const { credentialsDirectory: directory, profile } = spec;
  const ca = await readAuthorities(spec.caFile);
  const agent = { proxyEnv: proxiesFor(endpoint), ...localhostLookup(endpoint) };
  // Read the credentials now, so that a mistake shows before anything is changed.
  if (directory) await readCredentials(directory, profile);
  const region = spec.region || (directory && (await readRegion(directory, profile))) || (endpoint && 'us-east-1');
  return {
    endpoint: endpoint?.origin,
    region: region || undefined,
    ...(directory ? { credentials: () => readCredentials(directory, profile) } : { profile }),
    forcePathStyle: isPathStyle(spec, endpoint),
    // Not every other server supports the newer checksums. What is read back is compared by SHA-256 anyway.
    requestChecksumCalculation: endpoint ? 'WHEN_REQUIRED' : 'WHEN_SUPPORTED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    // For every part, 100-continue costs a connection, and seconds with servers that do not support it.
    expectContinueHeader: false,
    retryMode: 'standard',
    maxAttempts: tuning.maxAttempts,
    requestHandler: {
      connectionTimeout: CONNECTION_TIMEOUT,
      httpAgent: agent,
      httpsAgent: { ca, ...agent },
    },
  };
}

/**
 * Sends a large body over TLS in slices. In one piece, the whole body would be encrypted into a second copy before the
 * first byte is sent, and a slow but steady connection would look idle. The middleware runs close to the wire, so that
 * every attempt still has the whole body.
 */
function sendInSlices(client: S3Client): void {
  client.middlewareStack.add(
    (next) => (args) => {
      const request = args.request as { protocol?: string; body?: unknown };
      const { protocol, body } = request;
      if (protocol !== 'https:' || !Buffer.isBuffer(body) || body.length <= SLICE) return next(args);
      const sliced = Object.create(Object.getPrototypeOf(request), Object.getOwnPropertyDescriptors(request));
      sliced.body = Readable.from(slices(body), { objectMode: false, highWaterMark: 1 });
      return next({ ...args, request: sliced });
    },
    { step: 'deserialize', priority: 'low', name: 'sendInSlices' },
  );
}

function* slices(bytes: Buffer): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += SLICE) yield bytes.subarray(at, at + SLICE);
}

/** Resolves names below `localhost`, such as `bucket.localhost`, to this machine (RFC 6761). Few resolvers do. */
function localhostLookup(endpoint: URL | undefined): { lookup?: LookupFunction } {
  if (!endpoint || !/(^|\.)localhost$/.test(endpoint.hostname)) return {};
  return { lookup: (_name, options, callback) => lookup('localhost', options, callback) };
}
