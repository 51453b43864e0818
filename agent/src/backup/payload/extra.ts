import { createHash } from 'node:crypto';
import type { Stats } from 'node:fs';
import { lstat, readdir, readFile, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { AgentError, ExitCode, messageOf, usageError } from '../../lib/errors.ts';
import { readFault } from '../../lib/files/file-faults.ts';
import { type TarEntry, tarFile } from '../../lib/files/tar.ts';
import type { CallOptions, Store } from '../../store/store.ts';
import type { Extra, SnapshotManifest } from '../catalog/manifest.ts';
import { checkIdentities, decrypt, encrypt } from './encryption.ts';
import type { PayloadReadOptions } from './read-payload.ts';

/** Files of the backup's machine that are to be stored beside the snapshot. */
export interface ExtraRequest {
  readonly paths: readonly string[];
  /** age recipients. Never empty, because the files may hold keys. */
  readonly recipients: readonly string[];
}

export interface PackedExtra extends ExtraRequest {
  /** Encrypted. */
  readonly bytes: Buffer;
}

export async function packExtra({ paths, recipients }: ExtraRequest): Promise<PackedExtra> {
  const bytes = await collect(encrypt(recipients, once(await packFiles(paths))));
  return { paths, recipients, bytes };
}

/** Describes the extra files for the manifest of a snapshot. */
export function describeExtra({ paths, recipients, bytes }: PackedExtra, folder: string, id: string): Extra {
  const key = `${folder}/${id}.extra.tar.age`;
  return { key, sizeBytes: bytes.length, sha256: sha256(bytes), paths: [...paths], recipients: [...recipients] };
}

/** Writes the extra files and reads them back. `onPut` is called once they are written. */
export async function putExtra(
  store: Store,
  extra: Extra,
  bytes: Buffer,
  { onPut, ...options }: CallOptions & { readonly onPut?: () => void },
): Promise<void> {
  await store.put(extra.key, once(bytes), { ...options, sizeHint: bytes.length });
  onPut?.();
  await storedExtra(store, extra, options);
}

/** Returns the encrypted bytes. Throws `verificationFailed` unless they match the manifest. */
export async function storedExtra(store: Store, extra: Extra, options: CallOptions): Promise<Buffer> {
  const bytes = await collect(await store.get(extra.key, options), extra.sizeBytes + 1);
  if (bytes.length === extra.sizeBytes && sha256(bytes) === extra.sha256) return bytes;
  throw new AgentError(
    ExitCode.verificationFailed,
    `${extra.key} in ${store.url} is damaged: its bytes are not those that were stored`,
  );
}

/** Returns the decrypted tar file. */
export async function readExtra(
  store: Store,
  { id, extra }: SnapshotManifest,
  { identities = [], signal }: PayloadReadOptions,
): Promise<Buffer> {
  if (!extra) throw new AgentError(ExitCode.nothingThere, `${id} has no extra files`, { finding: { kind: 'noExtra' } });
  await checkIdentities(extra.key, extra.recipients, identities);
  return collect(decrypt(identities, once(await storedExtra(store, extra, { signal })), true));
}

const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

async function* once(bytes: Buffer): AsyncIterable<Uint8Array> {
  yield bytes;
}

/** Reads a source into memory. Stops after `limit` bytes. */
async function collect(source: AsyncIterable<Uint8Array>, limit = Number.POSITIVE_INFINITY): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of source) {
    chunks.push(chunk);
    length += chunk.length;
    if (length >= limit) break;
  }
  return Buffer.concat(chunks);
}

/** The extra files are held in memory. They are meant for keys and configuration. */
const MAX_BYTES = 8 * 1024 * 1024;

const mistake = (message: string) => usageError(message, { at: 'extraPath' });

/** Packs files, and directories with their contents, into a tar file. */
async function packFiles(paths: readonly string[]): Promise<Buffer> {
  const entries: TarEntry[] = [];
  let bytes = 0;
  for (const path of paths) {
    if (!path.startsWith('/')) throw mistake(`'${path}' is not absolute; write it like /etc/kubernetes/pki`);
    for await (const entry of entriesOf(path)) {
      entries.push(entry);
      bytes += entry.content?.length ?? 0;
    }
  }
  if (bytes > MAX_BYTES)
    throw mistake(`${bytes} bytes are more than the limit of ${MAX_BYTES}; it is meant for keys and configuration`);
  try {
    return tarFile(entries);
  } catch (error) {
    throw mistake(messageOf(error));
  }
}

async function* entriesOf(path: string): AsyncIterable<TarEntry> {
  const read = async <T>(work: Promise<T>): Promise<T> =>
    work.catch((error) => {
      throw mistake(`cannot read ${path} ${readFault(error)}`);
    });
  const stats = await read(lstat(path));
  const common = { path, ...attributes(stats) };
  if (stats.isSymbolicLink()) {
    yield { ...common, type: 'symlink', target: await read(readlink(path)) };
  } else if (stats.isDirectory()) {
    yield { ...common, type: 'directory' };
    for (const name of (await read(readdir(path))).sort()) yield* entriesOf(join(path, name));
  } else if (stats.isFile()) {
    if (stats.size > MAX_BYTES)
      throw mistake(
        `${path} has ${stats.size} bytes, more than the limit of ${MAX_BYTES}; it is meant for keys and configuration`,
      );
    yield { ...common, type: 'file', content: await read(readFile(path)) };
  }
}

const attributes = ({ mode, uid, gid, mtimeMs }: Stats) => ({ mode, uid, gid, modified: Math.floor(mtimeMs / 1_000) });
