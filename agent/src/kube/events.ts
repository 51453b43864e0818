import { randomBytes } from 'node:crypto';
import { messageOf } from '../lib/errors.ts';
import type { Log } from '../lib/log.ts';
import { type ApiClient, fieldManager } from './api-client.ts';
import { isStatus } from './api-error.ts';
import type { Paths } from './paths.ts';

/** The object that an Event is about. */
export interface EventSubject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
}

export interface EventOf {
  readonly type: 'Normal' | 'Warning';
  /** A single word. */
  readonly reason: string;
  readonly message: string;
}

/** Writes Events. A failed write is only logged. */
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

  /** Emits an Event without waiting for the write. */
  emit(subject: EventSubject, event: EventOf): void {
    // Same form as kubectl's names: the subject and a unique suffix.
    void this.#create(subject, event, `${Date.now().toString(16)}${randomBytes(4).toString('hex')}`);
  }

  /** Emits at most one Event per id. Waits until the write has succeeded or failed. */
  emitOnce(subject: EventSubject, event: EventOf, id: string): Promise<void> {
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
      this.#log.warn(`cannot write the event ${reason} of ${subject.name}: ${messageOf(error)}`);
    }
  }
}

/** Longest message that Kubernetes accepts, in characters. */
const longest = 1024;
