import { type FileHandle, link, open, rename, rm, stat, unlink } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { abortable } from '../../lib/abortable.ts';
import { blocks } from '../../lib/blocks.ts';
import { AgentError, codeOf, ExitCode } from '../../lib/errors.ts';
import { makeDirectory, removeEmptyDirectories, sync, unlessGone, walk } from '../../lib/files/directories.ts';
import { garbageCounter } from '../../lib/memory.ts';
import { checkKey, checkPrefix, exists } from '../keys.ts';
import { OUR_PART, PART, partName } from '../part-name.ts';
import type { FilesystemSpec } from '../spec.ts';
import type { CallOptions, PutOptions, PutResult, Store, StoredObject } from '../store.ts';
import { directoryUrl } from '../url.ts';
import { filesystemFault } from './errors.ts';

const WRITE_BLOCK = 1024 * 1024;
const READ_CHUNK = 256 * 1024;
/** The owner writes, its group (a pod's fsGroup) reads, nobody else: snapshots hold secrets. */
const FILE_MODE = 0o640;

/** A directory: a PersistentVolumeClaim, an NFS share. An object appears by rename, whole and durable. */
export class FilesystemStore implements Store {
  readonly url: string;
  readonly #root: string;

  constructor(spec: FilesystemSpec) {
    this.#root = resolve(spec.path);
    this.url = directoryUrl(this.#root);
  }

  async put(key: string, body: AsyncIterable<Uint8Array>, options: PutOptions = {}): Promise<PutResult> {
    const { signal, onlyNew } = options;
    const path = this.#path(key);
    if (key.endsWith(PART))
      throw new AgentError(ExitCode.usage, `the key ${key} ends in ${PART}, as unfinished files do`);
    signal?.throwIfAborted();
    if (onlyNew && (await this.stat(key, options))) throw exists(this.url, key);
    const part = partName(path);
    const file = await this.#do('create', part, createFile(part));
    try {
      for await (const { bytes } of blocks(abortable(body, signal), WRITE_BLOCK, 1)) {
        await this.#do('write', part, writeAll(file, bytes));
      }
      await this.#do('write', part, file.sync());
      await this.#do('write', part, file.close());
      signal?.throwIfAborted();
      if (!onlyNew) await this.#do('rename to', path, rename(part, path));
      else if (!(await this.#do('rename to', path, renameToNew(part, path)))) throw exists(this.url, key);
      await this.#do('sync', dirname(path), sync(dirname(path)));
      return {};
    } catch (error) {
      await file.close().catch(() => {});
      await rm(part, { force: true }).catch(() => {});
      signal?.throwIfAborted();
      throw error;
    }
  }

  async get(key: string, { signal }: CallOptions = {}): Promise<AsyncIterable<Uint8Array>> {
    const path = this.#path(key);
    signal?.throwIfAborted();
    const file = await this.#do('open', path, unlessGone(open(path, 'r')));
    const found = file && (await this.#do('read', path, file.stat()));
    if (file && found?.isFile()) return abortable(this.#read(file, path, found.size), signal);
    await file?.close();
    throw new AgentError(ExitCode.nothingThere, `${this.url} has no ${key}`);
  }

  async *list(prefix: string, { signal }: CallOptions = {}): AsyncGenerator<StoredObject> {
    for await (const object of this.#files(prefix, signal)) if (!object.key.endsWith(PART)) yield object;
  }

  async stat(key: string, { signal }: CallOptions = {}): Promise<StoredObject | undefined> {
    const path = this.#path(key);
    signal?.throwIfAborted();
    const found = await this.#do('read', path, unlessGone(stat(path)));
    if (!found?.isFile() || key.endsWith(PART)) return undefined;
    return { key, size: found.size, modified: found.mtime };
  }

  async delete(key: string, { signal }: CallOptions = {}): Promise<'deleted'> {
    const path = this.#path(key);
    signal?.throwIfAborted();
    await this.#do('delete', path, remove(path));
    await removeEmptyDirectories(dirname(path), this.#root);
    return 'deleted';
  }

  async sweep(prefix: string, age: number, options: CallOptions = {}): Promise<number> {
    const now = await this.now(options);
    if (!now) return 0;
    let swept = 0;
    for await (const { key, modified } of this.#files(prefix, options.signal)) {
      if (!OUR_PART.test(key) || now.getTime() - modified.getTime() <= age) continue;
      await this.delete(key, options);
      swept++;
    }
    return swept;
  }

  /** By a new file's time stamp: on a network share the server's clock, not ours. */
  async now({ signal }: CallOptions = {}): Promise<Date | undefined> {
    signal?.throwIfAborted();
    // Always the same name: what a killed run leaves is gone with the next one.
    const path = join(this.#root, `.clock${PART}`);
    await rm(path, { force: true }).catch(() => {});
    const file = await open(path, 'w', FILE_MODE).catch(() => undefined);
    if (!file) return undefined;
    try {
      return (await this.#do('read', path, file.stat())).mtime;
    } finally {
      await file.close();
      await rm(path, { force: true }).catch(() => {});
    }
  }

  async isThere({ signal }: CallOptions = {}): Promise<boolean> {
    signal?.throwIfAborted();
    const found = await this.#do('read', this.#root, unlessGone(stat(this.#root)));
    return found?.isDirectory() ?? false;
  }

  close(): void {}

  #path(key: string): string {
    checkKey(key);
    return join(this.#root, key);
  }

  async *#files(prefix: string, signal: AbortSignal | undefined): AsyncGenerator<StoredObject> {
    checkPrefix(prefix);
    const directory = prefix.slice(0, Math.max(0, prefix.lastIndexOf('/')));
    try {
      for await (const { name, size, modified } of walk(this.#root, directory)) {
        signal?.throwIfAborted();
        if (name.startsWith(prefix)) yield { key: name, size, modified };
      }
    } catch (error) {
      signal?.throwIfAborted();
      throw error instanceof AgentError ? error : filesystemFault(this.url, 'list', join(this.#root, directory), error);
    }
  }

  async *#read(file: FileHandle, path: string, size: number): AsyncGenerator<Uint8Array> {
    const passed = garbageCounter();
    try {
      for (let at = 0; at < size; ) {
        const chunk = Buffer.allocUnsafe(Math.min(READ_CHUNK, size - at));
        const { bytesRead } = await this.#do('read', path, file.read(chunk, 0, chunk.length, at));
        if (bytesRead === 0) throw this.#cut(path, at, size);
        at += bytesRead;
        passed(bytesRead);
        yield chunk.subarray(0, bytesRead);
      }
    } finally {
      await file.close();
    }
  }

  #cut(path: string, read: number, size: number): AgentError {
    const message = `${this.url}: ${path} ended after ${read} of ${size} bytes; something else writes to it`;
    return new AgentError(ExitCode.storeUnreachable, message);
  }

  /** Names the file in what the system refuses; errors of a body never pass through here. */
  async #do<T>(doing: string, path: string, call: Promise<T>): Promise<T> {
    try {
      return await call;
    } catch (error) {
      throw filesystemFault(this.url, doing, path, error);
    }
  }
}

async function createFile(path: string): Promise<FileHandle> {
  for (let attempts = 1; ; attempts++) {
    try {
      await makeDirectory(dirname(path));
      return await open(path, 'wx', FILE_MODE);
    } catch (error) {
      // A delete at the same time may have removed the directory as empty.
      if (codeOf(error) !== 'ENOENT' || attempts === 5) throw error;
    }
  }
}

/** File systems that have no hard links. */
const NO_LINKS = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK']);

/** False when something is there already: a link, unlike a rename, replaces nothing. */
async function renameToNew(part: string, path: string): Promise<boolean> {
  try {
    await link(part, path);
    await unlink(part);
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    if (!NO_LINKS.has(codeOf(error) ?? '')) throw error;
  }
  if (await unlessGone(stat(path))) return false;
  await rename(part, path);
  return true;
}

async function writeAll(file: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length; ) at += (await file.write(bytes, at)).bytesWritten;
}

async function remove(path: string): Promise<void> {
  try {
    if ((await unlessGone(unlink(path).then(() => true))) === undefined) return;
  } catch (error) {
    if (codeOf(error) === 'EISDIR') return;
    throw error;
  }
  await unlessGone(sync(dirname(path)));
}
