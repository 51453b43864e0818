import { setTimeout as sleep } from 'node:timers/promises';
import { KvClient, type Target } from './kv-client.ts';
import { type Header, type KeyValue, watch, watchAnswer } from './kv-messages.ts';

export interface Seen extends KeyValue {
  readonly clusterId: string;
}

export interface WatcherOptions {
  readonly target: Target;
  /** Prefix of the keys. Default `w/`. */
  readonly prefix?: string;
  /** First revision. Default 1: everything. */
  readonly revision?: number;
  /** Time in ms without an event after which it uses another endpoint. Default 3000. */
  readonly idle?: number;
}

/**
 * Watches a prefix from a revision on, through one endpoint after the other. It continues after the last revision that
 * it saw, so it must see every event once and in order.
 */
export class Watcher implements AsyncDisposable {
  readonly events: Seen[] = [];
  /** Each time its revision had been compacted away: it then continued at `compactRevision`. */
  readonly compacted: { readonly asked: number; readonly compactRevision: number; readonly clusterId: string }[] = [];
  /** Events that arrived twice or out of order. */
  readonly disorder: string[] = [];
  readonly #options: Required<WatcherOptions>;
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;
  #next: number;

  private constructor(options: WatcherOptions) {
    this.#options = { prefix: 'w/', revision: 1, idle: 3_000, ...options };
    this.#next = this.#options.revision;
    this.#running = this.#run();
  }

  static start(options: WatcherOptions): Watcher {
    return new Watcher(options);
  }

  /** Revision of the last event. */
  get revision(): number {
    return this.#next - 1;
  }

  /** Resolves when everything up to this revision was seen, or to false after this number of ms. */
  async reached(revision: number, within = 30_000): Promise<boolean> {
    const deadline = performance.now() + within;
    while (this.revision < revision && performance.now() < deadline) await sleep(20);
    return this.revision >= revision;
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  async #run(): Promise<void> {
    const kv = new KvClient(this.#options.target);
    while (!this.#stop.signal.aborted) {
      await this.#once(kv).catch(() => undefined);
      await sleep(50);
    }
    kv.close();
  }

  async #once(kv: KvClient): Promise<void> {
    const asked = this.#next;
    const idle = new AbortController();
    let timer: NodeJS.Timeout | undefined;
    const alive = () => {
      clearTimeout(timer);
      timer = setTimeout(() => idle.abort(), this.#options.idle);
    };
    alive();
    try {
      const signal = AbortSignal.any([idle.signal, this.#stop.signal]);
      for await (const message of kv.stream('Watch/Watch', watch(this.#options.prefix, asked), signal)) {
        const { header, canceled, compactRevision, events } = watchAnswer(message);
        if (compactRevision > 0) {
          this.compacted.push({ asked, compactRevision, clusterId: header.clusterId });
          this.#next = compactRevision;
        }
        if (canceled) return;
        this.#take(header, events);
        alive();
      }
    } finally {
      clearTimeout(timer);
    }
  }

  #take({ clusterId }: Header, events: readonly KeyValue[]): void {
    for (const event of events) {
      const { modRevision, key } = event;
      // Each revision of these writers changes exactly one key.
      if (modRevision < this.#next)
        this.disorder.push(`${key} of revision ${modRevision} came after ${this.#next - 1}`);
      this.events.push({ ...event, clusterId });
      this.#next = Math.max(this.#next, modRevision + 1);
    }
  }
}
