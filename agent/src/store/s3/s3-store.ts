import type { Readable } from 'node:stream';
import {
  type _Object,
  AbortMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  type ListMultipartUploadsCommandOutput,
  ListObjectsV2Command,
  type ListObjectsV2CommandOutput,
  type MultipartUpload,
  type S3Client,
} from '@aws-sdk/client-s3';
import { AgentError, ExitCode } from '../../lib/errors.ts';
import { abortable } from '../../lib/limits/abortable.ts';
import { freeBuffers, garbageCounter } from '../../lib/memory.ts';
import { checkKey, checkPrefix, exists } from '../keys.ts';
import type { S3Spec } from '../spec.ts';
import type { CallOptions, PutOptions, PutResult, Store, StoredObject, Unfinished } from '../store.ts';
import { S3Connection, type S3Place, type S3Tuning } from './connection.ts';
import { readEncryption, type S3Encryption } from './encryption.ts';
import { isAuthFailure, isRetained, serverCode, statusOf } from './errors.ts';
import { S3Upload } from './multipart.ts';

/** Opens a bucket. Throws a usage error for mistakes that show without contacting the server. */
export async function openS3(spec: S3Place, tuning?: Partial<S3Tuning>): Promise<Store> {
  const encryption = await readEncryption(spec);
  return new S3Store(await S3Connection.open(spec, tuning, encryption.secrets), spec, encryption);
}

class S3Store implements Store {
  readonly url: string;
  readonly #s3: S3Connection;
  /** Empty, or ends in a slash. */
  readonly #prefix: string;
  readonly #encryption: S3Encryption;

  constructor(s3: S3Connection, spec: S3Spec, encryption: S3Encryption) {
    this.url = s3.url;
    this.#s3 = s3;
    const prefix = spec.prefix?.replaceAll(/^\/+|\/+$/g, '');
    if (prefix) checkKey(prefix);
    this.#prefix = prefix ? `${prefix}/` : '';
    this.#encryption = encryption;
  }

  async put(key: string, body: AsyncIterable<Uint8Array>, options: PutOptions = {}): Promise<PutResult> {
    if (options.onlyNew && (await this.stat(key, options))) throw exists(this.url, key);
    const result = await new S3Upload(this.#s3, this.#key(key), this.#encryption).run(body, options);
    if (result.parts !== 1) freeBuffers();
    return result;
  }

  async get(key: string, { signal }: CallOptions = {}): Promise<AsyncIterable<Uint8Array>> {
    const input = { Bucket: this.#s3.bucket, Key: this.#key(key), ...this.#encryption.content };
    const operation = `GetObject ${input.Key}`;
    const { Body, ContentLength } = await this.#s3.read(operation, signal, async (client, options) => {
      try {
        return await client.send(new GetObjectCommand(input), options);
      } catch (error) {
        if (isMissing(error)) throw new AgentError(ExitCode.nothingThere, `${this.url} has no ${key}`);
        throw error;
      }
    });
    const body = readBody(Body as Readable, ContentLength, {
      idleTimeout: this.#s3.tuning.idleTimeout,
      what: `${this.url}: ${operation}`,
      explain: (error) => this.#s3.explain(operation, error),
    });
    return abortable(body, signal);
  }

  async *list(prefix: string, { signal }: CallOptions = {}): AsyncGenerator<StoredObject> {
    let ContinuationToken: string | undefined;
    const what = `${this.url}: ListObjectsV2 ${this.#prefix}${prefix}`;
    do {
      const page = await this.#page(prefix, signal, { ContinuationToken });
      for (const { Key, Size, LastModified } of objectsOf(page, what)) {
        const key = Key.slice(this.#prefix.length);
        if (key !== '') yield { key, size: Size, modified: LastModified };
      }
      ContinuationToken = nextToken(page, ContinuationToken, what);
    } while (ContinuationToken);
  }

  async stat(key: string, { signal }: CallOptions = {}): Promise<StoredObject | undefined> {
    const input = { Bucket: this.#s3.bucket, Key: this.#key(key), ...this.#encryption.content };
    const found = await this.#s3.send(`HeadObject ${input.Key}`, signal, async (client, options) => {
      try {
        return await client.send(new HeadObjectCommand(input), options);
      } catch (error) {
        if (isAuthFailure(error)) throw error;
        // The answer to HEAD has no body. Only a listing shows whether the bucket or the key is missing.
        await this.#page(key, signal, { MaxKeys: 1 });
        if (isMissing(error)) return undefined;
        throw error;
      }
    });
    if (!found) return undefined;
    const { ContentLength: size, LastModified: modified } = found;
    return size === undefined || !modified ? this.#listed(key, signal) : { key, size, modified };
  }

