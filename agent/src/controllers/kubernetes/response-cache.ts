/** How long a response is valid without a change, in ms. */
const longest = 600_000;

interface Entry {
  readonly at: number;
  readonly response: unknown;
}

/**
 * Caches the API server's responses about one cluster until a watch reports a change. Cached responses are good enough to find
 * that there is nothing to do. Before any action, `again` forces an observation without the cache.
 */
export class ResponseCache {
  readonly #isWatched: () => boolean;
  readonly #entries = new Map<string, Entry>();
  /** Counts changes: a response must not be cached if a change was reported during the request. */
  #changes = 0;
  #used = false;

  /** `isWatched` returns true while watches report every change. */
  constructor(isWatched: () => boolean) {
    this.#isWatched = isWatched;
  }

  /** Returns the cached response, or fetches a new one. `canCache`: the response changes only with a watched object. */
  async get<T>(resource: string, fetch: () => Promise<T>, canCache: (response: T) => boolean = () => true): Promise<T> {
    const entry = this.#entries.get(resource);
    const at = performance.now();
    if (entry && this.#isWatched() && at - entry.at < longest) {
      this.#used = true;
      return entry.response as T;
    }
    const changes = this.#changes;
    const response = await fetch();
    if (changes === this.#changes && canCache(response)) this.#entries.set(resource, { at, response });
    return response;
  }

  /** Drops the response for a changed resource, or all responses. */
  changed(resource?: string): void {
    this.#changes++;
    if (resource === undefined) this.#entries.clear();
    else this.#entries.delete(resource);
  }

  /** Drops all responses. Returns false if the last observation used none of them. */
  again(): boolean {
    this.changed();
    const used = this.#used;
    this.#used = false;
    return used;
  }
}
