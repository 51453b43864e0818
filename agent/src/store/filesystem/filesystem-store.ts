import { type FileHandle, link, lstat, open, realpath, rename, rm, stat, unlink } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { blocks } from '../../lib/blocks.ts';
import { AgentError, codeOf, ExitCode, messageOf } from '../../lib/errors.ts';
import {
  makeDirectory,
  removeEmptyDirectories,
  sync,
  unlessGone,
  unlessNowhere,
  walk,
} from '../../lib/files/directories.ts';
import { openRegular } from '../../lib/files/regular-file.ts';
import { abortable } from '../../lib/limits/abortable.ts';
import { unlessAborted } from '../../lib/limits/unless-aborted.ts';
import { withinGrace } from '../../lib/limits/within-grace.ts';
import { garbageCounter } from '../../lib/memory.ts';
import { checkKey, checkNoPart, checkPrefix, exists, OUR_PART, PART, partName } from '../keys.ts';
import type { FilesystemSpec } from '../spec.ts';
import type { CallOptions, PutOptions, PutResult, Store, StoredObject, Unfinished } from '../store.ts';
import { directoryUrl } from '../url.ts';

const WRITE_BLOCK = 1024 * 1024;
/** Milliseconds that a change may still take after the caller has aborted. */
const PATIENCE = 2_000;
const READ_CHUNK = 256 * 1024;
/** The owner writes, the group (a pod's fsGroup) reads, and others have no access: snapshots contain secrets. */
const FILE_MODE = 0o640;