  /** An object by the listing. A proxy may leave size and time out of the answer to HEAD, and a guess would pass for a fact. */
  async #listed(key: string, signal: AbortSignal | undefined): Promise<StoredObject> {
    const what = `${this.url}: HeadObject ${this.#key(key)}`;
    // The key itself comes before every other key that begins with it.
    const [first] = objectsOf(await this.#page(key, signal, { MaxKeys: 1 }), what);
    if (first?.Key === this.#key(key)) return { key, size: first.Size, modified: first.LastModified };
    throw new AgentError(
      ExitCode.storeUnreachable,
      `${what}: the server answers without its size or time, and does not list it; check which server answers there`,
    );
  }

  async isRetained(key: string, { signal }: CallOptions = {}): Promise<boolean> {
    const name = this.#key(key);
    return this.#s3.send(`HeadObject ${name}`, signal, (client, options) => this.#isLocked(client, name, options));
  }

  async delete(key: string, { signal }: CallOptions = {}): Promise<'deleted' | 'retained'> {
    const input = { Bucket: this.#s3.bucket, Key: this.#key(key) };
    return this.#s3.send(`DeleteObject ${input.Key}`, signal, async (client, options) => {
      try {
        if (await this.#isLocked(client, input.Key, options)) return 'retained';
        await client.send(new DeleteObjectCommand(input), options);
        return 'deleted';
      } catch (error) {
        if (isMissing(error)) return 'deleted';
        if (isRetained(error)) return 'retained';
        throw error;
      }
    });
  }

  async *unfinished(prefix: string, { signal }: CallOptions = {}): AsyncGenerator<Unfinished> {
    for await (const { Key = '', Initiated } of this.#uploads(prefix, signal)) {
      if (Initiated) yield { key: Key.slice(this.#prefix.length), modified: Initiated };
    }
  }

  async sweep(prefix: string, age: number, { signal }: CallOptions = {}): Promise<number> {
    let swept = 0;
    for await (const { Key, UploadId, Initiated } of this.#uploads(prefix, signal)) {
      const now = this.#s3.serverDate;
      if (!now || !Initiated || now.getTime() - Initiated.getTime() <= age) continue;
      if (await this.#abort({ Bucket: this.#s3.bucket, Key, UploadId }, signal)) swept++;
    }
    return swept;
  }

  async now({ signal }: CallOptions = {}): Promise<Date | undefined> {
    const before = this.#s3.serverDate;
    await this.#page('', signal, { MaxKeys: 1 }).catch((error) => {
      // A refusal tells the time too: the credentials may be allowed to list the folders of clusters only.
      const isRefusal = error instanceof AgentError && error.exitCode === ExitCode.storeRefused;
      if (!isRefusal || this.#s3.serverDate === before) throw error;
    });
    return this.#s3.serverDate;
  }

  close(): void {
    this.#s3.close();
  }

  #key(key: string): string {
    checkKey(key);
    return `${this.#prefix}${key}`;
  }

  /**
   * True if an object lock or a legal hold protects the object. A bucket with object lock has versions, so the server
   * does not refuse a delete: it hides even a locked object behind a delete marker. If the credentials do not allow this
   * request, the result is false, and the server decides.
   */
  async #isLocked(client: S3Client, Key: string, options: { abortSignal?: AbortSignal }): Promise<boolean> {
    const input = { Bucket: this.#s3.bucket, Key, ...this.#encryption.content };
    const head = await client.send(new HeadObjectCommand(input), options).catch((error) => {
      if ((statusOf(error) ?? 500) >= 500) throw error;
      return undefined;
    });
    if (head?.ObjectLockLegalHoldStatus === 'ON') return true;
    const until = head?.ObjectLockRetainUntilDate;
    return until !== undefined && until > (this.#s3.serverDate ?? new Date());
  }

  #page(
    prefix: string,
    signal: AbortSignal | undefined,
    page: { ContinuationToken?: string; MaxKeys?: number },
  ): Promise<ListObjectsV2CommandOutput> {
    checkPrefix(prefix);
    const input = { Bucket: this.#s3.bucket, Prefix: `${this.#prefix}${prefix}`, ...page };
    return this.#s3.send(`ListObjectsV2 ${input.Prefix}`, signal, (client, options) =>
      client.send(new ListObjectsV2Command(input), options),
    );
  }

  async *#uploads(prefix: string, signal: AbortSignal | undefined): AsyncGenerator<MultipartUpload> {
    checkPrefix(prefix);
    const input = { Bucket: this.#s3.bucket, Prefix: `${this.#prefix}${prefix}` };
    const operation = `ListMultipartUploads ${input.Prefix}`;
    let markers: ReturnType<typeof nextMarkers> = {};
    while (markers) {
      const command = new ListMultipartUploadsCommand({ ...input, ...markers });
      const page: ListMultipartUploadsCommandOutput = await this.#s3.send(operation, signal, (client, options) =>
        client.send(command, options),
      );
      yield* page.Uploads ?? [];
      markers = nextMarkers(page, markers, `${this.url}: ${operation}`);
    }
  }

  async #abort(
    upload: { Bucket: string; Key: string | undefined; UploadId: string | undefined },
    signal: AbortSignal | undefined,
  ): Promise<boolean> {
    return this.#s3.send(`AbortMultipartUpload ${upload.Key}`, signal, async (client, options) => {
      try {
        await client.send(new AbortMultipartUploadCommand(upload), options);
        return true;
      } catch (error) {
        // The run that owns the upload has just completed or aborted it.
        if (serverCode(error) === 'NoSuchUpload') return false;
        throw error;
      }
    });
  }
}

