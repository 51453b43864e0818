import { createHash } from 'node:crypto';
import { open, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type DatabaseFacts, readDatabase } from '../../etcd/offline/database-check.ts';
import { type Etcdutl, reasonOf } from '../../etcd/offline/etcdutl.ts';
import { TRAILER } from '../../etcd/snapshot-stream.ts';
import { AgentError, ExitCode, usageError } from '../../lib/errors.ts';
import { cannotWrite } from '../../lib/files/file-faults.ts';
import type { Store, StoredObject } from '../../store/store.ts';
import type { PayloadCompression, SnapshotManifest } from '../catalog/manifest.ts';
import { decompress } from './compression.ts';
import { checkIdentities, decrypt } from './encryption.ts';
import { type FileFormat, formatOf, PackedError, peek, unpackText } from './file-format.ts';
import { scratchDirectory } from './scratch-directory.ts';

const MIB = 1024 * 1024;
/** Size of bbolt's smallest page. The size of a database is a multiple of it; with a trailer it is not. */
const SECTOR = 512;

export interface InspectOptions {
  readonly signal?: AbortSignal;
  readonly scratch: string;
  readonly etcdutl: Etcdutl;
  /** age identities, for files that end in .age. */
  readonly identities: readonly string[];
  readonly onBytes?: (stored: number) => void;
}

type Encoding = Pick<SnapshotManifest['object'], 'compression' | 'encryption'>;

/** Facts of a snapshot that was restored successfully. */
export type RestoredSnapshot = Omit<DatabaseFacts, 'damage'> & {
  /** Number of keys, as this etcdutl counts them. */
  readonly keys: number;
};

export type InspectedSnapshot = Pick<SnapshotManifest, 'content'> &
  RestoredSnapshot & {
    readonly stored: { readonly sizeBytes: number; readonly sha256: string };
    readonly encoding: Encoding;
  };

const failed = (key: string, message: string) => new AgentError(ExitCode.verificationFailed, `${key}: ${message}`);

/**
 * Checks a snapshot without a manifest: the sha256 that `etcdctl snapshot save` wrote at its end, the structure of the
 * database, and that etcdutl restores it. Throws `verificationFailed` if it is damaged or not a snapshot.
 */
export async function inspectSnapshot(
  store: Store,
  object: StoredObject,
  options: InspectOptions,
): Promise<InspectedSnapshot> {
  const { scratch } = options;
  await using directory = await scratchDirectory(scratch);
  const file = join(directory.path, 'snapshot.db');
  const sums = await fetchPlain(store, object, file, options);
  return { ...sums, ...(await tryRestore(object.key, file, join(directory.path, 'data'), options)) };
}

async function fetchPlain(
  store: Store,
  { key, size }: StoredObject,
  file: string,
  { signal, onBytes, identities }: InspectOptions,
): Promise<Pick<InspectedSnapshot, 'content' | 'stored' | 'encoding'>> {
  const stored = createHash('sha256');
  const trailer = new TrailerCheck();
  let storedBytes = 0;
  let sizeBytes = 0;
  const asStored = (async function* () {
    for await (const chunk of await store.get(key, { signal })) {
      storedBytes += chunk.length;
      stored.update(chunk);
      onBytes?.(storedBytes);
      yield chunk;
    }
  })();
  const unpack = async () => {
    // Names may lie, as that of a compressed file without an ending.
    const raw = await peek(asStored);
    const isEncrypted = formatOf(raw.head) === 'age';
    if (isEncrypted) await checkIdentities(key, [], identities);
    const inner = isEncrypted ? await peek(decrypt(identities, raw.whole, false)) : raw;
    const compression = readable(formatOf(inner.head), key);
    const unpacked = compression === 'none' ? inner : await peek(decompress(compression, inner.whole));
    if (compression === 'none') return { isEncrypted, compression, unpacked };
    if (formatOf(unpacked.head) === 'age') {
      throw new PackedError(key, 'it was compressed after it was encrypted; decompress it once, and adopt the result');
    }
    if (readable(formatOf(unpacked.head), key) !== 'none') {
      throw new PackedError(key, 'it is compressed twice; decompress it once, and adopt the result');
    }
    return { isEncrypted, compression, unpacked };
  };
  // What is refused before it is read to its end would stay open.
  const { isEncrypted, compression, unpacked } = await unpack().catch(async (error) => {
    await asStored.return(undefined);
    throw error;
  });
  const plain = async function* () {
    for await (const chunk of unpacked.whole) {
      sizeBytes += chunk.length;
      trailer.add(chunk);
      yield chunk;
    }
  };
  await writeFile(file, plain(), key, signal);
  if (storedBytes !== size) throw failed(key, `it changed while it was read: ${storedBytes} bytes, not ${size}`);
  const { computed, found, whole } = trailer.finish();
  if (computed !== found) throw failed(key, whyNoTrailer(sizeBytes));
  return {
    content: { sizeBytes, sha256: whole, trailerSha256: found },
    stored: { sizeBytes: storedBytes, sha256: stored.digest('hex') },
    // The recipients are not known, because another tool encrypted it.
    encoding: { compression, encryption: isEncrypted ? { recipients: [] } : undefined },
  };
}

