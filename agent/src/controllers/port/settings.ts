import { defaults } from '../../../../src/resource/defaults.ts';
import { parseDuration } from '../../lib/input/duration.ts';

const second = 1000;
const minute = 60 * second;

/** Every duration and lag of the reconciler; plan() and act() have no numbers of their own. Durations in ms, lags in raft entries. */
export interface ReconcilerSettings {
  /** Time between two passes without and with an operation. */
  steady: number;
  /** Age at which an unchanged status is written again. An older status shows that no reconciler runs. */
  heartbeat: number;
  op: number;
  /** Wait after an effect, so that the next pass sees its result. */
  next: number;
  /** Duration of the lease. A new holder waits this long before its first removal. */
  lease: number;
  renew: number;
  retry: number;
  /** Timeout of an etcd call, of a call that changes membership, and of a read of observe(). */
  rpc: number;
  memberRpc: number;
  observeRpc: number;
  backoffMin: number;
  backoffMax: number;
  /** How long a member must answer before it counts as healthy. */
  stable: number;
  /** How long the same evidence must be observed before a removal. */
  evidence: number;
  /** While much is written, statuses that are read at once differ by hundreds of entries. */
  healthyLag: number;
  promoteLag: number;
  promoteGap: number;
  restartLag: number;
  learnerStuck: number;
  quorumLost: number;
  /** How long an agent must be silent before its pod counts as unreachable. */
  unreachable: number;
  hashEvery: number;
  /** Wait after space could not be cleared, although the data have changed since. */
  noSpaceBackoff: number;
  /** How soon an alarm NOSPACE must come back to call for a person, and how long it does. */
  noSpaceAgain: number;
  /** For how long a request of `spec.maintenance` may wait to begin, and a member may take that is being defragmented. */
  maintenanceLate: number;
  defragmentLate: number;
  /** Wait after a refused eviction; other rules have their turn meanwhile. */
  evictAgain: number;
  /** Consecutive failed passes before that is reported as ActionFailing. */
  failuresTold: number;
  /** Wait after a failed backup or verification; also how long an eviction is refused before that is reported. */
  retryFailed: number;
  /** How long an operation tries again what only a person can correct: a Secret may get its content a little later than the rest. */
  correction: number;
  /** How long the pod of a Job may take to start before that is reported and, where possible, the operation ends. */
  jobStart: number;
  /** Number of revisions that the first compaction of ClearNoSpace keeps. */
  keepRevisions: number;
  /** Entries that a leader keeps in memory behind its snapshot (etcd's snapshot-catchup-entries). */
  catchUpEntries: number;
  /** Pause between two passes over the certificates: while they are valid, and at most while they are not. */
  certificates: number;
  certificatesRetry: number;
  /** Pause between two looks at whether a Secret of certificates has changed. */
  certificatesGlance: number;
  /** Age from which a pass over the certificates no longer proves anything. */
  certificatesOld: number;
  /** Pause between two passes over the users. */
  users: number;
  /** Age from which a pass over the users no longer proves anything. */
  authOld: number;
  /** For how long clients may use http beside https while TLS is switched on, unless the spec says so. */
  acceptPlaintext: number;
  /** The longest that the spec may say. */
  acceptPlaintextMost: number;
  /** How old a look at the members must be to become their marks; also the pause between two writes of marks. */
  markEvery: number;
  /** Lease grant and revoke pairs of one LeaseChurn. */
  churnPairs: number;
}

export const defaultSettings: ReconcilerSettings = {
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
  restartLag: 1000,
  learnerStuck: 15 * minute,
  quorumLost: minute,
  unreachable: minute,
  hashEvery: 60 * minute,
  noSpaceBackoff: minute,
  noSpaceAgain: 10 * minute,
  maintenanceLate: 60 * minute,
  defragmentLate: 15 * minute,
  evictAgain: 30 * second,
  failuresTold: 5,
  retryFailed: 5 * minute,
  correction: 30 * minute,
  jobStart: 10 * minute,
  keepRevisions: 1000,
  catchUpEntries: 5000,
  certificates: 5 * minute,
  certificatesRetry: minute,
  certificatesGlance: 20 * second,
  certificatesOld: 15 * minute,
  users: 30 * second,
  authOld: 2 * minute,
  acceptPlaintext: parseDuration(defaults.TlsSpec.acceptPlaintextFor, 'acceptPlaintextFor'),
  acceptPlaintextMost: 365 * 24 * 60 * minute,
  markEvery: 10 * minute,
  churnPairs: 500,
};