/** True if the object is missing, and not the bucket. After HEAD, whose answer has no body, true for either. */
function isMissing(error: unknown): boolean {
  return statusOf(error) === 404 && ['NoSuchKey', 'NotFound'].includes(serverCode(error));
}

/**
 * Reads the body of an answer. Throws if no byte arrives for `idleTimeout` ms while it waits, or if the length is not
 * the announced one.
 */
async function* readBody(
  body: Readable,
  expected: number | undefined,
  options: { idleTimeout: number; what: string; explain: (error: unknown) => Promise<Error> },
): AsyncGenerator<Uint8Array> {
  const { idleTimeout, what, explain } = options;
  const cut = (why: string) => new AgentError(ExitCode.storeUnreachable, `${what}: ${why}; try again`);
  let read = 0;
  const passed = garbageCounter();
  let waiting = false;
  const watchdog = setTimeout(() => {
    if (waiting)
      body.destroy(cut(`no byte arrived for ${idleTimeout / 1000} s after ${read} of ${expected ?? 'unknown'} bytes`));
  }, idleTimeout);
  const iterator = body[Symbol.asyncIterator]();
  try {
    for (;;) {
      waiting = true;
      watchdog.refresh();
      const next = await iterator.next();
      waiting = false;
      if (next.done) break;
      read += next.value.length;
      passed(next.value.length);
      yield next.value;
    }
    if (expected !== undefined && read !== expected) throw cut(`the body ended after ${read} of ${expected} bytes`);
  } catch (error) {
    throw await explain(error);
  } finally {
    clearTimeout(watchdog);
    body.destroy();
  }
}

/** Error for a listing that may be incomplete. Deletions rely on complete listings. */
const incomplete = (what: string, why: string) =>
  new AgentError(
    ExitCode.storeUnreachable,
    `${what}: ${why}, so objects may be missing; check which server answers there`,
  );

type Listed = Required<Pick<_Object, 'Key' | 'Size' | 'LastModified'>>;

/** Returns the objects of a page after checking that the page is complete. */
function objectsOf(page: ListObjectsV2CommandOutput, what: string): Listed[] {
  const { Contents = [], IsTruncated, KeyCount } = page;
  if (IsTruncated === undefined) throw incomplete(what, 'the answer is not an S3 listing');
  if (KeyCount !== undefined && KeyCount > Contents.length) {
    throw incomplete(what, `the server lists ${Contents.length} of ${KeyCount} keys`);
  }
  return Contents.map(({ Key, Size, LastModified }) => {
    if (Key === undefined || Size === undefined || !LastModified) {
      throw incomplete(what, `the server lists ${Key ?? 'an object'} without its key, size or time`);
    }
    return { Key: detached(Key), Size, LastModified };
  });
}

/** Copies a string: a substring would keep the whole page in memory. */
const detached = (text: string): string => Buffer.from(text).toString();

/** Token of the next page; undefined after the last page. */
function nextToken(
  { IsTruncated, NextContinuationToken: token }: ListObjectsV2CommandOutput,
  asked: string | undefined,
  what: string,
): string | undefined {
  if (!IsTruncated) return undefined;
  if (!token || token === asked) throw incomplete(what, 'the server announces another page, but not where it begins');
  return token;
}

type Markers = { KeyMarker?: string; UploadIdMarker?: string };

function nextMarkers(
  { IsTruncated, NextKeyMarker: KeyMarker, NextUploadIdMarker: UploadIdMarker }: ListMultipartUploadsCommandOutput,
  asked: Markers,
  what: string,
): Markers | undefined {
  if (!IsTruncated) return undefined;
  if (!KeyMarker || (KeyMarker === asked.KeyMarker && UploadIdMarker === asked.UploadIdMarker)) {
    throw incomplete(what, 'the server announces another page, but not where it begins');
  }
  return { KeyMarker, UploadIdMarker };
}
