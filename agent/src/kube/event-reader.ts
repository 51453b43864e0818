import type { Log } from '../lib/log.ts';
import type { ApiClient } from './api-client.ts';
import type { EventObject } from './objects.ts';
import type { Paths } from './paths.ts';

/** ms. What starts at once asks for nothing; the events of one object are read at most this often; and of all, ms between two. */
const times = { patience: 4_000, again: 15_000, gap: 100 };

interface Asked {
  readonly since: number;
  readonly at: number;
  readonly events: readonly EventObject[];
}

/**
 * Events of what does not start, of which nothing else tells why. The API server reads all events of a namespace for each
 * answer: they are asked for seldom, and never of what runs.
 */
export class Troubles {
  readonly #options: { readonly client: ApiClient; readonly paths: Paths; readonly log: Pick<Log, 'debug'> };
  readonly #times: typeof times;
  /** By uid, the one asked for last at the end. */
  readonly #asked = new Map<string, Asked>();
  #next = 0;

  constructor(
    options: { readonly client: ApiClient; readonly paths: Paths; readonly log: Pick<Log, 'debug'> },
    own: Partial<typeof times> = {},
  ) {
    this.#options = options;
    this.#times = { ...times, ...own };
  }

  /** Those that were read last, of the object with this uid; none where they cannot be read. */
  async of(uid: string): Promise<readonly EventObject[]> {
    const now = performance.now();
    const before = this.#asked.get(uid) ?? { since: now, at: Number.NEGATIVE_INFINITY, events: [] };
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
      log.debug({ err: error }, 'events cannot be read');
      return before.events;
    }
  }

  /** What was not asked for any more goes. */
  #keep(uid: string, asked: Asked): void {
    this.#asked.delete(uid);
    this.#asked.set(uid, asked);
    const [oldest] = this.#asked.keys();
    if (this.#asked.size > most && oldest !== undefined) this.#asked.delete(oldest);
  }
}

const most = 500;
