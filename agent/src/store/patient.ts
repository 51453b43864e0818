import { AgentError, ExitCode } from '../lib/errors.ts';
import { unlessAborted } from '../lib/unless-aborted.ts';
import type { CallOptions, PutOptions, PutResult, Store, StoredObject } from './store.ts';

/** Milliseconds without a sign of life. */
export const PATIENCE = 60_000;

/** How long one of several stores may keep a run waiting: all that hang together at most half of the run's time. */
export const patienceFor = (stores: number, limit = Number.POSITIVE_INFINITY): number =>
  stores < 2 ? Number.POSITIVE_INFINITY : limit / (2 * (stores - 1));

/** Milliseconds that a store may take for each byte of an object once it has all of them: 5 MiB a second. */
const FINISHING = 1000 / (5 * 1024 * 1024);
/** What setTimeout takes at most. */
const LONGEST = 2 ** 31 - 1;

/**
 * A store that is given up when it shows no sign of life for as long as our patience lasts, in whatever it hangs: its
 * opening, a transfer, an answer. The time that it waits for us does not count. Given up once it stays given up: a caller
 * that can do without one answer must not wait for the next. It is opened when it is first needed.
 */
export class PatientStore implements Store {
  readonly url: string;
  readonly #open: () => Promise<Store>;
  /** Milliseconds; they may change meanwhile. */
  readonly #patience: () => number;
  /** Aborted when it is given up. */
  readonly #over = new AbortController();
  #opened: Promise<Store> | undefined;

  constructor(url: string, open: () => Promise<Store>, patience: () => number) {
    this.url = url;
    this.#open = open;
    this.#patience = patience;
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

  stat(key: string, options: CallOptions = {}): Promise<StoredObject | undefined> {
    return this.#call(`stat ${key}`, options, (store, within) => store.stat(key, within));
  }

  delete(key: string, options: CallOptions = {}): Promise<'deleted' | 'retained'> {
    return this.#call(`delete ${key}`, options, (store, within) => store.delete(key, within));
  }

  sweep(prefix: string, age: number, options: CallOptions = {}): Promise<number> {
    return this.#call(`sweep ${prefix}`, options, (store, within) => store.sweep(prefix, age, within));
  }

  now(options: CallOptions = {}): Promise<Date | undefined> {
    return this.#call('now', options, (store, within) => store.now(within));
  }

  isThere(options: CallOptions = {}): Promise<boolean> {
    return this.#call('stat', options, async (store, within) => (await store.isThere?.(within)) ?? true);
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
    this.#over.signal.throwIfAborted();
    return new Watch(`${this.url}: ${what}`, this.#patience, this.#over, signal);
  }
}

/** Watches one call. */
class Watch {
  /** Ends the call: the caller's, or the store is given up. */
  readonly signal: AbortSignal;
  readonly #what: string;
  readonly #patience: () => number;
  /** The store's: all of its calls end together. */
  readonly #over: AbortController;
  #timer: NodeJS.Timeout | undefined;
  #ended = false;

  constructor(what: string, patience: () => number, over: AbortController, outer: AbortSignal | undefined) {
    this.#what = what;
    this.#patience = patience;
    this.#over = over;
    this.signal = outer ? AbortSignal.any([outer, over.signal]) : over.signal;
  }

  /** Waits for the store; when the caller ends the call, for what the store does to leave nothing behind, too. */
  async until<T>(call: Promise<T>): Promise<T> {
    this.#start();
    try {
      return await unlessAborted(call, this.#over.signal);
    } finally {
      this.#stop();
    }
  }

  /** The body of a put may still be closing when that has ended. */
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
      if (!this.#over.signal.aborted) await closing;
    }
  }

  /** What a put reads: while it waits for the source, nothing is expected of it. */
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
    const patience = this.#patience() + more;
    if (this.#ended || patience > LONGEST || this.#over.signal.aborted) return;
    this.#timer = setTimeout(() => this.#giveUp(patience), patience);
  }

  #stop(): void {
    clearTimeout(this.#timer);
  }

  #giveUp(patience: number): void {
    const message = `${this.#what}: no sign of life for ${Math.round(patience / 1000)} s; see whether the store answers`;
    this.#over.abort(new AgentError(ExitCode.storeUnreachable, message));
  }
}
