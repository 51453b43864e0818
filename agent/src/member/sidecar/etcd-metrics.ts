/** Facts that etcd exposes at its metrics URL, without credentials and regardless of etcd's authentication. */
export interface EtcdMetrics {
  readonly version: string;
  /** Unset until the member knows the cluster version. */
  readonly clusterVersion?: string;
  readonly memberId?: string;
  readonly hasLeader: boolean;
  readonly isLeader: boolean;
  readonly isLearner: boolean;
  readonly committedIndex: number;
  readonly appliedIndex: number;
  readonly dbSize: number;
  readonly dbInUse: number;
  /** Maximum size of the backend, in bytes. */
  readonly quota?: number;
  /** Start time of the process, RFC 3339. */
  readonly upSince: string;
}

const numbers = {
  etcd_server_has_leader: 'leader',
  etcd_server_is_leader: 'leads',
  etcd_server_is_learner: 'learner',
  etcd_server_proposals_committed_total: 'committed',
  etcd_server_proposals_applied_total: 'applied',
  etcd_mvcc_db_total_size_in_bytes: 'size',
  etcd_mvcc_db_total_size_in_use_in_bytes: 'used',
  etcd_server_quota_backend_bytes: 'quota',
  process_start_time_seconds: 'started',
} as const;
type Field = (typeof numbers)[keyof typeof numbers];

const labels = ['etcd_server_version', 'etcd_cluster_version', 'etcd_server_id'] as const;
const LINE = /^(\w+)(?:\{\w+="([^"]*)"\})? (\S+)$/gm;

/** Parses the metrics; returns undefined if they are not etcd's. */
export function parseEtcdMetrics(exposition: string): EtcdMetrics | undefined {
  const found: Partial<Record<Field, number>> = {};
  const named: Partial<Record<(typeof labels)[number], string>> = {};
  for (const [, name = '', label, value] of exposition.matchAll(LINE)) {
    if (Object.hasOwn(numbers, name)) found[numbers[name as keyof typeof numbers]] = Number(value);
    // A previous value of a label remains as a series with value 0.
    const isNamed = label && Number(value) === 1 && labels.some((each) => each === name);
    if (isNamed) named[name as (typeof labels)[number]] = label;
  }
  const version = named.etcd_server_version;
  if (version === undefined) return undefined;
  return {
    version,
    clusterVersion: named.etcd_cluster_version,
    memberId: named.etcd_server_id,
    hasLeader: found.leader === 1,
    isLeader: found.leads === 1,
    isLearner: found.learner === 1,
    committedIndex: found.committed ?? 0,
    appliedIndex: found.applied ?? 0,
    dbSize: found.size ?? 0,
    dbInUse: found.used ?? 0,
    quota: found.quota,
    upSince: timeOf(found.started ?? 0).toISOString(),
  };
}

/** Converts seconds since 1970. Returns 1970 itself for a number that is not a valid time. */
function timeOf(seconds: number): Date {
  const time = new Date(seconds * 1000);
  return Number.isNaN(time.getTime()) ? new Date(0) : time;
}
