import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { readDatabase } from '../../etcd/offline/database-check.ts';
import type { Etcdutl } from '../../etcd/offline/etcdutl.ts';
import { TRAILER } from '../../etcd/snapshot-stream.ts';
import { AgentError, codeOf, ExitCode } from '../../lib/errors.ts';
import type { Store } from '../../store/store.ts';
import { payloadProblem } from '../catalog/catalog.ts';
import type { Level, Manifest } from '../catalog/manifest.ts';
import { storedExtra } from './extra.ts';
import { type ReadOptions, readContent, readStored } from './read-payload.ts';
import { scratchDirectory } from './scratch-directory.ts';

const MIB = 1024 * 1024;

export interface VerifyOptions extends ReadOptions {
  readonly level: Level;
  /** A directory for a copy of the database; only level `open` needs it. */
  readonly scratch: string;
  readonly etcdutl: Etcdutl;
}

/** What a verification came to when nothing was found wrong. */
export interface Proof {
  /** What was proved: less than was asked for when the rest could be neither proved nor disproved. */
  readonly level: Level;
  readonly detail: string;
}

const failed = (message: string) => new AgentError(ExitCode.verificationFailed, message);

/** Throws verificationFailed for a bad snapshot, the store's own errors otherwise. */
export async function verifySnapshot(store: Store, manifest: Manifest, options: VerifyOptions): Promise<Proof> {
  const problem = payloadProblem(manifest, (await store.stat(manifest.object.key, options))?.size);
  if (problem) throw failed(`${manifest.id}: ${problem}`);
  const { level } = options;
  switch (level) {
    case 'stream':
      return { level, detail: 'the payload is there, with the size that was stored' };
    case 'read':
      for await (const _ of readStored(store, manifest, options));
      return { level, detail: 'the stored bytes are those that were sent' };
    case 'open':
      return openSnapshotFile(store, manifest, options);
  }
}

/** The same of all that was stored: with the extra files, which no restore of the data reads. */
export async function verifyStored(store: Store, manifest: Manifest, options: VerifyOptions): Promise<Proof> {
  const proof = await verifySnapshot(store, manifest, options);
  const { id, extra } = manifest;
  if (!extra) return proof;
  const found = await store.stat(extra.key, options);
  if (found?.size !== extra.sizeBytes) throw failed(`${id}: its extra files ${extra.key} are missing, or not whole`);
  if (options.level !== 'stream') await storedExtra(store, extra, options);
  return { ...proof, detail: `${proof.detail}; the extra files are as they were stored` };
}

async function openSnapshotFile(store: Store, manifest: Manifest, options: VerifyOptions): Promise<Proof> {
  await using directory = await scratchDirectory(options.scratch);
  const file = join(directory.path, 'snapshot.db');
  await writeContent(store, manifest, file, options);
  return await checkDatabase(file, manifest, options);
}

async function checkDatabase(
  file: string,
  { id, content }: Manifest,
  { etcdutl, signal }: VerifyOptions,
): Promise<Proof> {
  // Before etcdutl, which some damage makes take all memory there is.
  const { damage, revision } = await readDatabase(file, content.sizeBytes - TRAILER, signal);
  if (damage) throw failed(`${id}: its database is damaged: ${damage}`);
  const run = { signal, timeout: 30_000 + Math.ceil(content.sizeBytes / MIB) * 500 };
  const unproved = (why: string): Proof => ({
    level: 'read',
    detail: `the stored bytes are those that etcd sent, but ${why}`,
  });

  const status = await etcdutl.snapshotStatus(file, run);
  if (status.outcome === 'unable') return unproved(status.why);
  if (status.outcome === 'refused') throw failed(`${id}: etcdutl finds no valid database in it`);
  const expected = content.hashKV;
  if (expected && revision < expected.revision) {
    throw failed(
      `${id}: it ends at revision ${revision}, before ${expected.revision}, at which its cluster was compared`,
    );
  }
  const opens = `etcdutl opens it at revision ${revision}`;
  if (!expected) return { level: 'open', detail: `${opens}; it was taken without HashKV to compare with` };

  const found = await etcdutl.hashKV(file, expected.revision, run);
  if (found.outcome === 'unable') return unproved(found.why);
  if (found.outcome === 'refused') throw failed(`${id}: etcdutl cannot read its keys`);
  const { hash, compactRevision } = found.value;
  // A compaction after the source was asked makes another hash of the same data; it never takes one back.
  if (compactRevision > expected.compactRevision) return unproved('it was compacted meanwhile: HashKV is another one');
  if (hash !== expected.hash || compactRevision !== expected.compactRevision) {
    throw failed(
      `${id}: its data are not those of the cluster: HashKV at revision ${expected.revision} is ${hash}, not ${expected.hash}`,
    );
  }
  return { level: 'open', detail: `${opens}, and HashKV is the cluster's` };
}

/** Writes the verified content to a new file; `durable` also to the disk, which a scratch file need not be. */
export async function writeContent(
  store: Store,
  manifest: Manifest,
  file: string,
  options: ReadOptions & { readonly durable?: boolean },
): Promise<void> {
  try {
    // Opened before and closed after: whoever removes the file next must not overtake an open still under way.
    const handle = await open(file, 'wx', 0o600);
    try {
      await writeAll(handle, readContent(store, manifest, options));
      if (options.durable) await handle.sync();
    } finally {
      await handle.close();
    }
  } catch (error) {
    options.signal?.throwIfAborted();
    if (error instanceof AgentError) throw error;
    const code = codeOf(error);
    if (code === 'ENOSPC') {
      throw new AgentError(ExitCode.usage, `no room for ${file}: it needs ${manifest.content.sizeBytes} bytes`, {
        cause: error,
      });
    }
    throw new AgentError(ExitCode.usage, `cannot write ${file} (${code ?? error})`, { cause: error });
  }
}

/** The next chunk is made while one is written. */
async function writeAll(file: FileHandle, chunks: AsyncIterable<Uint8Array>): Promise<void> {
  let writing: Promise<unknown> = Promise.resolve();
  try {
    for await (const chunk of chunks) {
      await writing;
      writing = file.writeFile(chunk);
      // It is awaited with the next chunk; until then it is nobody's.
      writing.catch(() => {});
    }
  } finally {
    await Promise.allSettled([writing]);
  }
  await writing;
}
