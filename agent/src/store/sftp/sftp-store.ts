import { posix } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { AgentError, ExitCode } from '../../lib/errors.ts';
import { abortable } from '../../lib/limits/abortable.ts';
import { unlessAborted } from '../../lib/limits/unless-aborted.ts';
import { checkKey, checkNoPart, checkPrefix, exists, OUR_PART, PART, partName } from '../keys.ts';
import type { SftpSpec } from '../spec.ts';
import type { CallOptions, PutOptions, PutResult, Store, StoredObject, Unfinished } from '../store.ts';
import { sftpRoot, sftpUrl } from '../url.ts';
import { SftpConnection, type SftpTuning } from './connection.ts';
import { readLogin } from './credentials.ts';
import { Status, sftpFault, statusOf } from './errors.ts';
import {
  besideLink,
  closeFile,
  createFile,
  isLinkAt,
  modifiedOf,
  openToRead,
  removeEmptyDirectories,
  removeFile,
  renameOver,
  renameToNew,
  statOf,
  statOfNewFile,
  statOfOpen,
  syncFile,
  volumeOf,
  walk,
} from './files.ts';
import type { SftpSession } from './session.ts';
import { type Explain, readAll, writeAll } from './transfer.ts';

/**
 * A disk with less free space than this (bytes) counts as full. So much may be on its way to the disk when it fills
 * up.
 */
const ROOM = 4 * 1024 * 1024;

/** Milliseconds to remove the file of a failed put: a stopped run must end soon. A later run sweeps what is left. */
const CLEAN_UP_LIMIT = 5_000;
/** Milliseconds between two attempts. */
const CLEAN_UP_PAUSE = 250;

/** Opens a directory on an SFTP server. Throws a usage error for mistakes that show without contacting the server. */
export async function openSftp(spec: SftpSpec, tuning?: Partial<SftpTuning>): Promise<Store> {
  // Read the credentials now, so that a mistake shows before anything is changed.
  await readLogin(spec);
  return new SftpStore(spec, new SftpConnection(spec, tuning));
}

/** A directory on an SFTP server. A rename makes an object visible once it is complete and durable. */
class SftpStore implements Store {
  readonly url: string;
  readonly #root: string;
  readonly #connection: SftpConnection;

  constructor(spec: SftpSpec, connection: SftpConnection) {
    this.#root = sftpRoot(spec);
    this.url = sftpUrl(spec);
    this.#connection = connection;
  }

