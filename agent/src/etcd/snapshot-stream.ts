import { createHash } from 'node:crypto';
import { AgentError, ExitCode } from '../lib/errors.ts';
import { garbageCounter } from '../lib/memory.ts';
import type { GrpcChannel } from './grpc.ts';
import { type SnapshotMessage, snapshot } from './maintenance.ts';

/** Size in bytes of the sha256 that follows the database. */
export const TRAILER = 32;
const BATCH = 256 * 1024;

/** Size and checksums of a snapshot that was read completely. */
export interface SnapshotSums {
  readonly sizeBytes: number;
  readonly sha256: string;
  /** etcd's own sha256 of the database: the last 32 bytes of the stream. */
  readonly trailerSha256: string;
}

export interface SnapshotStream {
  /** Size of the database and the trailer in bytes. */
  readonly expectedBytes: number;
  /** etcd 3.6 and newer. */
  readonly storageVersion?: string;
  /** Throws at the end unless everything arrived intact. Can be read once. */
  readonly body: AsyncIterable<Uint8Array>;
  /** Only after the body has ended. */
  sums(): SnapshotSums;
}

/**
 * Opens Maintenance.Snapshot. The size of the database is the size of the first blob plus its remaining_bytes. The sha256
 * trailer follows in a separate message (etcd 3.4 to 3.7).
 *
 * `idleTimeout` limits the milliseconds without a new byte while this side waits for one. After a read error, etcd may send
 * empty messages forever. Time in which a slow store does not read is not counted.
 */
export async function openSnapshot(
  channel: GrpcChannel,
  options: { signal?: AbortSignal; idleTimeout: number },
): Promise<SnapshotStream> {
  const messages = snapshot(channel, options);
  const idle = { endpoint: channel.endpoint, timeout: options.idleTimeout };
  try {
    const first = await whileNotIdle(idle, () => nextWithBytes(messages));
    if (!first) throw cut(channel.endpoint, 0, undefined);
    const expectedBytes = first.blob.length + first.remainingBytes + TRAILER;
    const check = new SnapshotCheck(expectedBytes, channel.endpoint);
    return {
      expectedBytes,
      storageVersion: first.version,
      body: checked(first.blob, batches(messages, idle), check),
      sums: () => check.finish(),
    };
  } catch (error) {
    leave(messages);
    throw error;
  }
}

async function* checked(
  first: Uint8Array,
  rest: AsyncGenerator<Uint8Array>,
  check: SnapshotCheck,
): AsyncGenerator<Uint8Array> {
  try {
    check.add(first);
    yield first;
    for await (const batch of rest) {
      check.add(batch);
      yield batch;
    }
    check.finish();
  } finally {
    await rest.return(undefined);
  }
}

/** Joins several messages, because every later step costs a fixed time per chunk. */
async function* batches(messages: AsyncGenerator<SnapshotMessage>, idle: Idle): AsyncGenerator<Uint8Array> {
  const passed = garbageCounter();
  try {
    while (true) {
      const blobs = await whileNotIdle(idle, (onBytes) => nextBatch(messages, onBytes));
      if (blobs.length === 0) return;
      const batch = Buffer.concat(blobs);
      passed(batch.length);
      yield batch;
    }
  } finally {
    leave(messages);
  }
}

async function nextBatch(messages: AsyncGenerator<SnapshotMessage>, onBytes: () => void): Promise<Uint8Array[]> {
  const blobs: Uint8Array[] = [];
  for (let length = 0; length < BATCH; ) {
    const next = await nextWithBytes(messages);
    if (!next) break;
    onBytes();
    blobs.push(next.blob);
    length += next.blob.length;
  }
  return blobs;
}

async function nextWithBytes(messages: AsyncGenerator<SnapshotMessage>): Promise<SnapshotMessage | undefined> {
  while (true) {
    const next = await messages.next();
    if (next.done) return undefined;
    if (next.value.blob.length > 0) return next.value;
  }
}

/** Ends the call without waiting for it, because a hanging call never ends. */
function leave(messages: AsyncGenerator<SnapshotMessage>): void {
  messages.return(undefined).catch(() => {});
}

interface Idle {
  readonly endpoint: string;
  /** Milliseconds. */
  readonly timeout: number;
}

/** Runs the work. Throws if it does not call `onBytes` within the time-out. */
async function whileNotIdle<T>({ endpoint, timeout }: Idle, work: (onBytes: () => void) => Promise<T>): Promise<T> {
  const { promise: idle, reject } = Promise.withResolvers<never>();
  const error = () =>
    new AgentError(
      ExitCode.etcdUnavailable,
      `etcd at ${endpoint} sent no byte of the snapshot for ${timeout / 1000}s`,
      { finding: { kind: 'short', limit: 'idleTimeout' } },
    );
  let moved = false;
  const timer = setTimeout(() => {
    moved = false;
    // Wait for two turns of the event loop, so that bytes that arrived while this process had no CPU are counted.
    setImmediate(() => setImmediate(() => moved || reject(error())));
  }, timeout);
  const onBytes = () => {
    moved = true;
    timer.refresh();
  };
  try {
    return await Promise.race([work(onBytes), idle]);
  } finally {
    clearTimeout(timer);
    idle.catch(() => {});
  }
}

function cut(endpoint: string, got: number, expected: number | undefined): AgentError {
  return new AgentError(
    ExitCode.etcdUnavailable,
    `etcd at ${endpoint} ended the snapshot after ${got} of ${expected ?? 'unknown'} bytes; try again`,
  );
}

/**
 * Checks a snapshot while it is read: the number of bytes, and the trailer, which is the sha256 of the bytes before it.
 */
export class SnapshotCheck {
  readonly #expected: number;
  readonly #from: string;
  readonly #hash = createHash('sha256');
  readonly #trailer = Buffer.alloc(TRAILER);
  #bytes = 0;
  #sums: SnapshotSums | undefined;

  constructor(expectedBytes: number, from: string) {
    this.#expected = expectedBytes;
    this.#from = from;
  }

  add(chunk: Uint8Array): void {
    const database = this.#expected - TRAILER;
    const ofDatabase = Math.max(0, Math.min(chunk.length, database - this.#bytes));
    this.#hash.update(chunk.subarray(0, ofDatabase));
    const rest = chunk.subarray(ofDatabase);
    if (this.#bytes + chunk.length > this.#expected) {
      throw new AgentError(
        ExitCode.etcdUnavailable,
        `etcd at ${this.#from} sent more than the ${this.#expected} bytes it announced; try again`,
      );
    }
    this.#trailer.set(rest, Math.max(0, this.#bytes - database));
    this.#bytes += chunk.length;
  }

  finish(): SnapshotSums {
    if (this.#sums) return this.#sums;
    if (this.#bytes !== this.#expected) throw cut(this.#from, this.#bytes, this.#expected);
    const whole = this.#hash.copy();
    const trailerSha256 = this.#trailer.toString('hex');
    if (this.#hash.digest('hex') !== trailerSha256) {
      throw new AgentError(
        ExitCode.verificationFailed,
        `the snapshot of ${this.#from} does not match its own sha256 trailer: it was damaged in transfer or in etcd; compare the members with HashKV`,
      );
    }
    this.#sums = { sizeBytes: this.#bytes, sha256: whole.update(this.#trailer).digest('hex'), trailerSha256 };
    return this.#sums;
  }
}
