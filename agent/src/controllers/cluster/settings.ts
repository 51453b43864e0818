const second = 1000;
const minute = 60 * second;

/** Every time and every lag of the reconciler; plan() and act() hold no number of their own. Durations in ms, lags in raft entries. */
export interface Settings {
  /** Between two passes without, and with an operation. */
  steady: number;
  /** How old a status gets before it is written again though nothing changed: older ones say that nobody looks any more. */
  heartbeat: number;
  op: number;
  /** After an effect: the next pass sees what it brought. */
  next: number;
  /** Lease of the holder; a new one waits this long before its first removal. */
  lease: number;
  renew: number;
  retry: number;
  /** One etcd call; one that changes membership; one read of observe(). */
  rpc: number;
  memberRpc: number;
  observeRpc: number;
  backoffMin: number;
  backoffMax: number;
  /** How long a member is well before it counts as healthy. */
  stable: number;
  /** How long the same evidence is seen before a removal. */
  evidence: number;
  healthyLag: number;
  promoteLag: number;
  promoteGap: number;
  restartLag: number;
  learnerStuck: number;
  quorumLost: number;
  /** How long an agent does not answer before its pod counts as unreachable. */
  unreachable: number;
  hashEvery: number;
  noSpaceBackoff: number;
  /** After a refused eviction; until then what else there is to do has its turn. */
  evictAgain: number;
  /** Passes in a row that end with an error before a person is told. */
  failuresTold: number;
  /** After a failed backup or verification; how long an eviction is refused before a person is told. */
  retryFailed: number;
  /** How long the pod of a Job may take to start before a person is told, and the slot is given back where it can be. */
  jobStart: number;
  /** Revisions that a compaction of ClearNoSpace keeps. */
  keepRevisions: number;
  /** Entries that a leader keeps in memory behind its snapshot (etcd's snapshot-catchup-entries). */
  catchUpEntries: number;
  /** Lease grant and revoke pairs of one LeaseChurn. */
  churnPairs: number;
}

export const defaultSettings: Settings = {
  steady: 15 * second,
  heartbeat: 10 * minute,
  op: 2 * second,
  next: 100,
  lease: 30 * second,
  renew: 20 * second,
  retry: 4 * second,
  rpc: 5 * second,
  memberRpc: 10 * second,
  observeRpc: 2 * second,
  backoffMin: 2 * second,
  backoffMax: 5 * minute,
  stable: 10 * second,
  evidence: 5 * second,
  healthyLag: 5000,
  promoteLag: 1000,
  promoteGap: 2 * second,
  restartLag: 100,
  learnerStuck: 15 * minute,
  quorumLost: minute,
  unreachable: minute,
  hashEvery: 60 * minute,
  noSpaceBackoff: 30 * minute,
  evictAgain: 30 * second,
  failuresTold: 5,
  retryFailed: 5 * minute,
  jobStart: 10 * minute,
  keepRevisions: 1000,
  catchUpEntries: 5000,
  churnPairs: 500,
};
