import { access, constants } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { abortable } from '../../lib/abortable.ts';
import { parseDuration } from '../../lib/duration.ts';
import { AgentError, codeOf, ExitCode } from '../../lib/errors.ts';
import { checkKey, checkPrefix, exists } from '../keys.ts';
import type { CommandSpec } from '../spec.ts';
import type { CallOptions, PutOptions, PutResult, Store, StoredObject } from '../store.ts';
import { commandUrl } from '../url.ts';
import { parseListed, parseTime } from './listing.ts';
import { CommandProcess, type Exit } from './process.ts';
import { credentialFiles, withoutSecrets } from './secrets.ts';

const required = ['put', 'get', 'list', 'stat', 'delete'] as const;
const optional = ['now', 'sweep'] as const;
type Verb = (typeof required)[number] | (typeof optional)[number];

/** Numbers that neither shells nor the usual clients end with; they follow HTTP's 403, 404 and 409. */
const Said = { refused: 103, notThere: 104, retained: 109 } as const;

/** The last line of a listing: one that was cut short has none, whatever exit code a pipeline ends with. */
const END = 'end';

/** Manifests and the like: compared by their bytes after they were put. */
const SMALL = 64 * 1024;
const MAX_LINE = 16 * 1024;
const MAX_WORDS = 300;

/** What tests shrink. Milliseconds. */
export interface CommandTuning {
  readonly idleTimeout: number;
  readonly grace: number;
}
const defaults: CommandTuning = { idleTimeout: 60_000, grace: 5_000 };

/** Opens a directory of executables, one per verb; fails when one of them is missing. */
export async function openCommand(spec: CommandSpec, tuning: Partial<CommandTuning> = {}): Promise<Store> {
  const path = resolve(spec.path);
  const idleTimeout = spec.idleTimeout && parseDuration(spec.idleTimeout, 'command.idleTimeout');
  for (const verb of required) await isExecutable(path, verb);
  const extra = await Promise.all(optional.map((verb) => isExecutable(path, verb, true)));
  if (spec.credentialsDirectory) await credentialFiles(spec.credentialsDirectory);
  const verbs = new Set<Verb>([...required, ...optional.filter((_, index) => extra[index])]);
  return new CommandStore(path, spec, verbs, { ...defaults, ...(idleTimeout && { idleTimeout }), ...tuning });
}

async function isExecutable(directory: string, verb: Verb, mayMiss = false): Promise<boolean> {
  const path = join(directory, verb);
  try {
    await access(path, constants.X_OK);
    return true;
  } catch (error) {
    const code = codeOf(error);
    if (mayMiss && code === 'ENOENT') return false;
    const remedy = code === 'ENOENT' ? `the store needs ${required.join(', ')}` : 'make it executable';
    throw new AgentError(ExitCode.usage, `command: cannot run ${path} (${code}); ${remedy}`);
  }
}

/** Executables of the user's own: docs/backups/command-store.md is what they have to do. */
class CommandStore implements Store {
  readonly url: string;
  readonly #path: string;
  readonly #spec: CommandSpec;
  readonly #verbs: ReadonlySet<Verb>;
  readonly #tuning: CommandTuning;

  constructor(path: string, spec: CommandSpec, verbs: ReadonlySet<Verb>, tuning: CommandTuning) {
    this.#path = path;
    this.#spec = spec;
    this.#verbs = verbs;
    this.#tuning = tuning;
    this.url = commandUrl(path);
  }

  async put(key: string, body: AsyncIterable<Uint8Array>, { signal, onlyNew }: PutOptions = {}): Promise<PutResult> {
    checkKey(key);
    signal?.throwIfAborted();
    if (onlyNew && (await this.stat(key, { signal }))) throw exists(this.url, key);
    const run = this.#start('put', [key], signal);
    const copy: Uint8Array[] = [];
    try {
      const { exit, bytes } = await run.feed(copyStart(body, copy));
      if (exit.code !== 0) throw await this.#fault('put', key, run, exit);
      await this.#checkStored(key, bytes, Buffer.concat(copy), signal);
      return {};
    } catch (error) {
      signal?.throwIfAborted();
      throw error;
    }
  }