/** The compression of what may be a snapshot. Throws for the formats of other tools. */
function readable(format: FileFormat | undefined, key: string): PayloadCompression {
  if (format === undefined) return 'none';
  if (format === 'age')
    throw new PackedError(key, 'it is encrypted twice; decrypt it once with `age -d`, and adopt the result');
  if (typeof format === 'object') throw new PackedError(key, unpackText(format));
  return format;
}

function whyNoTrailer(sizeBytes: number): string {
  if (sizeBytes > 0 && sizeBytes % SECTOR === 0) {
    return 'it has no sha256 at its end: it is a copy of a member’s db file, or it is truncated; only files that `etcdctl snapshot save` wrote can be adopted';
  }
  return 'it does not end in the sha256 of its database: it is truncated, damaged, or not a snapshot of etcd';
}

async function writeFile(
  file: string,
  content: AsyncIterable<Uint8Array>,
  key: string,
  signal: AbortSignal | undefined,
): Promise<void> {
  try {
    const handle = await open(file, 'wx', 0o600);
    try {
      await handle.writeFile(content);
    } finally {
      await handle.close();
    }
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof AgentError && error.exitCode === ExitCode.verificationFailed) throw failed(key, error.message);
    if (error instanceof AgentError) throw error;
    throw cannotWrite(file, error, 'scratch');
  }
}

/**
 * Opens the database of a plain snapshot file, restores it into a new directory, and opens the restored database. Throws
 * `verificationFailed` if it is damaged.
 */
export async function tryRestore(
  name: string,
  file: string,
  into: string,
  { etcdutl, signal }: Pick<InspectOptions, 'etcdutl' | 'signal'>,
): Promise<RestoredSnapshot> {
  const { size } = await stat(file);
  // Check the structure before etcdutl runs: some damage makes etcdutl use all available memory.
  const { damage, ...facts } = await readDatabase(file, size - TRAILER, signal);
  if (damage) throw failed(name, `its database is damaged: ${damage}`);
  const run = { signal, timeout: 60_000 + Math.ceil(size / MIB) * 500 };
  const status = await etcdutl.snapshotStatus(file, run);
  if (status.outcome === 'unable') throw usageError(`${name}: ${status.why}`);
  if (status.outcome === 'refused') throw failed(name, status.why);
  const result = await etcdutl.run(['snapshot', 'restore', file, '--data-dir', into], run);
  if (result.exitCode !== 0) {
    const reason = reasonOf(result);
    if (/no space left/i.test(reason)) {
      throw usageError(`no room to restore ${name}; it needs about ${2 * size} bytes`, { at: 'scratch' });
    }
    throw failed(name, `etcdutl refused to restore it: ${reason}`);
  }
  const restored = await etcdutl.snapshotStatus(join(into, 'member', 'snap', 'db'), run);
  if (restored.outcome === 'unable') throw usageError(`${name}: ${restored.why}`);
  if (restored.outcome === 'refused' || restored.value.revision !== status.value.revision) {
    throw failed(name, 'the database that etcdutl restored from it does not hold its data');
  }
  return { keys: status.value.keys, ...facts };
}

/** Hashes all but the last 32 bytes of a stream whose length is not known in advance. */
class TrailerCheck {
  readonly #hash = createHash('sha256');
  #tail: Buffer = Buffer.alloc(0);

  add(chunk: Uint8Array): void {
    const all = Buffer.concat([this.#tail, chunk.subarray(Math.max(0, chunk.length - TRAILER))]);
    if (chunk.length >= TRAILER) {
      this.#hash.update(this.#tail).update(chunk.subarray(0, chunk.length - TRAILER));
      this.#tail = all.subarray(this.#tail.length);
      return;
    }
    const over = Math.max(0, all.length - TRAILER);
    this.#hash.update(all.subarray(0, over));
    this.#tail = all.subarray(over);
  }

  finish(): { computed: string; found: string; whole: string } {
    const whole = this.#hash.copy().update(this.#tail).digest('hex');
    return { computed: this.#hash.digest('hex'), found: this.#tail.toString('hex'), whole };
  }
}