/**
 * A directory: a PersistentVolumeClaim, an NFS share. A rename makes an object visible once it is complete and
 * durable.
 */
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
    checkNoPart(key);
    signal?.throwIfAborted();
    if (onlyNew && (await this.stat(key, options))) throw exists(this.url, key);
    const part = partName(path);
    const creating = createFile(part);
    const change = <T>(doing: string, call: Promise<T>) => this.#change(doing, path, call, signal);
    try {
      const file = await change('create', creating);
      for await (const { bytes } of blocks(abortable(body, signal), WRITE_BLOCK, 1)) {
        await change('write', writeAll(file, bytes));
      }
      await change('write', file.sync());
      await change('write', file.close());
      signal?.throwIfAborted();
      if (!onlyNew) await change('rename to', rename(part, path));
      else if (!(await change('rename to', renameToNew(part, path)))) throw exists(this.url, key);
      await this.#change('sync', dirname(path), sync(dirname(path)), signal);
      return {};
    } catch (error) {
      await withinGrace(discard(creating, part), signal, PATIENCE);
      signal?.throwIfAborted();
      throw error;
    }
  }

  async get(key: string, { signal }: CallOptions = {}): Promise<AsyncIterable<Uint8Array>> {
    const path = this.#path(key);
    signal?.throwIfAborted();
    const opening = unlessNowhere(openRegular(path));
    const file = await this.#read('open', path, opening, signal).catch((error) => {
      void opening.then((late) => late?.close()).catch(() => {});
      throw error;
    });
    if (!file) throw new AgentError(ExitCode.nothingThere, `${this.url} has no ${key}`);
    const { size } = await this.#read('read', path, file.stat(), signal);
    return abortable(this.#bytes(file, path, size), signal);
  }

  async *list(prefix: string, { signal }: CallOptions = {}): AsyncGenerator<StoredObject> {
    for await (const object of this.#files(prefix, signal))
      if (!object.key.endsWith(PART) && object.linkTo === undefined) yield object;
  }

  async *links(prefix: string, { signal }: CallOptions = {}): AsyncGenerator<StoredObject> {
    for await (const object of this.#files(prefix, signal)) if (object.linkTo !== undefined) yield object;
  }

  async stat(key: string, { signal }: CallOptions = {}): Promise<StoredObject | undefined> {
    const path = this.#path(key);
    signal?.throwIfAborted();
    const found = await this.#read('read', path, unlessNowhere(stat(path)), signal);
    if (!found?.isFile() || key.endsWith(PART)) return undefined;
    const named = await this.#read('read', path, unlessGone(lstat(path)), signal);
    const linkTo = named?.isSymbolicLink() ? await unlessAborted(this.#linkTo(path), signal) : undefined;
    return { key, size: found.size, modified: found.mtime, linkTo };
  }

  async delete(key: string, { signal }: CallOptions = {}): Promise<'deleted'> {
    const path = this.#path(key);
    signal?.throwIfAborted();
    await this.#change('delete', path, remove(path), signal);
    await withinGrace(removeEmptyDirectories(dirname(path), this.#root), signal, PATIENCE);
    return 'deleted';
  }

  async *unfinished(prefix: string, { signal }: CallOptions = {}): AsyncGenerator<Unfinished> {
    for await (const object of this.#files(prefix, signal)) if (OUR_PART.test(object.key)) yield object;
  }

  async sweep(prefix: string, age: number, options: CallOptions = {}): Promise<number> {
    const now = await this.now(options);
    if (!now) return 0;
    let swept = 0;
    for await (const { key, modified } of this.unfinished(prefix, options)) {
      if (now.getTime() - modified.getTime() <= age) continue;
      await this.delete(key, options);
      swept++;
    }
    return swept;
  }

  /** Reads the clock from the time stamp of a new file: on a network share this is the server's clock. */
  async now({ signal }: CallOptions = {}): Promise<Date | undefined> {
    signal?.throwIfAborted();
    return unlessAborted(this.#now(), signal);
  }

  async #now(): Promise<Date | undefined> {
    // A fixed name: the next run removes the file that a killed run left.
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
    // With the dot, a file is an error.
    const code = await unlessAborted(
      stat(`${this.#root}/.`).then(() => undefined, codeOf),
      signal,
    );
    if (code === 'ENOTDIR') {
      throw new AgentError(ExitCode.nothingThere, `${this.url}: the path, or a part of it, is a file`, {
        finding: { kind: 'wrongStore' },
      });
    }
    return (await this.#read('read', this.#root, unlessGone(stat(this.#root)), signal)) !== undefined;
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
      for await (const { name, size, modified, isLink } of abortable(walk(this.#root, directory), signal)) {
        if (!name.startsWith(prefix)) continue;
        const linkTo = isLink ? await this.#linkTo(join(this.#root, name)) : undefined;
        yield { key: name, size, modified, linkTo };
      }
    } catch (error) {
      signal?.throwIfAborted();
      if (error instanceof AgentError) throw error;
      // The directory that could not be read may be deeper than the one that the walk began with.
      const { path = join(this.#root, directory) } = error as NodeJS.ErrnoException;
      throw await explain(this.url, 'list', path, error);
    }
  }

  /** Key of the file that a symbolic link leads to, if that lies beside it. A link to elsewhere is all that there is here. */
  async #linkTo(path: string): Promise<string | undefined> {
    const [from, to] = (await unlessNowhere(Promise.all([realpath(dirname(path)), realpath(path)]))) ?? [];
    return to !== undefined && dirname(to) === from
      ? join(relative(this.#root, dirname(path)), basename(to))
      : undefined;
  }

  async *#bytes(file: FileHandle, path: string, size: number): AsyncGenerator<Uint8Array> {
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
    const message = `${this.url}: ${path} ended after ${read} of ${size} bytes; another process is writing to it`;
    return new AgentError(ExitCode.storeUnreachable, message);
  }

  /** A read that hangs is left when the caller aborts. */
  #read<T>(doing: string, path: string, call: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
    return unlessAborted(this.#do(doing, path, call), signal);
  }

  /** When the caller aborts, a change is completed, unless it hangs. */
  #change<T>(doing: string, path: string, call: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
    return withinGrace(this.#do(doing, path, call), signal, PATIENCE);
  }

  /** Adds the file's name to errors of the system. Errors of a body never pass through here. */
  async #do<T>(doing: string, path: string, call: Promise<T>): Promise<T> {
    try {
      return await call;
    } catch (error) {
      throw await explain(this.url, doing, path, error);
    }
  }
}

/** Removes an unfinished file, also if it is still being created. */
async function discard(creating: Promise<FileHandle>, part: string): Promise<void> {
  const file = await creating.catch(() => undefined);
  await file?.close().catch(() => {});
  await rm(part, { force: true }).catch(() => {});
}

async function createFile(path: string): Promise<FileHandle> {
  for (let attempts = 1; ; attempts++) {
    try {
      await makeDirectory(dirname(path));
      return await open(path, 'wx', FILE_MODE);
    } catch (error) {
      // A concurrent delete may have removed the directory because it was empty.
      if (codeOf(error) !== 'ENOENT' || attempts === 5) throw error;
    }
  }
}

/** Error codes of file systems without hard links. */
const NO_LINKS = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK']);

/**
 * Renames a file; returns false if the target exists. Uses a hard link, which, unlike a rename, never replaces a
 * file.
 */
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

const notDirectory = 'the path, or a part of it, is not a directory; name a directory';

const refusals: Record<string, string> = {
  EDQUOT: 'the quota is used up; raise the quota or keep fewer snapshots',
  EEXIST: notDirectory,
  EISDIR: 'it is a directory; choose another key',
  ENAMETOOLONG: 'the name is too long for this file system; choose a shorter cluster name or key',
  ENOSPC: 'the volume is full; enlarge it or keep fewer snapshots',
  ENOTDIR: notDirectory,
  EROFS: 'the volume is mounted read-only; mount it writable',
};

/** Actions that need the right to write to the directory. */
const CHANGES = new Set(['create', 'rename to', 'delete']);

/** Whether the system refuses a call to this user. Codes of a full or read-only volume are not meant. */
const isForbidden = (error: unknown): boolean => ['EACCES', 'EPERM'].includes(codeOf(error) ?? '');

/** Adds to the error of a call which file or directory refuses it. */
async function explain(url: string, doing: string, path: string, error: unknown): Promise<AgentError> {
  if (!isForbidden(error)) return filesystemFault(url, doing, path, error);
  const at = await refuserOf(path, CHANGES.has(doing));
  const found = await stat(at).catch(() => undefined);
  const mode = found && (found.mode & 0o7777).toString(8).padStart(4, '0');
  const whose = found ? `${at} belongs to user ${found.uid}, group ${found.gid} and has mode ${mode}, which` : at;
  return filesystemFault(url, doing, path, error, whose);
}

/** The first directory of the path that this user may not enter; otherwise the directory or the file itself. */
async function refuserOf(path: string, isChange: boolean): Promise<string> {
  let last = '/';
  for (const name of dirname(path).split('/').filter(Boolean)) {
    const at = join(last, name);
    const code = await stat(`${at}/.`).then(() => undefined, codeOf);
    if (isForbidden({ code })) return at;
    // A missing directory is to be created in the last one.
    if (code !== undefined) break;
    last = at;
  }
  return isChange ? last : path;
}

/** `whose`: what refuses the call, with its owner. */
const permission = (whose = 'it') =>
  `${whose} refuses user ${process.geteuid?.() ?? 'unknown'}, group ${process.getegid?.() ?? 'unknown'}; change its owner or mode; in a pod with a claim, set fsGroup`;

/** Error in one line: the action and the path, the system's error code, and what to do. */
export function filesystemFault(url: string, doing: string, path: string, error: unknown, whose?: string): AgentError {
  const code = codeOf(error) ?? '';
  const remedy = isForbidden(error) ? permission(whose) : refusals[code];
  // Without the path, which may be that of an unfinished file.
  const why = messageOf(error).replace(/, [a-z]+ '.*'$/, '');
  const detail = remedy ? `${code}: ${remedy}` : `${why}; check the volume and try again`;
  const exitCode = remedy ? ExitCode.storeRefused : ExitCode.storeUnreachable;
  return new AgentError(exitCode, `${url}: cannot ${doing} ${path}: ${detail}`, { cause: error });
}
