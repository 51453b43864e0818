import { setTimeout as sleep } from 'node:timers/promises';
import { Draw } from '../../../../test/chaos/draw.ts';
import type { History, RegisterOperation, Term, Write } from '../checks/history.ts';
import type { Journal } from '../checks/journal.ts';
import { CallFailed, KvClient, type Target } from './kv-client.ts';
import { compareAndSwap, type Header, headerOf, put, range, rangeAnswer, swapAnswer } from './kv-messages.ts';

export interface WriterOptions {
  readonly target: Target;
  /** Prefix of all keys. Default `w/`. */
  readonly prefix?: string;
  /** Number of clients. Default 4. */
  readonly clients?: number;
  /** Number of keys that all clients write, read and swap. Default 3. */
  readonly registers?: number;
  /** Time-out of one attempt in ms; below half a second. Default 400. */
  readonly attempt?: number;
  /** Time in ms for which a write is retried before it counts as not written. Default 1000. */
  readonly retryFor?: number;
  /** Pause between two operations of a client, in ms. Default 20. */
  readonly pause?: number;
  /** Promise to wait for before the first write. */
  readonly after?: Promise<unknown>;
  /** File with the history to continue, to which its own is added. Default: none. */
  readonly journal?: Journal | undefined;
}

/**
 * Clients that write continuously, each through any endpoint that answers: their own keys with ascending numbers, and
 * every third time an operation on a register. They run until `stop`, which returns their history.
 */
export class Writer implements AsyncDisposable {
  readonly prefix: string;
  readonly #options: Required<Omit<WriterOptions, 'journal'>>;
  readonly #journal: Journal | undefined;
  readonly #writes: Write[];
  readonly #registers: RegisterOperation[];
  readonly #terms: Term[];
  readonly #clusterIds: string[];
  /** Greater than every number in the history. */
  readonly #firstTurn: number;
  readonly #running: Promise<unknown>;
  readonly #stopped = Promise.withResolvers<void>();
  readonly #draw = new Draw(1);
  #stopping = false;
  #acknowledged = 0;

  private constructor({ journal, ...options }: WriterOptions) {
    const defaults = {
      prefix: 'w/',
      clients: 4,
      registers: 3,
      attempt: 400,
      retryFor: 1_000,
      pause: 20,
      after: Promise.resolve(),
    };
    this.#options = { ...defaults, ...options };
    this.prefix = this.#options.prefix;
    this.#journal = journal;
    this.#writes = [...(journal?.past.writes ?? [])];
    this.#registers = [...(journal?.past.registers ?? [])];
    this.#terms = [...(journal?.past.terms ?? [])];
    this.#clusterIds = [...(journal?.past.clusterIds ?? [])];
    this.#firstTurn = this.#writes.length + this.#registers.length;
    this.#running = Promise.all(Array.from({ length: this.#options.clients }, (_, client) => this.#run(client)));
  }

  static start(options: WriterOptions): Writer {
    return new Writer(options);
  }

  /** Returns the current time on the clock of the history. */
  get now(): number {
    return this.#journal?.now ?? performance.now();
  }

  get acknowledged(): number {
    return this.#acknowledged;
  }

  get history(): History {
    return {
      writes: this.#writes,
      registers: this.#registers,
      terms: this.#terms,
      clusterIds: this.#clusterIds,
    };
  }

