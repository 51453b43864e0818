import { type ChildProcess, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { abortable } from '../../lib/abortable.ts';
import { AgentError, codeOf, ExitCode } from '../../lib/errors.ts';
import { garbageCounter } from '../../lib/memory.ts';

export interface CommandOptions {
  readonly program: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Whether it reads the object from its stdin; else it writes to its stdout. */
  readonly takesBody: boolean;
  /** Milliseconds that we wait for it without any sign of life. */
  readonly idleTimeout: number;
  /** Milliseconds between SIGTERM and SIGKILL. */
  readonly grace: number;
  /** What begins every message. */
  readonly what: string;
  readonly signal: AbortSignal | undefined;
}

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** What fits into a line of an error. */
const LAST_WORDS = 4096;
/** How long the last words of a failed process may take to arrive. */
const STDERR_GRACE = 500;

/** One run of an executable, the leader of a process group of its own: what it starts ends with it when it is stopped. */
export class CommandProcess {
  readonly #options: CommandOptions;
  readonly #child: ChildProcess;
  readonly #gone: Promise<void>;
  readonly #watchdog: NodeJS.Timeout;
  #exit: Exit | undefined;
  #failure: unknown;
  #stopping: Promise<void> | undefined;
  #waiting = false;
  #stderr = '';

  constructor(options: CommandOptions) {
    const { program, args, env, takesBody, signal } = options;
    this.#options = options;
    // The fourth tells a put that all of the body has come: its stdin ends when we are killed, too.
    const stdio = takesBody ? (['pipe', 'ignore', 'pipe', 'pipe'] as const) : (['ignore', 'pipe', 'pipe'] as const);
    try {
      this.#child = spawn(program, args, { env, cwd: '/', detached: true, stdio: [...stdio] });
    } catch (error) {
      throw spawnFault(options, error);
    }
    // The process itself keeps us alive as long as there is something to watch.
    this.#watchdog = setTimeout(() => this.#whenIdle(), options.idleTimeout).unref();
    this.#gone = this.#untilGone();
    this.#hear(this.#child.stderr!);
    // What fails to be written is told by the write's own callback, or by the exit code.
    for (const stream of this.#child.stdio) stream?.on('error', () => {});
    const onAbort = () => this.#fail(signal!.reason);
    signal?.addEventListener('abort', onAbort);
    void this.#gone.then(() => signal?.removeEventListener('abort', onAbort));
    if (signal?.aborted) onAbort();
  }

  /** Writes the body to its stdin, tells it that this was all, and waits for it to end. Returns the body's bytes. */
  async feed(body: AsyncIterable<Uint8Array>): Promise<{ exit: Exit; bytes: number }> {
    const [stdin, , , whole] = this.#child.stdio as unknown as [Writable, null, Readable, Writable];
    const left = new AbortController();
    const early = new AgentError(
      ExitCode.storeUnreachable,
      `${this.#options.what} ended before it had read everything`,
    );
    void this.#gone.then(() => left.abort(early));
    let bytes = 0;
    try {
      for await (const chunk of abortable(body, left.signal)) {
        if (!(await this.#patiently(() => write(stdin, chunk)))) throw early;
        bytes += chunk.length;
      }
    } catch (error) {
      if (error !== early) {
        await this.stop();
        throw this.#failure ?? error;
      }
      const exit = await this.ended();
      if (exit.code === 0) throw early;
      return { exit, bytes };
    }
    whole.end('whole\n');
    stdin.end();
    return { exit: await this.ended(), bytes };
  }

  /** What it writes to its stdout; it still has to be waited for. */
  async *output(): AsyncGenerator<Buffer> {
    const chunks: AsyncIterator<Buffer> = this.#child.stdout![Symbol.asyncIterator]();
    const passed = garbageCounter();
    let ended = false;
    try {
      for (;;) {
        const next = await this.#patiently(() => chunks.next());
        if (next.done) break;
        passed(next.value.length);
        yield next.value;
      }
      ended = true;
    } catch (error) {
      throw this.#failure ?? error;
    } finally {
      if (!ended) await this.stop();
    }
    await this.#stopping;
    if (this.#failure !== undefined) throw this.#failure;
  }

  /** Waits until it has ended by itself. */
  async ended(): Promise<Exit> {
    await this.#patiently(() => this.#gone);
    await this.#stopping;
    if (this.#failure !== undefined) throw this.#failure;
    const exit = this.#exit!;
    if (exit.code !== 0) await Promise.race([closed(this.#child.stderr!), pause(STDERR_GRACE)]);
    // Something that it left behind may still hold it open.
    this.#child.stderr!.destroy();
    return exit;
  }

  /** The last line that it wrote to stderr. */
  get lastWords(): string {
    return this.#stderr.trimEnd().split('\n').at(-1)!.trim();
  }

  /** SIGTERM to its process group, SIGKILL after the grace period; resolves when it is gone. */
  stop(): Promise<void> {
    this.#stopping ??= this.#stop();
    return this.#stopping;
  }

  async #stop(): Promise<void> {
    this.#kill('SIGTERM');
    await Promise.race([this.#gone, pause(this.#options.grace)]);
    this.#kill('SIGKILL');
    await this.#gone;
    for (const stream of this.#child.stdio) stream?.destroy();
  }

  #kill(signal: NodeJS.Signals): void {
    const { pid } = this.#child;
    if (pid === undefined) return;
    try {
      process.kill(-pid, signal);
    } catch {
      // All of the group are gone.
    }
  }

  #fail(reason: unknown): void {
    this.#failure ??= reason;
    void this.stop();
  }

  async #untilGone(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#child.once('exit', (code, signal) => {
      this.#exit = { code, signal };
      resolve();
    });
    this.#child.once('error', (error) => {
      // Also what only failed to be killed comes here.
      if (this.#child.pid !== undefined) return;
      this.#failure ??= spawnFault(this.#options, error);
      resolve();
    });
    await promise;
  }

  #hear(stderr: Readable): void {
    stderr.setEncoding('utf8').on('data', (text: string) => {
      this.#watchdog.refresh();
      this.#stderr = (this.#stderr + text).slice(-LAST_WORDS);
    });
  }

  /** Waits for the process: the only time that counts as idle. */
  async #patiently<T>(work: () => Promise<T>): Promise<T> {
    this.#waiting = true;
    this.#watchdog.refresh();
    try {
      return await work();
    } finally {
      this.#waiting = false;
    }
  }

  #whenIdle(): void {
    if (!this.#waiting) return;
    const { what, idleTimeout } = this.#options;
    const remedy = 'see what it waits for, write to stderr meanwhile, or raise idleTimeout';
    const message = `${what} showed no sign of life for ${idleTimeout / 1000} s; ${remedy}`;
    this.#fail(new AgentError(ExitCode.storeUnreachable, message));
  }
}

/** False when nobody reads any more. */
function write(stream: Writable, chunk: Uint8Array): Promise<boolean> {
  return new Promise((resolve) => stream.write(chunk, (error) => resolve(!error)));
}

const closed = (stream: Readable) =>
  new Promise<void>((resolve) => (stream.closed || stream.readableEnded ? resolve() : stream.once('close', resolve)));

const pause = (milliseconds: number) => new Promise<void>((resolve) => setTimeout(resolve, milliseconds).unref());

function spawnFault({ what }: CommandOptions, error: unknown): AgentError {
  const code = codeOf(error) ?? 'an unknown error';
  const remedies: Record<string, string> = {
    ENOENT: 'the program that its first line names is missing in the image',
    EACCES: 'make it executable',
  };
  const remedy = remedies[code] ?? 'see whether it can be started at all';
  return new AgentError(ExitCode.usage, `${what} cannot be started (${code}): ${remedy}`);
}
