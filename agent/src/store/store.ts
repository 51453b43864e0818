/** An object as the store reports it. */
export interface StoredObject {
  readonly key: string;
  /** Bytes. */
  readonly size: number;
  /** By the store's clock. */
  readonly modified: Date;
}

export interface CallOptions {
  readonly signal?: AbortSignal;
}

export interface PutOptions extends CallOptions {
  /** About how many bytes will come; a store may size its parts by it. */
  readonly sizeHint?: number;
  /**
   * Refuses, with an AgentError `refused`, when something is under the key already: of several such puts at once only one
   * succeeds, where the place itself can tell; elsewhere it is looked at before.
   */
  readonly onlyNew?: boolean;
}

export interface PutResult {
  readonly etag?: string;
  /** How many parts it was uploaded in, where the store has parts. */
  readonly parts?: number;
}

/**
 * Where snapshots are kept. Keys are relative to the store's own prefix or directory, with `/` between their segments.
 *
 * A store knows nothing of snapshots. It throws an AgentError: `storeUnreachable` when trying again may help,
 * `storeRefused` when it won't, `usage` for missing or unreadable credentials, `nothingThere` from `get` of a key that
 * does not exist. An aborted signal makes a call reject with the signal's reason, whatever else went wrong.
 */
export interface Store {
  /** The store's URL, without secrets. */
  readonly url: string;

  /**
   * Writes an object: after it resolves the whole object is there and durable; when it rejects (the body threw, the
   * signal aborted, the store failed) no part of it can be seen under the key and what was uploaded is removed.
   */
  put(key: string, body: AsyncIterable<Uint8Array>, options?: PutOptions): Promise<PutResult>;

  /** Reads an object. Rejects at once when it does not exist; a body shorter than promised makes the iteration throw. */
  get(key: string, options?: CallOptions): Promise<AsyncIterable<Uint8Array>>;

  /** Every object whose key starts with the prefix, in no particular order; rests of unfinished puts are not objects. */
  list(prefix: string, options?: CallOptions): AsyncIterable<StoredObject>;

  stat(key: string, options?: CallOptions): Promise<StoredObject | undefined>;

  /** `retained` when an object lock or a hold keeps it; deleting what is not there is `deleted`. */
  delete(key: string, options?: CallOptions): Promise<'deleted' | 'retained'>;

  /** Removes rests of unfinished puts under the prefix that are older than `age` milliseconds by the store's clock; returns how many. */
  sweep(prefix: string, age: number, options?: CallOptions): Promise<number>;

  /** The store's clock, or undefined where it cannot be read. */
  now(options?: CallOptions): Promise<Date | undefined>;

  /** False when the directory that it is has not been made, or is none; a store that is no directory cannot tell. */
  isThere?(options?: CallOptions): Promise<boolean>;

  close(): void;
}
