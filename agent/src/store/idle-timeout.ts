import { AgentError, ExitCode } from '../lib/errors.ts';
import { isTimeout } from '../lib/limits/run-limit.ts';
import { unlessAborted } from '../lib/limits/unless-aborted.ts';
import type { CallOptions, PutOptions, PutResult, Store, StoredObject, Unfinished } from './store.ts';

/** Longest time in milliseconds without a sign of life from a store. */
export const IDLE_TIMEOUT = 60_000;

/**
 * Milliseconds that one of several stores may keep a run waiting, so that all stores but one can hang and together use
 * at most half of the run's time limit. Unlimited for a single store.
 */
export const idleTimeoutFor = (stores: number, limit = Number.POSITIVE_INFINITY): number =>
  stores < 2 ? Number.POSITIVE_INFINITY : limit / (2 * (stores - 1));

/** Milliseconds per byte that a store may take to finish an object after it has received all bytes: 5 MiB a second. */
const FINISHING = 1000 / (5 * 1024 * 1024);
/** Largest delay that setTimeout accepts. */
const LONGEST = 2 ** 31 - 1;

/**
 * Abandons a store that shows no sign of life for the idle time-out, wherever it hangs: while it is opened, in a
 * transfer, before an answer. The time in which the store waits for the caller does not count. All later calls to an
 * abandoned store fail at once, because a caller that can do without one answer must not wait for the next. The first
 * call opens the store.
 */
export class IdleTimeoutStore implements Store {
  readonly url: string;
  readonly #open: () => Promise<Store>;
  /** Milliseconds. May change during a call. */
  readonly #idleTimeout: () => number;
  /** Aborted when the store is abandoned. */
  readonly #abandoned = new AbortController();
  #opened: Promise<Store> | undefined;
  #waitingFor: string | undefined;

  constructor(url: string, open: () => Promise<Store>, idleTimeout: () => number) {
    this.url = url;
    this.#open = open;
    this.#idleTimeout = idleTimeout;
  }

  get waitingFor(): string | undefined {
    return this.#waitingFor;
  }

  async put(key: string, body: AsyncIterable<Uint8Array>, options: PutOptions = {}): Promise<PutResult> {
    const watch = this.#watch(`put ${key}`, options);
    const put = this.#with((store) => store.put(key, watch.feed(body), { ...options, signal: watch.signal }));
    return watch.until(put).finally(() => watch.end());
  }

