import { createHash } from 'node:crypto';
import { SnapshotCheck } from '../../etcd/snapshot-stream.ts';
import { AgentError, ExitCode } from '../../lib/errors.ts';
import type { Store } from '../../store/store.ts';
import type { Brief, SnapshotManifest } from '../catalog/manifest.ts';
import { decompress } from './compression.ts';
import { DamagedError } from './damaged-error.ts';
import { checkIdentities, decrypt } from './encryption.ts';

type Bytes = AsyncIterable<Uint8Array>;

export interface PayloadReadOptions {
  readonly signal?: AbortSignal;
  readonly onBytes?: (stored: number) => void;
  /** age identities, for encrypted snapshots. */
  readonly identities?: readonly string[];
}

const failed = (message: string) => new DamagedError(message);

/** Reads the stored bytes. Throws `verificationFailed` at the end unless their count and sha256 match the manifest. */
export async function* readStored(store: Store, manifest: SnapshotManifest, options: PayloadReadOptions = {}): Bytes {
  const { key, sizeBytes, sha256 } = manifest.object;
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const chunk of await store.get(key, options)) {
    bytes += chunk.length;
    hash.update(chunk);
    options.onBytes?.(bytes);
    yield chunk;
  }
  if (bytes !== sizeBytes) throw failed(`${manifest.id}: ${store.url} returned ${bytes} bytes, not ${sizeBytes}`);
  if (hash.digest('hex') !== sha256)
    throw failed(`${manifest.id}: the bytes in ${store.url} are not those that were stored (sha256 differs)`);
}

/**
 * Reads the snapshot as etcd sent it. Throws `verificationFailed` at the end unless all checksums, and etcd's own
 * trailer, match.
 */
export async function* readContent(store: Store, manifest: SnapshotManifest, options: PayloadReadOptions = {}): Bytes {
  const { content } = manifest;
  await checkDecryptable(manifest, options);
  const check = new SnapshotCheck(content.sizeBytes, manifest.id);
  try {
    for await (const chunk of decode(store, manifest, options)) {
      check.add(chunk);
      yield chunk;
    }
    const sums = check.finish();
    if (sums.sha256 !== content.sha256 || sums.trailerSha256 !== content.trailerSha256) {
      throw failed(`${manifest.id}: its content is not what etcd sent (sha256 differs)`);
    }
  } catch (error) {
    // While etcd streams, an early end is a failure of etcd; in a stored snapshot it is damage.
    if (error instanceof AgentError && error.exitCode === ExitCode.etcdUnavailable) {
      throw failed(`${manifest.id}: its content is shorter or longer than the content that etcd sent`);
    }
    throw error;
  }
}

async function* decode(store: Store, manifest: SnapshotManifest, options: PayloadReadOptions): Bytes {
  try {
    yield* decompress(manifest.object.compression, compressed(store, manifest, options));
  } catch (error) {
    const isUnnamed = error instanceof AgentError && error.exitCode === ExitCode.verificationFailed;
    if (!isUnnamed || error instanceof DamagedError) throw error;
    // A decoder may fail before or after the last byte is read. What the store has damaged is always reported as that.
    for await (const _ of readStored(store, manifest, options));
    throw failed(`${manifest.id}: ${error.message}`);
  }
}

/**
 * Throws NoIdentityError if the snapshot is encrypted and, as far as its recipients are known, no identity decrypts it.
 */
export async function checkDecryptable(
  { id, object }: Pick<Brief, 'id' | 'object'>,
  { identities = [] }: PayloadReadOptions,
): Promise<void> {
  if (object.encryption) await checkIdentities(id, object.encryption.recipients, identities);
}

function compressed(store: Store, manifest: SnapshotManifest, options: PayloadReadOptions): Bytes {
  const stored = readStored(store, manifest, options);
  const { encryption } = manifest.object;
  if (!encryption) return stored;
  return decrypt(options.identities ?? [], stored, encryption.recipients.length > 0);
}
