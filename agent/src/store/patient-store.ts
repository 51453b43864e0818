import { AgentError, ExitCode } from '../lib/errors.ts';
import { type Budget, LONGEST } from '../lib/limits/budget.ts';
import type { Call } from '../lib/limits/timed-out-error.ts';
import { unlessAborted } from '../lib/limits/unless-aborted.ts';
import type { CallOptions, PutOptions, PutResult, Store, StoredObject, Unfinished } from './store.ts';

/** Longest time in milliseconds without a sign of life from a store. */
export const IDLE_TIMEOUT = 60_000;
/** Milliseconds per byte that a store may take to finish an object after it has received all bytes: 5 MiB a second. */
const FINISHING = 1000 / (5 * 1024 * 1024);

interface Patience {
  /** The run, whose error names this store if the time is up while the store owes an answer. */
  readonly budget?: Budget | undefined;
  /** Longest time in milliseconds without a sign of life. May change during a call. Default: that of the run. */
  readonly idle?: (() => number) | undefined;
}

/**
 * Applies patience to every call of a store. Abandons a store that gives no sign of life for too long, wherever it hangs: while
 * it is opened, in a transfer, before an answer. The time in which the store waits for the caller does not count. All later
 * calls to an abandoned store fail at once, because a caller that can do without one answer must not wait for the next. The
 * first call opens the store.
 */
export class PatientStore implements Store {
  readonly url: string;
  readonly budget: Budget | undefined;
  links?: Store['links'];
  readonly #open: () => Promise<Store>;
  readonly #idle: Patience['idle'];
  /** Aborted when the store is abandoned. */
  readonly #abandoned: AbortController | undefined;
  #opened: Promise<Store> | undefined;

  constructor(url: string, open: () => Promise<Store>, { budget, idle }: Patience) {
    this.url = url;
    this.budget = budget;
    this.#open = open;
    this.#idle = idle;
    this.#abandoned = idle && new AbortController();
  }

  /** The same store with a patience of its own: if that ends, only this view of the store is abandoned. */
  static of(store: Store, idle: () => number): PatientStore {
    const open = async () => (store instanceof PatientStore ? store.open() : store);
    return new PatientStore(store.url, open, { budget: store.budget, idle });
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

  list(prefix: string, options: CallOptions = {}): AsyncGenerator<StoredObject> {
    return this.#each(prefix, options, (store, within) => store.list(prefix, within));
  }

  unfinished(prefix: string, options: CallOptions = {}): AsyncGenerator<Unfinished> {
    return this.#each(prefix, options, (store, within) => store.unfinished?.(prefix, within));
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
    const store = await watch.until(this.open());
    watch.isPatient = true;
    return watch.until(store.now(options));
  }

  isThere(options: CallOptions = {}): Promise<boolean> {
    return this.#call('stat', options, async (store, within) => (await store.isThere?.(within)) ?? true);
  }

  open(): Promise<Store> {
    this.#opened ??= this.#open().then((store) => {
      if (store.links)
        this.links = (prefix, options = {}) => this.#each(prefix, options, () => store.links!(prefix, options));
      return store;
    });
    return this.#opened;
  }

  close(): void {
    this.#opened?.then(
      (store) => store.close(),
      () => {},
    );
  }

  async #with<T>(call: (store: Store) => Promise<T>): Promise<T> {
    return call(await this.open());
  }

  async #call<T>(
    what: string,
    options: CallOptions,
    call: (store: Store, within: CallOptions) => Promise<T>,
  ): Promise<T> {
    const watch = this.#watch(what, options);
    return watch.until(this.#with((store) => call(store, { ...options, signal: watch.signal })));
  }

  async *#each<T>(
    prefix: string,
    options: CallOptions,
    call: (store: Store, within: CallOptions) => AsyncIterable<T> | undefined,
  ): AsyncGenerator<T> {
    const watch = this.#watch(`list ${prefix}`, options);
    const found = call(await watch.until(this.open()), { ...options, signal: watch.signal });
    if (found) yield* watch.each(found);
  }

  #watch(what: string, { signal }: CallOptions): Watch {
    signal?.throwIfAborted();
    this.#abandoned?.signal.throwIfAborted();
    return new Watch({ url: this.url, what }, { budget: this.budget, idle: this.#idle }, this.#abandoned, signal);
  }
}

/** Watches one call for signs of life. */
class Watch {
  /** Ends the call: aborted by the caller, or because the store is abandoned. */
  readonly signal: AbortSignal | undefined;
  /** Whether the call may take as long as the run. */
  isPatient = false;
  readonly #call: Call;
  readonly #patience: Patience;
  /** Shared by all calls of the store, so that they end together. */
  readonly #abandoned: AbortController | undefined;
  #timer: NodeJS.Timeout | undefined;
  #ended = false;

  constructor(call: Call, patience: Patience, abandoned: AbortController | undefined, outer: AbortSignal | undefined) {
    this.#call = call;
    this.#patience = patience;
    this.#abandoned = abandoned;
    this.signal = outer && abandoned ? AbortSignal.any([outer, abandoned.signal]) : (outer ?? abandoned?.signal);
  }

  /** Waits for the store. If the caller aborts, also waits until the store has cleaned up. */
  async until<T>(answer: Promise<T>): Promise<T> {
    this.#start();
    try {
      return await unlessAborted(answer, this.#abandoned?.signal);
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
      if (!this.#abandoned?.signal.aborted) await closing;
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
    if (this.#ended) return;
    const { budget, idle } = this.#patience;
    budget?.owed.add(this.#call);
    if (!idle || this.isPatient || this.#abandoned?.signal.aborted) return;
    const time = idle() + more;
    if (time <= LONGEST) this.#timer = setTimeout(() => this.#abandon(time), time);
  }

  #stop(): void {
    clearTimeout(this.#timer);
    this.#patience.budget?.owed.delete(this.#call);
  }

  #abandon(time: number): void {
    const { url, what } = this.#call;
    const message = `${url}: ${what}: no sign of life for ${Math.round(time / 1000)} s; check that the store responds`;
    this.#abandoned?.abort(new AgentError(ExitCode.storeUnreachable, message));
  }
}