  async put(key: string, body: AsyncIterable<Uint8Array>, options: PutOptions = {}): Promise<PutResult> {
    const { signal, onlyNew } = options;
    const path = this.#path(key);
    checkNoPart(key);
    if (onlyNew && (await this.stat(key, options))) throw exists(this.url, key);
    const part = partName(path);
    const session = await this.#session(signal);
    const creating = createFile(session, part);
    let open = true;
    try {
      // The user knows the key, not the unfinished file.
      const handle = await this.#do('create', path, signal, session, creating);
      const explain: Explain = (call) => this.#do('write', path, signal, session, call);
      const size = await writeAll(session, handle, abortable(body, signal), explain);
      await explain(syncFile(session, handle));
      open = false;
      await explain(closeFile(session, handle));
      await this.#checkSize(session, part, path, size, signal);
      signal?.throwIfAborted();
      const renamed = (onlyNew ? renameToNew : renameOver)(session, part, path);
      if (!(await this.#do('rename to', path, undefined, session, renamed))) throw exists(this.url, key);
      return {};
    } catch (error) {
      if (open) creating.then((handle) => closeFile(session, handle)).catch(() => {});
      await cleanUp(this.#connection, part);
      signal?.throwIfAborted();
      throw error;
    }
  }

  async get(key: string, { signal }: CallOptions = {}): Promise<AsyncIterable<Uint8Array>> {
    const path = this.#path(key);
    const session = await this.#session(signal);
    const handle = await this.#do('open', path, signal, session, openToRead(session, path));
    const found = handle && (await this.#do('read', path, signal, session, statOfOpen(session, handle)));
    if (handle && found?.isFile()) return abortable(this.#read(session, handle, path, found.size), signal);
    if (handle) await closeFile(session, handle).catch(() => {});
    throw new AgentError(ExitCode.nothingThere, `${this.url} has no ${key}`);
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
    const session = await this.#session(signal);
    const found = await this.#do('read', path, signal, session, statOf(session, path));
    if (!found?.isFile() || key.endsWith(PART)) return undefined;
    const isLink = await this.#do('read', path, signal, session, isLinkAt(session, path));
    const linkTo = isLink ? await this.#linkTo(session, key, signal) : undefined;
    return { key, size: found.size, modified: modifiedOf(found), linkTo };
  }

  async delete(key: string, { signal }: CallOptions = {}): Promise<'deleted'> {
    const path = this.#path(key);
    const session = await this.#session(signal);
    await this.#do('delete', path, signal, session, removeFile(session, path));
    const emptied = removeEmptyDirectories(session, posix.dirname(path), this.#root);
    await this.#do('delete', path, signal, session, emptied);
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

  /** Reads the clock from the time stamp of a new file. */
  async now({ signal }: CallOptions = {}): Promise<Date | undefined> {
    // A fixed name: the next run removes the file that a killed run left.
    const path = posix.join(this.#root, `.clock${PART}`);
    const session = await this.#session(signal);
    const found = await this.#do('read the clock of', this.#root, signal, session, statOfNewFile(session, path));
    return found && modifiedOf(found);
  }

  async isThere({ signal }: CallOptions = {}): Promise<boolean> {
    const session = await this.#session(signal);
    const found = await this.#do('read', this.#root, signal, session, statOf(session, this.#root));
    return found?.isDirectory() ?? false;
  }

  close(): void {
    this.#connection.close();
  }

  #path(key: string): string {
    checkKey(key);
    return posix.join(this.#root, key);
  }

  async #session(signal: AbortSignal | undefined): Promise<SftpSession> {
    signal?.throwIfAborted();
    return unlessAborted(this.#connection.session(), signal);
  }

  async *#files(prefix: string, signal: AbortSignal | undefined): AsyncGenerator<StoredObject> {
    checkPrefix(prefix);
    const directory = prefix.slice(0, Math.max(0, prefix.lastIndexOf('/')));
    const session = await this.#session(signal);
    const files = walk(session, this.#root, directory);
    const path = posix.join(this.#root, directory);
    for (;;) {
      const next = await this.#do('list', path, signal, session, files.next());
      if (next.done) return;
      const { name, size, modified, isLink } = next.value;
      if (!name.startsWith(prefix)) continue;
      const linkTo = isLink ? await this.#linkTo(session, name, signal) : undefined;
      yield { key: name, size, modified, linkTo };
    }
  }

  async #linkTo(session: SftpSession, key: string, signal: AbortSignal | undefined): Promise<string | undefined> {
    const path = posix.join(this.#root, key);
    const name = await this.#do('read', path, signal, session, besideLink(session, path));
    return name === undefined ? undefined : posix.join(posix.dirname(key), name);
  }

  async *#read(session: SftpSession, handle: Buffer, path: string, size: number): AsyncGenerator<Uint8Array> {
    let read = 0;
    try {
      const explain: Explain = (call) => this.#do('read', path, undefined, session, call);
      for await (const chunk of readAll(session, handle, size, explain)) {
        read += chunk.length;
        yield chunk;
      }
    } finally {
      await closeFile(session, handle).catch(() => {});
    }
    if (read === size) return;
    const message = `${this.url}: ${path} ended after ${read} of ${size} bytes; another process is writing to it`;
    throw new AgentError(ExitCode.storeUnreachable, message);
  }

  /** Runs before the rename, so that an incomplete object never becomes visible. */
  async #checkSize(
    session: SftpSession,
    part: string,
    path: string,
    size: number,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const found = await this.#do('read', path, signal, session, statOf(session, part));
    if (found?.size === size) return;
    const message = `${this.url}: ${path} has ${found?.size ?? 'no'} bytes after ${size} were written; try again`;
    throw new AgentError(ExitCode.storeUnreachable, message);
  }

  /** Adds the file's name to errors of the server. Errors of a body never pass through here. */
  async #do<T>(
    doing: string,
    path: string,
    signal: AbortSignal | undefined,
    session: SftpSession,
    call: Promise<T>,
  ): Promise<T> {
    try {
      return await unlessAborted(call, signal);
    } catch (error) {
      signal?.throwIfAborted();
      const failed = statusOf(error) === Status.failure;
      const volume = failed ? await volumeOf(session, posix.dirname(path), ROOM) : 'unknown';
      throw sftpFault(this.url, doing, path, error, volume);
    }
  }
}

/** Removes the file of a failed put, over a new connection if the old one is lost. */
async function cleanUp(connection: SftpConnection, path: string): Promise<void> {
  const end = new AbortController();
  void removeWithRetries(connection, path, end.signal).finally(() => end.abort());
  await sleep(CLEAN_UP_LIMIT, undefined, { signal: end.signal }).catch(() => {});
  end.abort();
}

async function removeWithRetries(connection: SftpConnection, path: string, end: AbortSignal): Promise<void> {
  while (!end.aborted) {
    try {
      return await removeFile(await connection.session(), path);
    } catch (error) {
      if (!(error instanceof AgentError) || error.exitCode !== ExitCode.storeUnreachable) return;
      await sleep(CLEAN_UP_PAUSE, undefined, { signal: end }).catch(() => {});
    }
  }
}
