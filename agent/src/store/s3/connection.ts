import { S3Client, type S3ClientConfig } from '@aws-sdk/client-s3';
import type { S3Spec } from '../spec.ts';
import { readCredentials, readRegion } from './credentials.ts';
import { endpointOf, isPathStyle, readAuthorities, s3Url } from './endpoint.ts';
import { isAuthFailure, s3Fault, statusOf } from './errors.ts';
import { localhostLookup } from './localhost.ts';
import { proxiesFor, proxyName } from './proxy.ts';
import { sendInSlices } from './slices.ts';

/** A bucket of S3, or of another service through it. */
export type S3Place = S3Spec & {
  /** Of its URL. Default: s3. */
  readonly scheme?: 'oss';
};

/** What tests shrink. */
export interface S3Tuning {
  /** Bytes. */
  readonly minPartSize: number;
  readonly maxParts: number;
  /** Milliseconds without a byte in either direction. */
  readonly idleTimeout: number;
  readonly maxAttempts: number;
}

// S3's smallest part: two are in memory at a time, in a pod of 100 MiB.
const defaults: S3Tuning = { minPartSize: 5 * 1024 * 1024, maxParts: 10_000, idleTimeout: 30_000, maxAttempts: 4 };

const CONNECTION_TIMEOUT = 10_000;

/** How many idle time-outs a server may be silent while it puts the parts together: AWS names several minutes. */
const ASSEMBLING = 20;

type Request<T> = (client: S3Client, options: { abortSignal?: AbortSignal }) => Promise<T>;

/** The SDK's client for one bucket: sends requests, with fresh credentials once when they are refused, and explains errors. */
export class S3Connection {
  readonly url: string;
  readonly bucket: string;
  readonly tuning: S3Tuning;
  /** Whether the server may be asked to put only what is new; OSS is not known to understand that. */
  readonly hasConditions: boolean;
  /** The server's clock, by its last answer. */
  serverDate: Date | undefined;
  readonly #endpoint: string;
  readonly #proxy: string | undefined;
  readonly #ownSecrets: readonly string[];
  readonly #config: S3ClientConfig;
  /** Writes, lists, deletes: an idle socket means a stalled server. */
  readonly #client: S3Client;
  /** Reads whole objects: here an idle socket may only mean that what we read is not yet consumed. */
  #reader: S3Client | undefined;
  #assembler: S3Client | undefined;

  /** `secrets` are never printed, besides the credentials. */
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

  /** For an answer whose body is streamed; whoever reads it sees to it that it does not stall. */
  read<T>(operation: string, signal: AbortSignal | undefined, request: Request<T>): Promise<T> {
    const { idleTimeout } = this.tuning;
    this.#reader ??= this.#connect({ socketTimeout: 0, requestTimeout: idleTimeout, throwOnRequestTimeout: true });
    return this.#send(this.#reader, operation, signal, request);
  }

  /** For what a server may work on for minutes before it says a word. */
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
      return await this.#withFreshCredentials(client, () => request(client, { abortSignal: signal }));
    } catch (error) {
      signal?.throwIfAborted();
      throw await this.explain(operation, error);
    }
  }

  async #withFreshCredentials<T>(client: S3Client, request: () => Promise<T>): Promise<T> {
    try {
      return await request();
    } catch (error) {
      if (!isAuthFailure(error)) throw error;
      await client.config.credentials({ forceRefresh: true });
      return await request();
    }
  }

  async explain(operation: string, error: unknown): Promise<Error> {
    const secrets = await this.#secrets(error);
    return s3Fault(error, { url: this.url, endpoint: this.#endpoint, proxy: this.#proxy, operation, secrets });
  }

  /** What a server's own words may quote. */
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
  // Here, not at the first request: a mistake shows before anything else is touched.
  if (directory) await readCredentials(directory, profile);
  const region = spec.region || (directory && (await readRegion(directory, profile))) || (endpoint && 'us-east-1');
  return {
    ...(endpoint && { endpoint: endpoint.origin }),
    ...(region && { region }),
    ...(directory ? { credentials: () => readCredentials(directory, profile) } : { profile }),
    forcePathStyle: isPathStyle(spec, endpoint),
    // Other servers than AWS do not all know the newer checksums; what we read back is compared by SHA-256 anyway.
    requestChecksumCalculation: endpoint ? 'WHEN_REQUIRED' : 'WHEN_SUPPORTED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    // It costs a connection of its own, and seconds with servers that do not know it, for every part.
    expectContinueHeader: false,
    retryMode: 'standard',
    maxAttempts: tuning.maxAttempts,
    requestHandler: {
      connectionTimeout: CONNECTION_TIMEOUT,
      httpAgent: agent,
      httpsAgent: { ...(ca && { ca }), ...agent },
    },
  };
}
