// What Prometheus has scraped, minute by minute, as promtool takes it. Abstractions of this world: a scrape is never
// lost, the clocks agree, and a series that ends is marked as stale at once.

/** A series, and its value in each minute. Undefined: it is not there. */
export type Timeline = ReadonlyMap<string, readonly (number | undefined)[]>;

/** A function gets the minute. Undefined: there is no series. */
type Value = number | ((minute: number) => number | undefined);

/** Values of a series while all is well and while the fault lasts. */
export interface Faulty {
  readonly well?: Value;
  readonly fault?: Value;
}

/** When the fault begins and ends, in minutes. */
export interface Span {
  readonly from: number;
  readonly to: number;
  readonly end: number;
}

const buckets = [0.001, 0.008, 0.016, 0.128, 0.512, 1.024, 8.192];

export const secondsOf = (minute: number): number => minute * 60;

const certificate = 'certificate="server"';

/** Series of the reconciler from its own scrape, by its two pods; the second one does not lead. */
const ofReconciler = Object.fromEntries(
  [1, 0].flatMap((leads, pod) => [
    [reconciler('etcd_reconciler_leader', pod), always(leads)],
    ...['pods', 'jobs'].map((kind) => [reconciler('etcd_reconciler_synced', pod, `resource="${kind}"`), always(1)]),
  ]),
);

/** Series of the exporter of another etcd, whose backups are taken every hour into two stores. */
const ofExporter = Object.fromEntries(
  [1, 2].flatMap((store) => [
    [exported('etcd_backup_store_up', store), always(1)],
    [exported('etcd_backup_last_verified_timestamp_seconds', store), { well: hourly, fault: hourly }],
  ]),
);

/** Series of a healthy cluster, of the reconciler and of another etcd, by the text with which Prometheus shows them. */
const healthy: Readonly<Record<string, Faulty>> = {
  ...conditions({
    Available: ['True', 'Serving'],
    Ready: ['True', 'UpToDate'],
    Progressing: ['False', 'Idle'],
    Degraded: ['False', 'AllMembersHealthy'],
    QuorumLost: ['False', 'QuorumAvailable'],
    Stalled: ['False', 'NoActionRequired'],
    Alarm: ['False', 'NoAlarm'],
    BackupHealthy: ['True', 'LastBackupSucceeded'],
    CertificatesReady: ['True', 'CertificatesValid'],
    TransportReady: ['True', 'Tls'],
    AuthReady: ['True', 'AuthenticationOff'],
    VersionSafe: ['True', 'NoAdvisory'],
    Accepted: ['True', 'SpecAccepted'],
  }),
  ...ofReconciler,
  ...ofExporter,
  [own('etcd_reconciler_last_pass_timestamp_seconds')]: { well: secondsOf, fault: secondsOf },
  ...Object.assign(
    {},
    ...[0, 1, 2].map((ordinal) => ({
      [ofPod('etcd_server_has_leader', ordinal)]: always(1),
      [ofPod('etcd_server_leader_changes_seen_total', ordinal)]: always(2),
      [ofPod('etcd_mvcc_db_total_size_in_bytes', ordinal)]: always(500e6),
      [ofPod('etcd_server_quota_backend_bytes', ordinal)]: always(2e9),
      [ofPod('etcd_agent_volume_free_bytes', ordinal)]: always(6e9),
      [ofPod('etcd_agent_volume_size_bytes', ordinal)]: always(8e9),
      [ofPod('etcd_agent_permit_wait_seconds', ordinal)]: always(0),
      [ofPod('etcd_agent_certificate_expiry_timestamp_seconds', ordinal, certificate)]: always(60 * 86400),
      [ofPod('etcd_agent_certificate_lifetime_seconds', ordinal, certificate)]: always(90 * 86400),
      ...histogram('etcd_disk_wal_fsync_duration_seconds', ordinal, 0.008),
      ...histogram('etcd_disk_backend_commit_duration_seconds', ordinal, 0.016),
    })),
  ),
};

export function always(value: number): Faulty {
  return { well: value, fault: value };
}

export function own(metric: string, ...labels: readonly string[]): string {
  return `${metric}{${['namespace="shop"', 'etcd_cluster="orders"', ...labels].join(', ')}}`;
}

export function ofPod(metric: string, ordinal: number, ...labels: readonly string[]): string {
  return own(metric, `pod="orders-${ordinal}"`, ...labels);
}

/** The exporter reads a backup within five minutes after it was taken. At 0 seconds there would be none. */
export function hourly(minute: number): number {
  return Math.max(1, secondsOf(Math.floor((minute - 5) / 60) * 60));
}

/** A series that the exporter reports of a store. */
export function exported(metric: string, store: number): string {
  return `${metric}{namespace="shop", etcd_cluster="legacy", cronjob="legacy-hourly", store="s3://backups-${store}"}`;
}

/** A series of one of the reconciler's pods, from its own scrape. */
export function reconciler(metric: string, pod: number, ...labels: readonly string[]): string {
  const all = ['namespace="shop"', 'reconciler="etcd-reconciler"', `pod="etcd-reconciler-${pod}"`, ...labels];
  return `${metric}{${all.join(', ')}}`;
}

export function condition(type: string, status: string, reason: string): string {
  return own('etcd_cluster_condition', `condition="${type}"`, `status="${status}"`, `reason="${reason}"`);
}

function conditions(states: Readonly<Record<string, readonly [status: string, reason: string]>>) {
  return Object.fromEntries(
    Object.entries(states).map(([type, [status, reason]]) => [condition(type, status, reason), always(1)]),
  );
}

/** The reconciler reports one state of a condition at a time. */
export function becomes(type: string, status: string, reason: string): Readonly<Record<string, Faulty>> {
  const before = Object.keys(healthy).find((series) => series.includes(`condition="${type}"`))!;
  return { [before]: { well: 1 }, [condition(type, status, reason)]: { fault: 1 } };
}

/** A hundred writes a minute, each of which takes as long as its bucket says. */
export function histogram(metric: string, ordinal: number, seconds: number, slow = seconds): Record<string, Faulty> {
  return Object.fromEntries(
    [...buckets, Number.POSITIVE_INFINITY].map((bucket) => {
      const le = bucket === Number.POSITIVE_INFINITY ? '+Inf' : String(bucket);
      const count = (takes: number) => (minute: number) => (takes <= bucket ? 100 * minute : 0);
      return [ofPod(`${metric}_bucket`, ordinal, `le="${le}"`), { well: count(seconds), fault: count(slow) }];
    }),
  );
}

/** Returns a healthy cluster to which something happens. */
export function timeline(faults: Readonly<Record<string, Faulty>>, { from, to, end }: Span): Timeline {
  const all = { ...healthy, ...faults };
  const minutes = [...Array(end + 1).keys()];
  const valueAt = ({ well, fault }: Faulty, minute: number) => {
    const value = minute >= from && minute < to ? fault : well;
    return typeof value === 'function' ? value(minute) : value;
  };
  return new Map(
    Object.entries(all).map(([series, faulty]) => [series, minutes.map((minute) => valueAt(faulty, minute))]),
  );
}

/** Values as promtool reads them. */
export function notation(values: readonly (number | undefined)[]): string {
  return values
    .map((value, index) => {
      if (value !== undefined) return String(value);
      return index > 0 && values[index - 1] !== undefined ? 'stale' : '_';
    })
    .join(' ');
}
