/**
 * Observations of the clients: one entry for each write or register operation. All times are from one monotonic clock,
 * in ms.
 */
interface Operation {
  readonly client: number;
  readonly start: number;
  /** Time of the answer, or when the client stopped waiting for it. */
  readonly end: number;
  /** unknown: it may have been applied, at that time or later. */
  readonly outcome: 'ok' | 'unknown' | 'failed';
  /** Cluster id and revision in the answer. */
  readonly clusterId?: string;
  readonly revision?: number;
  /** The last error of a write that was not acknowledged. */
  readonly error?: string;
}

/** A key that is written once, with a unique value. All attempts of one write have the same value. */
export interface Write extends Operation {
  readonly key: string;
  readonly value: string;
  readonly attempts: number;
}

/**
 * An operation on a key that all clients share. No value is ever written twice. A swap that finds another value than
 * `from` is recorded as a read of it. It is never retried, so an unknown one is applied at most once.
 */
export type RegisterOperation = Operation & {
  readonly key: string;
} & (
    | { readonly kind: 'write'; readonly value: string }
    | { readonly kind: 'read'; readonly value: string | undefined }
    | { readonly kind: 'swap'; readonly from: string; readonly value: string }
  );

/** A member led the cluster in this term. */
export interface Term {
  readonly clusterId: string;
  readonly term: number;
}

export interface History {
  readonly writes: readonly Write[];
  readonly registers: readonly RegisterOperation[];
  /** Terms, each once, in the order in which an answer first named it. */
  readonly terms: readonly Term[];
  /** Cluster ids in the order in which they first answered. */
  readonly clusterIds: readonly string[];
}

export type Acknowledged<T extends Operation> = T & { readonly clusterId: string; readonly revision: number };

export const acknowledged = <T extends Operation>(operations: readonly T[]): Acknowledged<T>[] =>
  operations.filter((operation): operation is Acknowledged<T> => operation.outcome === 'ok');

/** Leaders after the first, summed over all clusters. */
export function elections({ terms }: Pick<History, 'terms'>): number {
  return terms.length - new Set(terms.map(({ clusterId }) => clusterId)).size;
}

/** The longest time without an acknowledged write, in ms; with `until`, the time after the last one counts too. */
export function longestGap({ writes }: Pick<History, 'writes'>, from = 0, until?: number): number {
  const acks = acknowledged(writes)
    .map(({ end }) => end)
    .filter((end) => end >= from && end <= (until ?? Number.POSITIVE_INFINITY))
    .sort((a, b) => a - b);
  const points = [...(from > 0 ? [from] : []), ...acks, ...(until === undefined ? [] : [until])];
  return points.slice(1).reduce((longest, at, i) => Math.max(longest, at - points[i]!), 0);
}
