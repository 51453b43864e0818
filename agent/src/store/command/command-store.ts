import { access, constants, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { AgentError, codeOf, ExitCode, usageError } from '../../lib/errors.ts';
import { parseDuration } from '../../lib/input/duration.ts';
import { abortable } from '../../lib/limits/abortable.ts';
import { checkKey, checkPrefix, exists } from '../keys.ts';
import { hideSecrets, secretFiles } from '../secrets.ts';
import type { CommandSpec } from '../spec.ts';
import type { CallOptions, PutOptions, PutResult, Store, StoredObject } from '../store.ts';
import { commandUrl } from '../url.ts';
import { CommandProcess, type ScriptEnd } from './process.ts';

const required = ['put', 'get', 'list', 'stat', 'delete'] as const;
const optional = ['now', 'sweep'] as const;
type Verb = (typeof required)[number] | (typeof optional)[number];

/** Exit codes of a script. Neither shells nor common clients use these numbers. They follow HTTP's 403, 404 and 409. */
const ScriptExit = { refused: 103, notThere: 104, retained: 109 } as const;

/** Last line of a complete listing. The exit code does not prove completeness: a pipeline may hide a failure. */
const END = 'end';

/** Bytes. Objects up to this size, such as manifests, are read back after a put and compared. */
const SMALL = 64 * 1024;
const MAX_LINE = 16 * 1024;
/** Number of characters of a script's output that an error quotes. */
const MAX_QUOTE = 300;

/** Times in milliseconds. Tests use shorter ones. */
export interface CommandTuning {
  readonly idleTimeout: number;
  readonly grace: number;
}
const defaults: CommandTuning = { idleTimeout: 60_000, grace: 5_000 };

/** Opens a directory of executables, one per verb. Throws a usage error if a required one is missing. */
export async function openCommand(spec: CommandSpec, tuning: Partial<CommandTuning> = {}): Promise<Store> {
  const path = resolve(spec.path);
  const idleTimeout = spec.idleTimeout && parseDuration(spec.idleTimeout, 'command.idleTimeout');
  for (const verb of required) await isExecutable(path, verb);
  const extra = await Promise.all(optional.map((verb) => isExecutable(path, verb, true)));
  if (spec.credentialsDirectory) await secretFiles(spec.credentialsDirectory);
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
    throw usageError(`command: cannot run ${path} (${code}); ${remedy}`);
  }
}

