import type { Readable } from 'node:stream';
import {
  AbortMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  type ListMultipartUploadsCommandOutput,
  ListObjectsV2Command,
  type ListObjectsV2CommandOutput,
  type MultipartUpload,
} from '@aws-sdk/client-s3';
import { abortable } from '../../lib/abortable.ts';
import { AgentError, ExitCode } from '../../lib/errors.ts';
import { freeBuffers } from '../../lib/memory.ts';
import { checkKey, checkPrefix, exists } from '../keys.ts';
import type { S3Spec } from '../spec.ts';
import type { CallOptions, PutOptions, PutResult, Store, StoredObject } from '../store.ts';
import { readBody } from './body.ts';
import { S3Connection, type S3Place, type S3Tuning } from './connection.ts';
import { readEncryption, type S3Encryption } from './encryption.ts';
import { isAuthFailure, isRetained, serverCode, statusOf } from './errors.ts';
import { nextMarkers, nextToken, objectsOf } from './listing.ts';
import { S3Upload } from './multipart.ts';
import { isLocked } from './object-lock.ts';

/** Opens a bucket; fails on what can be told without asking the server. */
export async function openS3(spec: S3Place, tuning?: Partial<S3Tuning>): Promise<Store> {
  const encryption = await readEncryption(spec);
  return new S3Store(await S3Connection.open(spec, tuning, encryption.secrets), spec, encryption);
}

class S3Store implements Store {
  readonly url: string;
  readonly #s3: S3Connection;
  /** Empty, or ending in a slash. */
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
        // HEAD's answers have no body: whether it was the bucket or the key that is missing, a listing tells.
        await this.#page(key, signal, { MaxKeys: 1 });
        if (isMissing(error)) return undefined;
        throw error;
      }
    });
    return found && { key, size: found.ContentLength ?? 0, modified: found.LastModified ?? new Date(0) };
  }

  async delete(key: string, { signal }: CallOptions = {}): Promise<'deleted' | 'retained'> {
    const input = { Bucket: this.#s3.bucket, Key: this.#key(key) };
    return this.#s3.send(`DeleteObject ${input.Key}`, signal, async (client, options) => {
      try {
        if (await isLocked(client, { ...input, ...this.#encryption.content }, options, () => this.#s3.serverDate)) {
          return 'retained';
        }
        await client.send(new DeleteObjectCommand(input), options);
        return 'deleted';
      } catch (error) {
        if (isMissing(error)) return 'deleted';
        if (isRetained(error)) return 'retained';
        throw error;
      }
    });
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
    await this.#page('', signal, { MaxKeys: 1 });
    return this.#s3.serverDate;
  }

  close(): void {
    this.#s3.close();
  }

  #key(key: string): string {
    checkKey(key);
    return `${this.#prefix}${key}`;
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
        // Its own run has just finished or aborted it.
        if (serverCode(error) === 'NoSuchUpload') return false;
        throw error;
      }
    });
  }
}

/** The object, not the bucket: for HEAD, which has no body to tell, either. */
function isMissing(error: unknown): boolean {
  return statusOf(error) === 404 && ['NoSuchKey', 'NotFound'].includes(serverCode(error));
}
