import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { readDatabase } from '../../etcd/offline/database-check.ts';
import type { Etcdutl } from '../../etcd/offline/etcdutl.ts';
import { TRAILER } from '../../etcd/snapshot-stream.ts';
import { AgentError, codeOf, ExitCode } from '../../lib/errors.ts';
import { cannotWrite } from '../../lib/files/file-faults.ts';
import type { Store } from '../../store/store.ts';
import { payloadProblem } from '../catalog/catalog.ts';
import type { Level, SnapshotManifest } from '../catalog/manifest.ts';
import { DamagedError, MissingError } from './damaged-error.ts';
import { storedExtra } from './extra.ts';
import { type PayloadReadOptions, readContent, readStored } from './read-payload.ts';
import { scratchDirectory } from './scratch-directory.ts';

const MIB = 1024 * 1024;

export interface VerifyOptions extends PayloadReadOptions {
  readonly level: Level;
  /** Directory for a copy of the database. Used only for level `open`. */
  readonly scratch: string;
  readonly etcdutl: Etcdutl;
}

/** Result of a verification that found nothing wrong. */
export interface Proof {
  /** The level that was proved. Lower than the requested level if the rest could neither be proved nor disproved. */
  readonly level: Level;
  readonly detail: string;
}

const failed = (message: string) => new AgentError(ExitCode.verificationFailed, message);

/** Verifies the payload of a snapshot. Throws `verificationFailed` if it is bad. Errors of the store pass through. */
export async function verifySnapshot(store: Store, manifest: SnapshotManifest, options: VerifyOptions): Promise<Proof> {
  const problem = payloadProblem(manifest, (await store.stat(manifest.object.key, options))?.size);
  if (problem) throw new MissingError(`${manifest.id}: ${problem}`);
  const { level } = options;
  switch (level) {
    case 'stream':
      return { level, detail: 'the payload exists and has the size that was stored' };
    case 'read':
      for await (const _ of readStored(store, manifest, options));
      return { level, detail: 'the stored bytes match the manifest' };
    case 'open':
      return openSnapshotFile(store, manifest, options);
  }
}

/** Verifies the payload and the extra files, which a restore of the data does not read. */
export async function verifyStored(store: Store, manifest: SnapshotManifest, options: VerifyOptions): Promise<Proof> {
  const proof = await verifySnapshot(store, manifest, options);
  const { id, extra } = manifest;
  if (!extra) return proof;
  const found = await store.stat(extra.key, options);
  if (found?.size !== extra.sizeBytes) throw failed(`${id}: its extra files ${extra.key} are missing or incomplete`);
  if (options.level !== 'stream') await storedExtra(store, extra, options);
  return { ...proof, detail: `${proof.detail}; the extra files are intact` };
}

async function openSnapshotFile(store: Store, manifest: SnapshotManifest, options: VerifyOptions): Promise<Proof> {
  await using directory = await scratchDirectory(options.scratch);
  const file = join(directory.path, 'snapshot.db');
  await writeContent(store, manifest, file, options);
  return await checkDatabase(file, manifest, options);
}

async function checkDatabase(
  file: string,
  { id, content }: SnapshotManifest,
  { etcdutl, signal }: VerifyOptions,
): Promise<Proof> {
  // Check the structure before etcdutl runs: some damage makes etcdutl use all available memory.
  const { damage, revision } = await readDatabase(file, content.sizeBytes - TRAILER, signal);
  if (damage) throw failed(`${id}: its database is damaged: ${damage}`);
  const run = { signal, timeout: 30_000 + Math.ceil(content.sizeBytes / MIB) * 500 };
  const unproved = (why: string): Proof => ({
    level: 'read',
    detail: `the stored bytes are those that etcd sent, but ${why}`,
  });

  const status = await etcdutl.snapshotStatus(file, run);
  if (status.outcome === 'unable') return unproved(status.why);
  if (status.outcome === 'refused') throw failed(`${id}: ${status.why}`);
  const expected = content.hashKV;
  if (expected && revision < expected.revision) {
    throw failed(
      `${id}: it ends at revision ${revision}, but the members were compared at revision ${expected.revision}`,
    );
  }
  // A restore raises the revision by what the manifest claims.
  if (revision < (content.revision ?? 0)) {
    throw new DamagedError(`${id}: its manifest claims revision ${content.revision}, but it ends at ${revision}`);
  }
  const opens = `etcdutl opens it at revision ${revision}`;
  if (!expected) return { level: 'open', detail: `${opens}; its manifest has no HashKV to compare with` };

  const found = await etcdutl.hashKV(file, expected.revision, run);
  if (found.outcome === 'unable') return unproved(found.why);
  if (found.outcome === 'refused') throw failed(`${id}: ${found.why}`);
  const { hash, compactRevision } = found.value;
  // A compaction after the hash was computed changes the hash of the same data. Compact revisions never go back.
  if (compactRevision > expected.compactRevision) return unproved('it was compacted meanwhile, which changes HashKV');
  if (hash !== expected.hash || compactRevision !== expected.compactRevision) {
    throw failed(
      `${id}: its data differ from those of the cluster: HashKV at revision ${expected.revision} is ${hash}, not ${expected.hash}`,
    );
  }
  return { level: 'open', detail: `${opens}, and its HashKV equals that of the cluster` };
}

/**
 * Writes the verified content to a new file. With `durable`, also syncs it to the disk, which scratch files do not
 * need.
 */
export async function writeContent(
  store: Store,
  manifest: SnapshotManifest,
  file: string,
  options: PayloadReadOptions & { readonly durable?: boolean },
): Promise<void> {
  try {
    // Open the file first and close it last: a later removal of the file must not overtake an open that is still in
    // progress.
    const handle = await open(file, 'wx', 0o600);
    try {
      await writeAll(handle, readContent(store, manifest, options));
      if (options.durable) await handle.sync();
    } finally {
      await handle.close();
    }
  } catch (error) {
    options.signal?.throwIfAborted();
    if (error instanceof AgentError) throw isDamage(error) ? new DamagedError(error.message, { cause: error }) : error;
    if (codeOf(error) === 'ENOSPC') {
      const needed = `it needs ${manifest.content.sizeBytes} bytes; make room there`;
      throw new AgentError(ExitCode.usage, `no room for ${file}: ${needed}`, { cause: error });
    }
    throw cannotWrite(file, error);
  }
}

/** While the content is read, every such error is about the payload: it cannot be decompressed, or a checksum differs. */
const isDamage = ({ exitCode }: AgentError) => exitCode === ExitCode.verificationFailed;

/** Produces the next chunk while the previous one is written. */
async function writeAll(file: FileHandle, chunks: AsyncIterable<Uint8Array>): Promise<void> {
  let writing: Promise<unknown> = Promise.resolve();
  try {
    for await (const chunk of chunks) {
      await writing;
      writing = file.writeFile(chunk);
      // Awaited with the next chunk; without a handler until then, a rejection would end the process.
      writing.catch(() => {});
    }
  } finally {
    await Promise.allSettled([writing]);
  }
  await writing;
}