/** Executables that the user provides. docs/backups/command-store.md is their contract. */
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
      `${message}; print that line after the last object, and only if all objects were printed`,
    );
  }

  async stat(key: string, { signal }: CallOptions = {}): Promise<StoredObject | undefined> {
    checkKey(key);
    const { code, lines } = await this.#call('stat', [key], signal, [ScriptExit.notThere]);
    if (code === ScriptExit.notThere) return undefined;
    const object = lines.length === 1 ? parseListed(lines[0]!) : undefined;
    if (object?.key !== key) throw this.#garbage('stat', lines[0] ?? '');
    return object;
  }

  async delete(key: string, { signal }: CallOptions = {}): Promise<'deleted' | 'retained'> {
    checkKey(key);
    const { code } = await this.#call('delete', [key], signal, [ScriptExit.notThere, ScriptExit.retained]);
    return code === ScriptExit.retained ? 'retained' : 'deleted';
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
      throw usageError(
        `${this.url}: the key ${JSON.stringify(args[0])} begins with '-', like an option; choose another key`,
      );
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

  /**
   * Detects a put that exits with 0 although it failed: an object with the start of the body that is too short was
   * cut off.
   */
  async #checkStored(key: string, bytes: number, start: Buffer, signal: AbortSignal | undefined): Promise<void> {
    const wrong = (why: string, verbs: string) =>
      new AgentError(
        ExitCode.storeUnreachable,
        `${this.url}: put ${key} ended with 0, but the object ${why}; fix ${verbs} in ${this.#path}`,
      );
    const found = await this.stat(key, { signal });
    if (!found) throw wrong('does not exist', 'put, or stat,');
    if (found.size > bytes || (found.size === bytes && bytes > SMALL)) return;
    const stored = await firstBytes(this.#read(found, signal), start.length);
    if (found.size === bytes) {
      if (stored.equals(start)) return;
      throw wrong('has other bytes', 'put, or get,');
    }
    // The object of another run that wrote the same key at the same time.
    if (!start.subarray(0, stored.length).equals(stored)) return;
    await this.delete(key).catch(() => {});
    throw wrong(`has only ${found.size} of ${bytes} bytes`, 'put, or stat,');
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
      if (exit.code === ScriptExit.notThere) throw this.#hasNo(key);
      if (exit.code !== 0) throw await this.#fault('get', key, run, exit);
    }
    if (read === size) return;
    const got = read > size ? 'more than' : `${read} of`;
    throw new AgentError(ExitCode.storeUnreachable, `${this.url}: get ${key} returned ${got} ${size} bytes`);
  }

  /** Yields the lines of a verb's output and returns the exit code. Throws unless the code is 0 or one of `allowed`. */
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
    // A line without a line break may be incomplete.
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

  async #fault(verb: Verb, arg: string, run: CommandProcess, { code, signal }: ScriptEnd): Promise<AgentError> {
    const line = printable(await withoutSecrets(run.lastErrorLine, this.#spec.credentialsDirectory));
    const call = `${this.url}: ${[verb, arg].join(' ').trim()}`;
    const detail = line || 'it wrote nothing to stderr';
    if (code === ScriptExit.refused) return new AgentError(ExitCode.storeRefused, `${call} was refused: ${detail}`);
    const isMisused = Object.values<number>(ScriptExit).includes(code ?? -1);
    const how = signal ? `was killed by ${signal}` : `ended with exit code ${code}`;
    const exitCode = isMisused ? ExitCode.storeRefused : ExitCode.storeUnreachable;
    return new AgentError(exitCode, `${call} ${how}: ${detail}`);
  }

  #garbage(verb: Verb, line: string): AgentError {
    const wanted =
      verb === 'now'
        ? 'one line like 2026-11-21T02:38:07Z'
        : `lines of size, time and key, separated by tabs${verb === 'list' ? `, and then "${END}"` : ''}`;
    const got = line === '' ? 'nothing' : JSON.stringify(printable(line).slice(0, 80));
    return new AgentError(ExitCode.storeRefused, `${this.url}: ${verb} printed ${got}; it must print ${wanted}`);
  }

  #hasNo(key: string): AgentError {
    return new AgentError(ExitCode.nothingThere, `${this.url} has no ${key}`);
  }
}

/** Passes a body on and copies its first bytes, which are all of it if the body is small. */
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
    .slice(0, MAX_QUOTE)
    .trim();

/** Replaces every line of the Secret's files in a script's output by `***`. */
async function withoutSecrets(text: string, directory: string | undefined): Promise<string> {
  if (!directory) return text;
  const names = await secretFiles(directory).catch(() => []);
  const files = await Promise.all(names.map((name) => readFile(join(directory, name), 'utf8').catch(() => '')));
  return hideSecrets(
    text,
    files.flatMap((file) => file.split(/\s*\n\s*/)),
  );
}

/** Time in RFC 3339. */
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;

/** Parses a line `size<TAB>time<TAB>key`; undefined if it has another form. */
export function parseListed(line: string): StoredObject | undefined {
  const [size = '', time = '', key, more] = line.split('\t');
  const modified = parseTime(time);
  if (!/^\d{1,15}$/.test(size) || !modified || !key || more !== undefined) return undefined;
  return { key, size: Number(size), modified };
}

function parseTime(text: string): Date | undefined {
  const time = new Date(TIME.test(text) ? text : Number.NaN);
  return Number.isNaN(time.getTime()) ? undefined : time;
}
