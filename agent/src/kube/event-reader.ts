import type { Log } from '../lib/log.ts';
import type { ApiClient } from './api-client.ts';
import type { EventObject } from './objects.ts';
import type { Paths } from './paths.ts';

/**
 * Milliseconds. `patience`: an object may take so long to start before its events are read. `again`: pause between two
 * reads for one object. `gap`: pause between two reads for any objects.
 */
const times = { patience: 4_000, again: 15_000, gap: 100 };

interface Asked {
  readonly since: number;
  readonly at: number;
  readonly events?: readonly EventObject[];
}

/**
 * Reads the Events of objects that do not start, because only Events contain the reason. Reads them rarely, and never
 * for objects that run: for each answer the API server reads all Events of the namespace.
 */
export class Troubles {
  readonly #options: { readonly client: ApiClient; readonly paths: Paths; readonly log: Pick<Log, 'debug'> };
  readonly #times: typeof times;
  /** By uid. The object that was asked for last is at the end. */
  readonly #asked = new Map<string, Asked>();
  #next = 0;

  constructor(
    options: { readonly client: ApiClient; readonly paths: Paths; readonly log: Pick<Log, 'debug'> },
    own: Partial<typeof times> = {},
  ) {
    this.#options = options;
    this.#times = { ...times, ...own };
  }

  /** Returns the Events of the object with this uid as last read. Undefined if they were not read yet, or cannot be read. */
  async of(uid: string): Promise<readonly EventObject[] | undefined> {
    const now = performance.now();
    const before: Asked = this.#asked.get(uid) ?? { since: now, at: Number.NEGATIVE_INFINITY };
    this.#keep(uid, before);
    const { patience, again, gap } = this.#times;
    if (now - before.since < patience || now - before.at < again || now < this.#next) return before.events;
    this.#next = now + gap;
    this.#keep(uid, { ...before, at: now });
    const { client, paths, log } = this.#options;
    try {
      const { items } = await client.list<EventObject>(paths.of('events'), {
        fieldSelector: `involvedObject.uid=${uid}`,
      });
      this.#keep(uid, { ...before, at: now, events: items });
      return items;
    } catch (error) {
      log.debug({ err: error }, 'cannot read events');
      return before.events;
    }
  }

  /** Remembers an object, and forgets the one that was not asked for the longest. */
  #keep(uid: string, asked: Asked): void {
    this.#asked.delete(uid);
    this.#asked.set(uid, asked);
    const [oldest] = this.#asked.keys();
    if (this.#asked.size > most && oldest !== undefined) this.#asked.delete(oldest);
  }
}

/** Number of objects to remember. */
const most = 500;
