import { createHash } from 'node:crypto';
import { AgentError, ExitCode } from '../lib/errors.ts';
import { garbageCounter } from '../lib/memory.ts';
import type { GrpcChannel } from './grpc.ts';
import { type SnapshotMessage, snapshot } from './maintenance.ts';

/** Bytes of the sha256 that follows the database. */
export const TRAILER = 32;
const BATCH = 256 * 1024;

/** What is known of a snapshot once all of it has been read. */
export interface SnapshotSums {
  readonly sizeBytes: number;
  readonly sha256: string;
  /** etcd's own sha256 over the database, the last 32 bytes of the stream. */
  readonly trailerSha256: string;
}

export interface SnapshotStream {
  /** Database and trailer together. */
  readonly expectedBytes: number;
  /** etcd 3.6 and newer. */
  readonly storageVersion?: string;
  /** Throws unless everything arrived whole. Can be read once. */
  readonly body: AsyncIterable<Uint8Array>;
  /** Only after the body has ended. */
  sums(): SnapshotSums;
}

/**
 * Opens Maintenance.Snapshot. The first message tells the database's size: its blob plus remaining_bytes; the sha256
 * trailer comes on top, as a message of its own (etcd 3.4 to 3.7).
 *
 * `idleTimeout` counts milliseconds without a new byte while we wait for one: a server-side read error can end as empty
 * messages for ever, and a slow store must not look like a slow etcd.
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

/** Several messages at once: everything that a snapshot passes through costs a fixed time for each piece. */
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

/** Not awaited: a call that hangs would make this hang too. */
function leave(messages: AsyncGenerator<SnapshotMessage>): void {
  messages.return(undefined).catch(() => {});
}

interface Idle {
  readonly endpoint: string;
  /** Milliseconds. */
  readonly timeout: number;
}

/** Gives the work up when it has not called `onBytes` for the time-out. */
async function whileNotIdle<T>({ endpoint, timeout }: Idle, work: (onBytes: () => void) => Promise<T>): Promise<T> {
  const { promise: idle, reject } = Promise.withResolvers<never>();
  const error = () =>
    new AgentError(
      ExitCode.etcdUnavailable,
      `etcd at ${endpoint} sent no byte of the snapshot for ${timeout / 1000}s (--idle-timeout)`,
    );
  let moved = false;
  const timer = setTimeout(() => {
    moved = false;
    // The second turn of the event loop lets bytes in that came while this process had no CPU.
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

/** Checks bytes of a snapshot as they pass: the count, and the trailer, which is the sha256 of what came before it. */
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
        `the snapshot of ${this.#from} does not match its own sha256 trailer: damaged on the way, or in etcd; compare the members with HashKV`,
      );
    }
    this.#sums = { sizeBytes: this.#bytes, sha256: whole.update(this.#trailer).digest('hex'), trailerSha256 };
    return this.#sums;
  }
}
