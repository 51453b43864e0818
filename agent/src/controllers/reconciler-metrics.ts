import { processSamples, type Sample, sample, samples, seconds } from '../lib/metrics/sample.ts';
import type { ClusterStatus, ReportedMember } from '../protocol/cluster-status.ts';
import type { BackupMetrics } from './backup/metrics.ts';
import type { PassFacts } from './cluster/pass-facts.ts';

/** State of one informer. */
export interface InformerState {
  readonly resource: string;
  readonly synced: boolean;
  readonly lists: number;
}

/** Metrics of the reconciler. */
export class ReconcilerMetrics {
  leader = false;
  readonly #clusters = new Map<string, ClusterMetrics>();

  /** Begins anew for a cluster. What an earlier runner of it still reports, or one of a forgotten cluster, does not count. */
  begin(cluster: string): ClusterMetrics {
    const metrics = new ClusterMetrics();
    this.#clusters.set(cluster, metrics);
    return metrics;
  }

  forget(cluster: string): void {
    this.#clusters.delete(cluster);
  }

  samples(informers: readonly InformerState[], { phases, runs }: BackupMetrics): Sample[] {
    return [
      sample('etcd_reconciler_leader', {}, Number(this.leader)),
      ...informers.flatMap(({ resource, synced, lists }) => [
        sample('etcd_reconciler_synced', { resource }, Number(synced)),
        sample('etcd_reconciler_lists_total', { resource }, lists),
      ]),
      ...phases.map(([phase, count]) => sample('etcd_reconciler_backups', { phase }, count)),
      ...[...this.#clusters].flatMap(([cluster, metrics]) => metrics.samples(cluster)),
      // An EtcdBackup may outlive its cluster.
      ...runs.filter(({ cluster }) => this.#clusters.has(cluster)).flatMap(runSamples),
      ...processSamples(),
    ];
  }
}

/** Metrics of one cluster. */
export class ClusterMetrics {
  /** As the last pass found it. The one that is written may be older. */
  #status: Partial<ClusterStatus> = {};
  #passes = 0;
  /** ms. */
  #lastPass: number | undefined;
  /** Counts by name of the action. */
  readonly #begun = new Map<string, number>();
  readonly #done = new Map<string, number>();
  #operation: PassFacts['operation'];
  #members: readonly ReportedMember[] = [];

  passed(status: Partial<ClusterStatus>): void {
    this.#status = status;
    this.#passes++;
    this.#lastPass = Date.now();
  }

  observed({ operation, members }: PassFacts): void {
    // Only the reconciler changes the record: what is in progress stays so while the record cannot be read.
    if (operation !== undefined) this.#operation = operation;
    this.#members = members;
  }

  /** `point`: `before` or `after`, and the name of an action. */
  acted(point: string): void {
    const [when, action] = point.split(' ', 2) as [string, string];
    const counts = when === 'before' ? this.#begun : this.#done;
    counts.set(action, (counts.get(action) ?? 0) + 1);
  }

  samples(cluster: string): Sample[] {
    const lastPass = this.#lastPass === undefined ? undefined : this.#lastPass / 1000;
    return [
      sample('etcd_reconciler_passes_total', { etcd_cluster: cluster }, this.#passes),
      ...samples('etcd_reconciler_last_pass_timestamp_seconds', { etcd_cluster: cluster }, lastPass),
      ...[...this.#begun].map(([action, count]) =>
        sample('etcd_reconciler_actions_total', { etcd_cluster: cluster, action }, count),
      ),
      ...[...this.#done].map(([action, count]) =>
        sample('etcd_reconciler_actions_done_total', { etcd_cluster: cluster, action }, count),
      ),
      ...this.#operationSamples(cluster),
      ...this.#members.flatMap((member) => memberSamples(cluster, member)),
      ...statusSamples(cluster, this.#status),
    ];
  }

  #operationSamples(cluster: string): Sample[] {
    if (!this.#operation) return [];
    const { kind: operation, startedAt } = this.#operation;
    return samples(
      'etcd_cluster_operation_start_timestamp_seconds',
      { etcd_cluster: cluster, operation },
      seconds(startedAt),
    );
  }
}

function statusSamples(cluster: string, status: Partial<ClusterStatus>): Sample[] {
  const { phase, reason = '', size, voters, readyVoters, epoch, certificates = [], conditions = [] } = status;
  return [
    ...(phase === undefined ? [] : [sample('etcd_cluster_phase', { etcd_cluster: cluster, phase, reason }, 1)]),
    ...conditions.map(({ type: condition, status, reason }) =>
      sample('etcd_cluster_condition', { etcd_cluster: cluster, condition, status, reason }, 1),
    ),
    ...samples('etcd_cluster_pods', { etcd_cluster: cluster }, size),
    ...samples('etcd_cluster_voters', { etcd_cluster: cluster }, voters),
    ...samples('etcd_cluster_ready_voters', { etcd_cluster: cluster }, readyVoters),
    ...samples('etcd_cluster_epoch', { etcd_cluster: cluster }, epoch),
    ...lastBackupSamples(cluster, status.lastBackup),
    ...certificates.flatMap(({ secret, notAfter, renewAt = '' }) => [
      ...samples(
        'etcd_cluster_certificate_expiry_timestamp_seconds',
        { etcd_cluster: cluster, secret },
        seconds(notAfter),
      ),
      ...samples(
        'etcd_cluster_certificate_renewal_timestamp_seconds',
        { etcd_cluster: cluster, secret },
        seconds(renewAt),
      ),
    ]),
  ];
}

const lastBackupSamples = (cluster: string, backup: ClusterStatus['lastBackup']): Sample[] =>
  backup === undefined
    ? []
    : [
        ...samples('etcd_cluster_last_backup_timestamp_seconds', { etcd_cluster: cluster }, seconds(backup.at)),
        ...samples('etcd_cluster_last_backup_revision', { etcd_cluster: cluster }, backup.revision),
        ...samples('etcd_cluster_last_backup_size_bytes', { etcd_cluster: cluster }, backup.sizeBytes),
      ];

function memberSamples(cluster: string, member: ReportedMember): Sample[] {
  const { pod, memberId = '', role = '', version = '', healthy, lag, dbSize } = member;
  return [
    sample('etcd_cluster_member_info', { etcd_cluster: cluster, pod, member_id: memberId, role, version }, 1),
    sample('etcd_cluster_member_healthy', { etcd_cluster: cluster, pod }, Number(healthy)),
    ...samples('etcd_cluster_member_lag_entries', { etcd_cluster: cluster, pod }, lag),
    ...samples('etcd_cluster_member_database_size_bytes', { etcd_cluster: cluster, pod }, dbSize),
  ];
}

function runSamples({ cluster, schedule, failed, endedAt, seconds: took, sizeBytes }: BackupMetrics['runs'][number]) {
  const labels = { etcd_cluster: cluster, schedule };
  return [
    sample('etcd_cluster_backup_run_failed', labels, Number(failed)),
    sample('etcd_cluster_backup_run_timestamp_seconds', labels, endedAt),
    ...samples('etcd_cluster_backup_run_duration_seconds', labels, took),
    ...samples('etcd_cluster_backup_size_bytes', labels, sizeBytes),
  ];
}
