import { randomBytes } from 'node:crypto';
import { messageOf } from '../lib/errors.ts';
import type { Log } from '../lib/log.ts';
import { type ApiClient, fieldManager } from './api-client.ts';
import { isStatus } from './api-error.ts';
import type { Paths } from './paths.ts';

/** What an Event is about. */
export interface EventSubject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
}

export interface EventOf {
  readonly type: 'Normal' | 'Warning';
  /** One word. */
  readonly reason: string;
  readonly message: string;
}

/** Tells what happened, once: nothing waits for an Event, and none is worth an error. */
export class Events {
  readonly #client: ApiClient;
  readonly #paths: Paths;
  readonly #holder: string;
  readonly #log: Pick<Log, 'warn'>;

  constructor(client: ApiClient, paths: Paths, holder: string, log: Pick<Log, 'warn'>) {
    this.#client = client;
    this.#paths = paths;
    this.#holder = holder;
    this.#log = log;
  }

  tell(subject: EventSubject, event: EventOf): void {
    // As kubectl's: what it is about, and something that is never twice.
    void this.#create(subject, event, `${Date.now().toString(16)}${randomBytes(4).toString('hex')}`);
  }

  /** Once for each id; waits until it is written, or is known not to be. */
  tellOnce(subject: EventSubject, event: EventOf, id: string): Promise<void> {
    return this.#create(subject, event, id);
  }

  async #create(subject: EventSubject, { type, reason, message }: EventOf, id: string): Promise<void> {
    const now = `${new Date().toISOString().slice(0, 19)}Z`;
    const event = {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name: `${subject.name}.${id}`, namespace: subject.namespace },
      involvedObject: subject,
      type,
      reason,
      message: message.slice(0, longest),
      source: { component: fieldManager },
      reportingComponent: fieldManager,
      reportingInstance: this.#holder,
      firstTimestamp: now,
      lastTimestamp: now,
      count: 1,
    };
    try {
      await this.#client.create(this.#paths.of('events'), event);
    } catch (error) {
      if (isStatus(error, 409)) return;
      this.#log.warn(`the event ${reason} of ${subject.name} could not be written: ${messageOf(error)}`);
    }
  }
}

/** Of a message, by Kubernetes. */
const longest = 1024;
