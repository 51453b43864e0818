import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../lib/errors.ts';
import type { ApiClient, Query } from './api-client.ts';
import type { KubeObject } from './objects.ts';

export interface InformerOptions<T> {
  readonly client: ApiClient;
  readonly path: string;
  /** Query parameters, for example `labelSelector`. */
  readonly query?: Query;
  /** Requests only the metadata of the objects. */
  readonly metadataOnly?: boolean;
  /** Reduces each object to the parts to keep in memory. Default: the whole object. */
  readonly keep?: (object: T) => T;
  /** Called for every object that is new, changed or deleted (`gone`). */
  readonly onChange: (object: T, gone: boolean) => void;
  /** Called with the reason when listing fails, once per new reason, and with undefined when it works again. */
  readonly onTrouble: (trouble: string | undefined) => void;
  readonly times?: Partial<InformerTimes>;
}

/** Milliseconds. */
export interface InformerTimes {
  /** Pause after the first failure. Doubles with each further one. */
  readonly backoffMin: number;
  readonly backoffMax: number;
  /** How long the server shall keep a watch open. */
  readonly watch: number;
  /** A watch on which nothing arrives for so long, not even a bookmark, counts as dead. */
  readonly silence: number;
}

const defaultTimes: InformerTimes = { backoffMin: 1_000, backoffMax: 15_000, watch: 300_000, silence: 120_000 };

/**
 * Keeps a copy of all objects of a kind: lists them, watches their changes, and lists them again after every failure.
 */
export class Informer<T extends KubeObject> {
  readonly #options: InformerOptions<T>;
  readonly #times: InformerTimes;
  readonly #items = new Map<string, T>();
  #trouble: string | undefined = 'not listed yet';
  #failures = 0;
  /** Number of lists so far. */
  lists = 0;

  constructor(options: InformerOptions<T>) {
    this.#options = options;
    this.#times = { ...defaultTimes, ...options.times };
  }

  get items(): readonly T[] {
    return [...this.#items.values()];
  }

  /** Why the copy may be outdated; undefined if it is current. */
  get trouble(): string | undefined {
    return this.#trouble;
  }

  /** Runs until the signal is aborted. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        let version = await this.#list(signal);
        for (;;) version = await this.#watch(version, signal);
      } catch {
        if (signal.aborted) return;
        await this.#backOff(signal);
      }
    }
  }

  async #list(signal: AbortSignal): Promise<string> {
    const { client, path, query, metadataOnly = false, onChange } = this.#options;
    const listing = client.list<T>(path, query, { signal, metadataOnly });
    const { items, resourceVersion } = await listing.catch((error: unknown) => {
      if (!signal.aborted) this.#report(messageOf(error));
      throw error;
    });
    this.lists++;
    this.#report(undefined);
    const names = new Set(items.map(({ metadata }) => metadata.name));
    const gone = this.items.filter(({ metadata }) => !names.has(metadata.name));
    for (const item of gone) {
      this.#items.delete(item.metadata.name);
      onChange(item, true);
    }
    for (const item of items) this.#keep(item);
    return resourceVersion;
  }

  /** Watches until the server ends the watch. Returns the resource version to continue from. */
  async #watch(from: string, signal: AbortSignal): Promise<string> {
    const { client, path, query, metadataOnly = false } = this.#options;
    const { watch, silence } = this.#times;
    const asked: Query = {
      ...query,
      resourceVersion: from,
      allowWatchBookmarks: 'true',
      timeoutSeconds: Math.ceil(watch / 1000),
    };
    let version = from;
    for await (const { type, object } of client.watch<T>(path, asked, silence, { signal, metadataOnly })) {
      this.#failures = 0;
      version = object.metadata.resourceVersion;
      if (type === 'DELETED') {
        this.#items.delete(object.metadata.name);
        this.#options.onChange(object, true);
      } else if (type !== 'BOOKMARK') this.#keep(object);
    }
    // Pause if the watch brought nothing: the server may end every watch at once.
    if (version === from) await pause(this.#times.backoffMin, signal);
    return version;
  }

  #keep(item: T): void {
    const { name, resourceVersion } = item.metadata;
    if (this.#items.get(name)?.metadata.resourceVersion === resourceVersion) return;
    const { keep = (object) => object, onChange } = this.#options;
    const kept = keep(item);
    this.#items.set(name, kept);
    onChange(kept, false);
  }

  #report(trouble: string | undefined): void {
    if (trouble === this.#trouble) return;
    this.#trouble = trouble;
    this.#options.onTrouble(trouble);
  }

  async #backOff(signal: AbortSignal): Promise<void> {
    const { backoffMin, backoffMax } = this.#times;
    const most = Math.min(backoffMin * 2 ** this.#failures, backoffMax);
    this.#failures = Math.min(this.#failures + 1, 16);
    await pause(most * (0.5 + Math.random() / 2), signal);
  }
}

const pause = (ms: number, signal: AbortSignal): Promise<void> => sleep(ms, undefined, { signal }).catch(() => {});