  async get(key: string, options: CallOptions = {}): Promise<AsyncIterable<Uint8Array>> {
    const watch = this.#watch(`get ${key}`, options);
    const body = await watch.until(this.#with((store) => store.get(key, { ...options, signal: watch.signal })));
    return watch.each(body);
  }

  async *list(prefix: string, options: CallOptions = {}): AsyncGenerator<StoredObject> {
    const watch = this.#watch(`list ${prefix}`, options);
    const store = await watch.until(this.#store());
    yield* watch.each(store.list(prefix, { ...options, signal: watch.signal }));
  }

  async *unfinished(prefix: string, options: CallOptions = {}): AsyncGenerator<Unfinished> {
    const watch = this.#watch(`list ${prefix}`, options);
    const store = await watch.until(this.#store());
    if (store.unfinished) yield* watch.each(store.unfinished(prefix, { ...options, signal: watch.signal }));
  }

  stat(key: string, options: CallOptions = {}): Promise<StoredObject | undefined> {
    return this.#call(`stat ${key}`, options, (store, within) => store.stat(key, within));
  }

  delete(key: string, options: CallOptions = {}): Promise<'deleted' | 'retained'> {
    return this.#call(`delete ${key}`, options, (store, within) => store.delete(key, within));
  }

  isRetained(key: string, options: CallOptions = {}): Promise<boolean> {
    return this.#call(
      `stat ${key}`,
      options,
      async (store, within) => (await store.isRetained?.(key, within)) ?? false,
    );
  }

  sweep(prefix: string, age: number, options: CallOptions = {}): Promise<number> {
    return this.#call(`sweep ${prefix}`, options, (store, within) => store.sweep(prefix, age, within));
  }

  /** A clock that hangs says nothing about the rest of the store, and its wait has a limit of its own. */
  async now(options: CallOptions = {}): Promise<Date | undefined> {
    const watch = this.#watch('now', options);
    const store = await watch.until(this.#store());
    watch.end();
    return watch.until(store.now(options));
  }

  isThere(options: CallOptions = {}): Promise<boolean> {
    return this.#call('stat', options, async (store, within) => (await store.isThere?.(within)) ?? true);
  }

  unlimited(): Promise<Store> {
    return this.#store();
  }

  close(): void {
    this.#opened?.then(
      (store) => store.close(),
      () => {},
    );
  }

  #store(): Promise<Store> {
    this.#opened ??= this.#open();
    return this.#opened;
  }

  async #with<T>(call: (store: Store) => Promise<T>): Promise<T> {
    return call(await this.#store());
  }

  async #call<T>(
    what: string,
    options: CallOptions,
    call: (store: Store, within: CallOptions) => Promise<T>,
  ): Promise<T> {
    const watch = this.#watch(what, options);
    return watch.until(this.#with((store) => call(store, { ...options, signal: watch.signal })));
  }

  #watch(what: string, { signal }: CallOptions): Watch {
    signal?.throwIfAborted();
    this.#abandoned.signal.throwIfAborted();
    const watch = new Watch(`${this.url}: ${what}`, this.#idleTimeout, this.#abandoned, signal);
    watch.onTimeout = () => {
      this.#waitingFor ??= what;
    };
    return watch;
  }
}

/** Watches one call for signs of life. */
class Watch {
  /** Ends the call: aborted by the caller, or because the store is abandoned. */
  readonly signal: AbortSignal;
  /** Called if the time limit of the run was reached during the call. */
  onTimeout = () => {};
  readonly #outer: AbortSignal | undefined;
  readonly #what: string;
  readonly #idleTimeout: () => number;
  /** Shared by all calls of the store, so that they end together. */
  readonly #abandoned: AbortController;
  #timer: NodeJS.Timeout | undefined;
  #ended = false;

  constructor(what: string, idleTimeout: () => number, abandoned: AbortController, outer: AbortSignal | undefined) {
    this.#what = what;
    this.#idleTimeout = idleTimeout;
    this.#abandoned = abandoned;
    this.#outer = outer;
    this.signal = outer ? AbortSignal.any([outer, abandoned.signal]) : abandoned.signal;
  }

  /** Waits for the store. If the caller aborts, also waits until the store has cleaned up. */
  async until<T>(call: Promise<T>): Promise<T> {
    this.#start();
    try {
      return await unlessAborted(call, this.#abandoned.signal);
    } catch (error) {
      if (this.#outer && isTimeout(this.#outer)) this.onTimeout();
      throw error;
    } finally {
      this.#stop();
    }
  }

  /** Owes no sign of life any more. The body of a put may still be closing when that has ended. */
  end(): void {
    this.#ended = true;
    this.#stop();
  }

  async *each<T>(source: AsyncIterable<T>): AsyncGenerator<T> {
    const iterator = source[Symbol.asyncIterator]();
    let ended = false;
    try {
      for (;;) {
        const next = await this.until(iterator.next());
        ended = next.done === true;
        if (next.done) return;
        yield next.value;
      }
    } finally {
      const closing = ended ? undefined : iterator.return?.();
      if (!this.#abandoned.signal.aborted) await closing;
    }
  }

  /** Passes a body to a put. While the source is being read, the store owes no sign of life. */
  async *feed(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    let bytes = 0;
    this.#stop();
    try {
      for await (const chunk of body) {
        bytes += chunk.length;
        this.#start();
        yield chunk;
        this.#stop();
      }
    } finally {
      this.#start(bytes * FINISHING);
    }
  }

  #start(more = 0): void {
    this.#stop();
    const timeout = this.#idleTimeout() + more;
    if (this.#ended || timeout > LONGEST || this.#abandoned.signal.aborted) return;
    this.#timer = setTimeout(() => this.#abandon(timeout), timeout);
  }

  #stop(): void {
    clearTimeout(this.#timer);
  }

  #abandon(timeout: number): void {
    const message = `${this.#what}: no sign of life for ${Math.round(timeout / 1000)} s; check that the store responds`;
    this.#abandoned.abort(new AgentError(ExitCode.storeUnreachable, message));
  }
}