  async get(key: string, options: CallOptions = {}): Promise<AsyncIterable<Uint8Array>> {
    const found = await this.stat(key, options);
    if (!found) throw this.#hasNo(key);
    return abortable(this.#read(found, options.signal), options.signal);
  }

  async *list(prefix: string, { signal }: CallOptions = {}): AsyncGenerator<StoredObject> {
    checkPrefix(prefix);
    let ended = false;
    for await (const line of this.#lines('list', [prefix], signal)) {
      const object = ended ? undefined : parseListed(line);
      ended ||= line === END;
      if (!object && line !== END) throw this.#garbage('list', line);
      if (object?.key.startsWith(prefix)) yield object;
    }
    if (ended) return;
    const message = `${this.url}: list ${prefix} ended without the line "${END}", so objects may be missing`;
    throw new AgentError(
      ExitCode.storeUnreachable,
      `${message}; print it after the last object, and only when all were printed`,
    );
  }

  async stat(key: string, { signal }: CallOptions = {}): Promise<StoredObject | undefined> {
    checkKey(key);
    const { code, lines } = await this.#call('stat', [key], signal, [Said.notThere]);
    if (code === Said.notThere) return undefined;
    const object = lines.length === 1 ? parseListed(lines[0]!) : undefined;
    if (object?.key !== key) throw this.#garbage('stat', lines[0] ?? '');
    return object;
  }

  async delete(key: string, { signal }: CallOptions = {}): Promise<'deleted' | 'retained'> {
    checkKey(key);
    const { code } = await this.#call('delete', [key], signal, [Said.notThere, Said.retained]);
    return code === Said.retained ? 'retained' : 'deleted';
  }

  async sweep(prefix: string, age: number, { signal }: CallOptions = {}): Promise<number> {
    checkPrefix(prefix);
    if (!this.#verbs.has('sweep')) return 0;
    return (await this.#call('sweep', [prefix, String(Math.ceil(age / 1000))], signal)).lines.length;
  }

  async now({ signal }: CallOptions = {}): Promise<Date | undefined> {
    if (!this.#verbs.has('now')) return undefined;
    const { lines } = await this.#call('now', [], signal);
    const now = parseTime(lines[0] ?? '');
    if (!now) throw this.#garbage('now', lines[0] ?? '');
    return now;
  }

  close(): void {}

  #start(verb: Verb, args: readonly string[], signal: AbortSignal | undefined): CommandProcess {
    if (args[0]?.startsWith('-')) {
      const message = `${this.url}: the key ${JSON.stringify(args[0])} begins with '-', as options do; use another one`;
      throw new AgentError(ExitCode.usage, message);
    }
    return new CommandProcess({
      program: join(this.#path, verb),
      args,
      env: this.#environment(),
      takesBody: verb === 'put',
      ...this.#tuning,
      what: `${this.url}: ${[verb, args[0]].join(' ').trim()}`,
      signal,
    });
  }

  #environment(): Record<string, string> {
    const { env, credentialsDirectory } = this.#spec;
    const { PATH, HOME, TMPDIR } = process.env;
    const own = Object.entries({ PATH, HOME, TMPDIR, ...env, CREDENTIALS_DIRECTORY: credentialsDirectory });
    return Object.fromEntries(own.filter((entry): entry is [string, string] => entry[1] !== undefined));
  }

  /** A script may say that all went well when it did not: what begins as ours and is shorter was cut. */
  async #checkStored(key: string, bytes: number, start: Buffer, signal: AbortSignal | undefined): Promise<void> {
    const what = `${this.url}: put ${key} ended with 0, but`;
    const found = await this.stat(key, { signal });
    if (!found) throw new AgentError(ExitCode.storeUnreachable, `${what} it is not there`);
    if (found.size > bytes || (found.size === bytes && bytes > SMALL)) return;
    const stored = await firstBytes(this.#read(found, signal), start.length);
    if (found.size === bytes) {
      if (stored.equals(start)) return;
      throw new AgentError(ExitCode.storeUnreachable, `${what} other bytes are there`);
    }
    // Another run's, of the same key at the same time.
    if (!start.subarray(0, stored.length).equals(stored)) return;
    await this.delete(key).catch(() => {});
    throw new AgentError(ExitCode.storeUnreachable, `${what} only ${found.size} of ${bytes} bytes are there`);
  }

  async *#read({ key, size }: StoredObject, signal: AbortSignal | undefined): AsyncGenerator<Uint8Array> {
    signal?.throwIfAborted();
    const run = this.#start('get', [key], signal);
    let read = 0;
    for await (const chunk of run.output()) {
      read += chunk.length;
      if (read > size) break;
      yield chunk;
    }
    if (read <= size) {
      const exit = await run.ended();
      if (exit.code === Said.notThere) throw this.#hasNo(key);
      if (exit.code !== 0) throw await this.#fault('get', key, run, exit);
    }
    if (read === size) return;
    const got = read > size ? 'more than' : `${read} of`;
    throw new AgentError(ExitCode.storeUnreachable, `${this.url}: get ${key} gave ${got} ${size} bytes`);
  }

  /** The lines of a verb's output; fails unless it ends with 0 or one of the `allowed` codes, which it returns. */
  async *#lines(
    verb: Verb,
    args: readonly string[],
    signal: AbortSignal | undefined,
    allowed: readonly number[] = [],
  ): AsyncGenerator<string, number> {
    signal?.throwIfAborted();
    const run = this.#start(verb, args, signal);
    const decoder = new TextDecoder();
    let rest = '';
    for await (const chunk of run.output()) {
      const pieces = (rest + decoder.decode(chunk, { stream: true })).split('\n');
      rest = pieces.pop()!;
      yield* pieces;
      if (rest.length > MAX_LINE) throw this.#garbage(verb, rest);
    }
    const exit = await run.ended();
    if (exit.code !== 0 && !allowed.includes(exit.code ?? -1)) throw await this.#fault(verb, args[0] ?? '', run, exit);
    // A line without an end may be half of one.
    if (rest !== '') throw this.#garbage(verb, rest);
    return exit.code!;
  }

  async #call(
    verb: Verb,
    args: readonly string[],
    signal: AbortSignal | undefined,
    allowed?: readonly number[],
  ): Promise<{ code: number; lines: string[] }> {
    const output = this.#lines(verb, args, signal, allowed);
    const lines: string[] = [];
    for (;;) {
      const next = await output.next();
      if (next.done) return { code: next.value, lines };
      lines.push(next.value);
    }
  }

