import { Budget } from '../lib/limits/budget.ts';

/** An object in the store. */
export interface StoredObject {
  readonly key: string;
  /** Bytes. */
  readonly size: number;
  /** Time of the last change, by the store's clock. */
  readonly modified: Date;
  /** Key of the object that this name only leads to: a symbolic link within the store. A list does not contain it. */
  readonly linkTo?: string;
}

/** What an unfinished put has stored. */
export type Unfinished = Pick<StoredObject, 'key' | 'modified'>;

export interface CallOptions {
  readonly signal?: AbortSignal;
}

export interface PutOptions extends CallOptions {
  /** Approximate number of bytes. A store may choose the size of its parts by it. */
  readonly sizeHint?: number;
  /**
   * Rejects with an AgentError `refused` if the key exists. Where the server supports a conditional write, only one of
   * several concurrent puts succeeds. Elsewhere the store only checks before it writes.
   */
  readonly onlyNew?: boolean;
}

export interface PutResult {
  readonly etag?: string;
  /** Number of parts of the upload, in stores that have parts. */
  readonly parts?: number;
}

/**
 * Storage for objects. Keys are relative to the store's own prefix or directory, with `/` between their segments.
 *
 * A store knows nothing about snapshots. It throws an AgentError: `storeUnreachable` if trying again may help,
 * `storeRefused` if it will not, `usage` for missing or unreadable credentials, `nothingThere` from `get` of a key that
 * does not exist. If the signal is aborted, a call rejects with the signal's reason, whatever else went wrong.
 */
export interface Store {
  /** The store's URL, without secrets. */
  readonly url: string;
  /** The time of the run that has opened the store. */
  readonly budget?: Budget | undefined;

  /**
   * Writes an object. Once it resolves, the object is complete and durable. If it rejects (the body threw, the signal
   * was aborted, the store failed), no part of the object is visible under the key, and the uploaded data is removed.
   */
  put(key: string, body: AsyncIterable<Uint8Array>, options?: PutOptions): Promise<PutResult>;

  /**
   * Reads an object. Rejects at once if it does not exist. The iteration throws if the body is shorter than
   * announced.
   */
  get(key: string, options?: CallOptions): Promise<AsyncIterable<Uint8Array>>;

  /**
   * Yields every object whose key starts with the prefix, in no particular order. Leftovers of unfinished puts are
   * not objects.
   */
  list(prefix: string, options?: CallOptions): AsyncIterable<StoredObject>;

  stat(key: string, options?: CallOptions): Promise<StoredObject | undefined>;

  /**
   * Deletes an object. Resolves to `retained` if an object lock or a hold protects it, and to `deleted` if it does
   * not exist.
   */
  delete(key: string, options?: CallOptions): Promise<'deleted' | 'retained'>;

  /** Whether `delete` would resolve to `retained`, as far as the store can say. Only stores that can have this method. */
  isRetained?(key: string, options?: CallOptions): Promise<boolean>;

  /**
   * Removes leftovers of unfinished puts under the prefix that are older than `age` milliseconds by the store's
   * clock. Returns their number.
   */
  sweep(prefix: string, age: number, options?: CallOptions): Promise<number>;

  /**
   * Yields the leftovers of unfinished puts under the prefix, and what running puts have stored. Only stores that can tell
   * have this method.
   */
  unfinished?(prefix: string, options?: CallOptions): AsyncIterable<Unfinished>;

  /** Yields the symbolic links to objects of the same store. Only stores that have links have this method. */
  links?(prefix: string, options?: CallOptions): AsyncIterable<StoredObject>;

  /** Reads the store's clock; undefined if it cannot be read. */
  now(options?: CallOptions): Promise<Date | undefined>;

  /**
   * False if the store's directory does not exist or is not a directory. Only stores that are a directory have this
   * method.
   */
  isThere?(options?: CallOptions): Promise<boolean>;

  close(): void;
}

/** The time of the run that has opened the store. Without a run, there is no limit. */
export const budgetOf = ({ budget = new Budget() }: Pick<Store, 'budget'>): Budget => budget;
