import { type ChildProcess, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { AgentError, codeOf, ExitCode, usageError } from '../../lib/errors.ts';
import { abortable } from '../../lib/limits/abortable.ts';
import { garbageCounter } from '../../lib/memory.ts';

export interface CommandOptions {
  readonly program: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** True if the process reads the object from stdin. Otherwise it writes to stdout. */
  readonly takesBody: boolean;
  /** Longest time in milliseconds to wait for the process without a sign of life. */
  readonly idleTimeout: number;
  /** Milliseconds between SIGTERM and SIGKILL. */
  readonly grace: number;
  /** Start of every error message. */
  readonly what: string;
  readonly signal: AbortSignal | undefined;
}

export interface ScriptEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** Number of characters of stderr that are kept. */
const STDERR_KEPT = 4096;
/** Milliseconds to wait for the rest of stderr after a process has failed. */
const STDERR_GRACE = 500;

/** One run of an executable, in its own process group: stopping it also stops the processes that it has started. */
export class CommandProcess {
  readonly #options: CommandOptions;
  readonly #child: ChildProcess;
  readonly #gone: Promise<void>;
  readonly #watchdog: NodeJS.Timeout;
  #exit: ScriptEnd | undefined;
  #failure: unknown;
  #stopping: Promise<void> | undefined;
  #waiting = false;
  #stderr = '';

  constructor(options: CommandOptions) {
    const { program, args, env, takesBody, signal } = options;
    this.#options = options;
    // Descriptor 3 signals to a put that the body is complete. The end of stdin does not: it also comes if the agent is
    // killed.
    const stdio = takesBody ? (['pipe', 'ignore', 'pipe', 'pipe'] as const) : (['ignore', 'pipe', 'pipe'] as const);
    try {
      this.#child = spawn(program, args, { env, cwd: '/', detached: true, stdio: [...stdio] });
    } catch (error) {
      throw spawnFault(options, error);
    }
    // unref: the child process already keeps the agent running as long as there is something to watch.
    this.#watchdog = setTimeout(() => this.#whenIdle(), options.idleTimeout).unref();
    this.#gone = this.#untilGone();
    this.#collect(this.#child.stderr!);
    // A failed write is reported by its callback or by the exit code.
    for (const stream of this.#child.stdio) stream?.on('error', () => {});
    const onAbort = () => this.#fail(signal!.reason);
    signal?.addEventListener('abort', onAbort);
    void this.#gone.then(() => signal?.removeEventListener('abort', onAbort));
    if (signal?.aborted) onAbort();
  }

  /**
   * Writes the body to stdin, signals that it is complete, and waits for the process to end. Returns the number of
   * bytes.
   */
  async feed(body: AsyncIterable<Uint8Array>): Promise<{ exit: ScriptEnd; bytes: number }> {
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
        if (!(await this.#waitFor(() => write(stdin, chunk)))) throw early;
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

  /** Yields what the process writes to stdout. The caller must then wait for `ended`. */
  async *output(): AsyncGenerator<Buffer> {
    const chunks: AsyncIterator<Buffer> = this.#child.stdout![Symbol.asyncIterator]();
    const passed = garbageCounter();
    let ended = false;
    try {
      for (;;) {
        const next = await this.#waitFor(() => chunks.next());
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

  /** Waits until the process has ended by itself. */
  async ended(): Promise<ScriptEnd> {
    await this.#waitFor(() => this.#gone);
    await this.#stopping;
    if (this.#failure !== undefined) throw this.#failure;
    const exit = this.#exit!;
    if (exit.code !== 0) await Promise.race([closed(this.#child.stderr!), pause(STDERR_GRACE)]);
    // A process that it has left behind may still hold stderr open.
    this.#child.stderr!.destroy();
    return exit;
  }

  /** The last line that the process has written to stderr. */
  get lastErrorLine(): string {
    return this.#stderr.trimEnd().split('\n').at(-1)!.trim();
  }

  /** Sends SIGTERM to the process group, and SIGKILL after the grace period. Resolves when the process is gone. */
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
      // The process group no longer exists.
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
      // Node also emits this event if a signal could not be sent.
      if (this.#child.pid !== undefined) return;
      this.#failure ??= spawnFault(this.#options, error);
      resolve();
    });
    await promise;
  }

  #collect(stderr: Readable): void {
    stderr.setEncoding('utf8').on('data', (text: string) => {
      this.#watchdog.refresh();
      this.#stderr = (this.#stderr + text).slice(-STDERR_KEPT);
    });
  }

  /** Waits for the process. Only this time counts as idle. */
  async #waitFor<T>(work: () => Promise<T>): Promise<T> {
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
    const remedy = 'find out what it waits for, let it write to stderr meanwhile, or raise idleTimeout';
    const message = `${what} showed no sign of life for ${idleTimeout / 1000} s; ${remedy}`;
    this.#fail(new AgentError(ExitCode.storeUnreachable, message));
  }
}

/** Resolves to false if the process no longer reads. */
function write(stream: Writable, chunk: Uint8Array): Promise<boolean> {
  return new Promise((resolve) => stream.write(chunk, (error) => resolve(!error)));
}

const closed = (stream: Readable) =>
  new Promise<void>((resolve) => (stream.closed || stream.readableEnded ? resolve() : stream.once('close', resolve)));

const pause = (milliseconds: number) => new Promise<void>((resolve) => setTimeout(resolve, milliseconds).unref());

function spawnFault({ what }: CommandOptions, error: unknown): AgentError {
  const code = codeOf(error) ?? 'an unknown error';
  const remedies: Record<string, string> = {
    ENOENT: 'the program in its first line is missing in the image',
    EACCES: 'make it executable',
  };
  const remedy = remedies[code] ?? 'try to start it by hand';
  return usageError(`${what} cannot be started (${code}): ${remedy}`);
}