  /** Resolves when this number of further writes is acknowledged. */
  async more(writes: number): Promise<void> {
    const enough = this.#acknowledged + writes;
    while (this.#acknowledged < enough && !this.#stopping) await sleep(20);
  }

  async stop(): Promise<History> {
    this.#stopping = true;
    this.#stopped.resolve();
    await this.#running;
    return this.history;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  async #run(client: number): Promise<void> {
    await Promise.race([this.#options.after, this.#stopped.promise]);
    const kv = new KvClient(this.#options.target, client);
    for (let turn = this.#firstTurn; !this.#stopping; turn++) {
      if (turn % 3 === 2 && this.#options.registers > 0) await this.#onRegister(kv, client, turn);
      else await this.#write(kv, client, turn);
      await sleep(this.#options.pause);
    }
    kv.close();
  }

  async #write(kv: KvClient, client: number, turn: number): Promise<void> {
    const key = `${this.prefix}${client}/${String(turn).padStart(8, '0')}`;
    const value = `${client}-${turn}`;
    const start = this.now;
    let attempts = 0;
    let open = false;
    this.#journal?.begins({ write: { client, key, value, start, end: start, outcome: 'unknown', attempts } });
    for (;;) {
      attempts++;
      try {
        const { clusterId, revision } = this.#seen(await kv.call('KV/Put', put(key, value), this.#options.attempt));
        this.#wrote({ client, key, value, start, end: this.now, outcome: 'ok', clusterId, revision, attempts });
        this.#acknowledged++;
        return;
      } catch (error) {
        if (!(error instanceof CallFailed)) throw error;
        open ||= error.applied === 'unknown';
        if (!this.#stopping && this.now - start < this.#options.retryFor) {
          await sleep(10);
          continue;
        }
        const outcome = open ? 'unknown' : 'failed';
        this.#wrote({ client, key, value, start, end: this.now, outcome, attempts, error: error.message });
        return;
      }
    }
  }

  async #onRegister(kv: KvClient, client: number, turn: number): Promise<void> {
    const key = `${this.prefix}r/${this.#draw.below(this.#options.registers)}`;
    const value = `${client}-${turn}`;
    const start = this.now;
    const kind = this.#draw.one(['write', 'read', 'swap'] as const);
    const last = kind === 'swap' ? this.#lastValue(key) : undefined;
    const asked = last === undefined && kind === 'swap' ? { kind: 'read' as const } : { kind };
    const of = asked.kind === 'swap' ? { kind: asked.kind, from: last!, value } : { kind: asked.kind, value };
    const open = asked.kind === 'read' ? 'failed' : 'unknown';
    this.#journal?.begins({ register: { client, key, start, end: start, outcome: open, ...of } });
    try {
      const operation = await this.#attempt(kv, key, value, asked.kind, last);
      this.#used({ client, key, start, end: this.now, outcome: 'ok', ...operation });
    } catch (error) {
      if (!(error instanceof CallFailed)) throw error;
      const outcome = error.applied === 'no' ? 'failed' : open;
      this.#used({ client, key, start, end: this.now, outcome, error: error.message, ...of });
    }
  }

  #wrote(write: Write): void {
    this.#writes.push(write);
    this.#journal?.ends({ write });
  }

  #used(register: RegisterOperation): void {
    this.#registers.push(register);
    this.#journal?.ends({ register });
  }

  async #attempt(kv: KvClient, key: string, value: string, kind: RegisterOperation['kind'], last: string | undefined) {
    const { attempt } = this.#options;
    if (kind === 'write') {
      const { clusterId, revision } = this.#seen(await kv.call('KV/Put', put(key, value), attempt));
      return { kind, value, clusterId, revision };
    }
    if (kind === 'read') {
      const answer = await kv.call('KV/Range', range(key), attempt);
      const { clusterId, revision } = this.#seen(answer);
      return { kind, value: rangeAnswer(answer).kvs[0]?.value, clusterId, revision };
    }
    const answer = await kv.call('KV/Txn', compareAndSwap(key, last!, value), attempt);
    const { clusterId, revision } = this.#seen(answer);
    const { swapped, found } = swapAnswer(answer);
    if (swapped) return { kind, from: last!, value, clusterId, revision };
    return { kind: 'read' as const, value: found, clusterId, revision };
  }

  /** The last known value of the register, so that most swaps succeed. */
  #lastValue(key: string): string | undefined {
    return this.#registers.findLast((operation) => operation.key === key && operation.outcome === 'ok')?.value;
  }

  #seen(answer: Uint8Array): Header {
    const header = headerOf(answer);
    const { clusterId, term } = header;
    if (!this.#clusterIds.includes(clusterId)) this.#clusterIds.push(clusterId);
    if (!this.#terms.some((one) => one.clusterId === clusterId && one.term === term)) {
      this.#terms.push({ clusterId, term });
      this.#journal?.ends({ term: { clusterId, term } });
    }
    return header;
  }
}
