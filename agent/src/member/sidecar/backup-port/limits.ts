/** Limits of the backup port. Times in ms. */
export interface Limits {
  /** Connections with the certificate of backups. */
  readonly connections: number;
  /** Connections without it, or that have not shown it yet. The oldest makes room for a new one. */
  readonly strangers: number;
  /** Calls at a time, snapshots included. */
  readonly calls: number;
  /** Snapshots at a time: each keeps old pages of etcd's database from being used again. */
  readonly snapshots: number;
  /** Bytes of a request. */
  readonly request: number;
  readonly handshake: number;
  /** Until the whole request is there. */
  readonly requestTime: number;
  /** A connection without a call. */
  readonly idle: number;
  /** Until the answer of a short and of a long call. A long one reads the whole database. */
  readonly short: number;
  readonly long: number;
  /** Without a byte of a snapshot, whoever is slow: etcd, or the caller with its store. */
  readonly stalled: number;
}

export const defaultLimits: Limits = {
  connections: 16,
  strangers: 16,
  calls: 32,
  snapshots: 2,
  request: 4_096,
  handshake: 10_000,
  requestTime: 10_000,
  idle: 60_000,
  short: 30_000,
  long: 3_600_000,
  stalled: 600_000,
};