  async #fault(verb: Verb, arg: string, run: CommandProcess, { code, signal }: Exit): Promise<AgentError> {
    const said = printable(await withoutSecrets(run.lastWords, this.#spec.credentialsDirectory));
    const call = `${this.url}: ${[verb, arg].join(' ').trim()}`;
    const words = said || 'it wrote nothing to stderr';
    if (code === Said.refused) return new AgentError(ExitCode.storeRefused, `${call} was refused: ${words}`);
    const odd = Object.values<number>(Said).includes(code ?? -1);
    const how = signal ? `was killed by ${signal}` : `ended with exit code ${code}`;
    return new AgentError(odd ? ExitCode.storeRefused : ExitCode.storeUnreachable, `${call} ${how}: ${words}`);
  }

  #garbage(verb: Verb, line: string): AgentError {
    const wanted =
      verb === 'now'
        ? 'one line like 2026-11-21T02:38:07Z'
        : `lines of size, time and key with tabs between${verb === 'list' ? `, and then "${END}"` : ''}`;
    const got = line === '' ? 'nothing' : JSON.stringify(printable(line).slice(0, 80));
    return new AgentError(ExitCode.storeRefused, `${this.url}: ${verb} printed ${got}; it has to print ${wanted}`);
  }

  #hasNo(key: string): AgentError {
    return new AgentError(ExitCode.nothingThere, `${this.url} has no ${key}`);
  }
}

/** Passes a body on, and keeps a copy of its start: all of it when it is small. */
async function* copyStart(body: AsyncIterable<Uint8Array>, copy: Uint8Array[]): AsyncGenerator<Uint8Array> {
  let room = SMALL;
  for await (const chunk of body) {
    if (room > 0) copy.push(Uint8Array.from(chunk.subarray(0, room)));
    room -= Math.min(room, chunk.length);
    yield chunk;
  }
}

async function firstBytes(body: AsyncIterable<Uint8Array>, count: number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let read = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    read += chunk.length;
    if (read >= count) break;
  }
  return Buffer.concat(chunks).subarray(0, count);
}

const printable = (text: string) =>
  text
    .replaceAll(/\p{Cc}/gu, ' ')
    .slice(0, MAX_WORDS)
    .trim();
