import {
  AbortMultipartUploadCommand,
  type CompletedPart,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  HeadObjectCommand,
  type HeadObjectCommandOutput,
  PutObjectCommand,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { blocks } from '../../lib/blocks.ts';
import { AgentError, ExitCode } from '../../lib/errors.ts';
import { abortable } from '../../lib/limits/abortable.ts';
import { exists } from '../keys.ts';
import type { PutOptions, PutResult } from '../store.ts';
import type { S3Connection, S3Tuning } from './connection.ts';
import type { S3Encryption } from './encryption.ts';
import { serverCode } from './errors.ts';

const MIB = 1024 * 1024;
/** One part is filled while the previous one is sent. */
const BUFFERS = 2;
/**
 * Milliseconds. Needed because the run's own signal may have ended the upload already, and a stopped pod has only 20
 * s.
 */
const ABORT_DEADLINE = 10_000;

/** Largest difference between the clocks of a server's machines, in milliseconds. */
const CLOCKS = 5_000;

/** Part size with which a body that is 10 % larger than expected still fits into the number of parts that S3 allows. */
export function partSizeFor(
  sizeHint: number,
  { minPartSize, maxParts }: Pick<S3Tuning, 'minPartSize' | 'maxParts'>,
): number {
  return Math.max(minPartSize, Math.ceil((sizeHint * 1.1) / maxParts / MIB) * MIB);
}

interface Target {
  readonly Bucket: string;
  readonly Key: string;
}

/** Uploads one body, in parts if it needs more than one. If the upload fails, nothing of it remains. */
export class S3Upload {
  readonly #s3: S3Connection;
  readonly #target: Target;
  readonly #encryption: S3Encryption;
  readonly #parts: CompletedPart[] = [];
  #id: string | undefined;
  #bytes = 0;
  /** Start of the upload by the server's clock. */
  #began: Date | undefined;
  /** Makes the server refuse to replace an existing object. */
  #condition: { IfNoneMatch?: '*' } = {};

  constructor(s3: S3Connection, key: string, encryption: S3Encryption) {
    this.#s3 = s3;
    this.#target = { Bucket: s3.bucket, Key: key };
    this.#encryption = encryption;
  }

  async run(body: AsyncIterable<Uint8Array>, { signal: outer, sizeHint = 0, onlyNew }: PutOptions): Promise<PutResult> {
    if (onlyNew && this.#s3.hasConditions) this.#condition = { IfNoneMatch: '*' };
    const stop = new AbortController();
    const signal = outer ? AbortSignal.any([outer, stop.signal]) : stop.signal;
    const size = partSizeFor(sizeHint, this.#s3.tuning);
    let sending: Promise<void> = Promise.resolve();
    try {
      for await (const { bytes, last } of blocks(abortable(body, signal), size, BUFFERS)) {
        if (last && !this.#id) return await this.#putObject(bytes, signal);
        this.#id ??= await this.#create(signal);
        await sending;
        sending = this.#sendPart(bytes, size, signal);
        // Stop at once, not only when the next part is full.
        sending.catch((error) => stop.abort(error));
      }
      await sending;
      return await this.#complete(signal);
    } catch (error) {
      stop.abort(error);
      // Wait first: a part that is still on its way could arrive after the abort.
      await sending.catch(() => {});
      await this.#abort();
      outer?.throwIfAborted();
      throw error;
    }
  }

  async #putObject(bytes: Buffer, signal: AbortSignal): Promise<PutResult> {
    const { create, content } = this.#encryption;
    const input = { ...this.#target, ...create, ...content, Body: bytes, ContentLength: bytes.length };
    const { ETag } = await this.#s3.send(`PutObject ${this.#target.Key}`, signal, (client, options) =>
      this.#ifNew((condition) => client.send(new PutObjectCommand({ ...input, ...condition }), options)),
    );
    return { etag: plain(ETag), parts: 1 };
  }

  async #create(signal: AbortSignal): Promise<string> {
    const operation = `CreateMultipartUpload ${this.#target.Key}`;
    const { create, content } = this.#encryption;
    const { UploadId } = await this.#s3.send(operation, signal, (client, options) =>
      client.send(new CreateMultipartUploadCommand({ ...this.#target, ...create, ...content }), options),
    );
    this.#began = this.#s3.serverDate;
    if (UploadId) return UploadId;
    throw new AgentError(ExitCode.storeRefused, `${this.#s3.url}: ${operation}: the server gave no upload id`);
  }

  async #sendPart(bytes: Buffer, size: number, signal: AbortSignal): Promise<void> {
    const { maxParts } = this.#s3.tuning;
    const PartNumber = this.#parts.length + 1;
    if (PartNumber > maxParts) throw this.#tooLarge(size, maxParts);
    const part = { UploadId: this.#id, PartNumber, Body: bytes, ContentLength: bytes.length };
    const input = { ...this.#target, ...part, ...this.#encryption.content };
    const { ETag, ChecksumCRC32 } = await this.#s3.send(
      `UploadPart ${PartNumber} of ${this.#target.Key}`,
      signal,
      (client, options) => client.send(new UploadPartCommand(input), options),
    );
    this.#parts.push({ PartNumber, ETag, ChecksumCRC32 });
    this.#bytes += bytes.length;
  }

  async #complete(signal: AbortSignal): Promise<PutResult> {
    const whole = { UploadId: this.#id, MultipartUpload: { Parts: this.#parts } };
    const input = { ...this.#target, ...whole, ...this.#encryption.content };
    const parts = this.#parts.length;
    try {
      const { ETag } = await this.#s3.assemble(
        `CompleteMultipartUpload ${this.#target.Key}`,
        signal,
        (client, options) =>
          this.#ifNew((condition) =>
            client.send(new CompleteMultipartUploadCommand({ ...input, ...condition }), options),
          ),
      );
      return { etag: plain(ETag), parts };
    } catch (error) {
      const refused = error instanceof AgentError && error.exitCode === ExitCode.refused;
      const head = signal.aborted || refused ? undefined : await this.#completed(signal);
      if (!head) throw error;
      return { etag: plain(head.ETag), parts };
    }
  }

  /** Sends a request with the condition, and without it if the server does not support conditions. */
  async #ifNew<T>(send: (condition: { IfNoneMatch?: '*' }) => Promise<T>): Promise<T> {
    try {
      return await send(this.#condition);
    } catch (error) {
      const code = serverCode(error);
      if (!this.#condition.IfNoneMatch) throw error;
      if (code === 'NotImplemented') return send({});
      if (['PreconditionFailed', 'ConditionalRequestConflict'].includes(code)) {
        throw exists(this.#s3.url, this.#target.Key);
      }
      throw error;
    }
  }

  /**
   * Finds the object if the server completed the upload but its answer was lost: a retry then finds no such upload. An
   * object of the same size that is older than the upload is a different one.
   */
  async #completed(signal: AbortSignal): Promise<HeadObjectCommandOutput | undefined> {
    const input = { ...this.#target, ...this.#encryption.content };
    const head = await this.#s3
      .send(`HeadObject ${this.#target.Key}`, signal, (client, options) =>
        client.send(new HeadObjectCommand(input), options),
      )
      .catch(() => undefined);
    const { ContentLength, LastModified } = head ?? {};
    const ours = this.#began && LastModified && LastModified.getTime() >= this.#began.getTime() - CLOCKS;
    return ours && ContentLength === this.#bytes ? head : undefined;
  }

  /** Aborts the upload. If that fails, a later sweep removes it. */
  async #abort(): Promise<void> {
    if (!this.#id) return;
    const input = { ...this.#target, UploadId: this.#id };
    await this.#s3
      .send(`AbortMultipartUpload ${this.#target.Key}`, AbortSignal.timeout(ABORT_DEADLINE), (client, options) =>
        client.send(new AbortMultipartUploadCommand(input), options),
      )
      .catch(() => {});
  }

  #tooLarge(size: number, maxParts: number): AgentError {
    const message = `${this.#target.Key} is larger than ${maxParts} parts of ${size / MIB} MiB, much more than expected`;
    return new AgentError(
      ExitCode.storeRefused,
      `${this.#s3.url}: ${message}; try again when the database has stopped growing`,
    );
  }
}

/** S3 sends ETags in quotes. */
const plain = (etag: string | undefined) => etag?.replaceAll('"', '');
