import { escaped } from '../backup/metrics/textfile.ts';
import type { ClusterStatus } from '../protocol/cluster-status.ts';
import type { BackupMetrics } from './backup/metrics.ts';

type Labels = Readonly<Record<string, string>>;

interface ClusterCounts {
  status: Partial<ClusterStatus>;
  passes: number;
  /** ms. */
  lastPass: number;
  /** Counts by name of the action. */
  begun: Map<string, number>;
  done: Map<string, number>;
}

/** State of one informer. */
export interface InformerState {
  readonly resource: string;
  readonly synced: boolean;
  readonly lists: number;
}

/** Metrics of the reconciler, for Prometheus. */
export class ReconcilerMetrics {
  leader = false;
  readonly #clusters = new Map<string, ClusterCounts>();

  passed(cluster: string): void {
    const of = this.#of(cluster);
    of.passes++;
    of.lastPass = Date.now();
  }

  observed(cluster: string, status: Partial<ClusterStatus>): void {
    this.#of(cluster).status = status;
  }

  /** `point`: `before` or `after`, and the name of an action. */
  acted(cluster: string, point: string): void {
    const [when, action] = point.split(' ', 2) as [string, string];
    const counts = when === 'before' ? this.#of(cluster).begun : this.#of(cluster).done;
    counts.set(action, (counts.get(action) ?? 0) + 1);
  }

  forget(cluster: string): void {
    this.#clusters.delete(cluster);
  }

  text(informers: readonly InformerState[], backups: BackupMetrics): string {
    const families: Family[] = [
      family('etcd_reconciler_leader', 'gauge', '1 if this reconciler holds the Lease.', [[{}, Number(this.leader)]]),
      family('etcd_reconciler_synced', 'gauge', '1 if all objects of the kind are known.', [
        ...informers.map(({ resource, synced }): Value => [{ resource }, Number(synced)]),
      ]),
      family('etcd_reconciler_lists_total', 'counter', 'Number of full lists of a kind.', [
        ...informers.map(({ resource, lists }): Value => [{ resource }, lists]),
      ]),
      ...this.#work(),
      ...this.#states(),
      ...backupFamilies(backups),
      family('process_resident_memory_bytes', 'gauge', 'Resident memory.', [[{}, process.memoryUsage.rss()]]),
      family('process_cpu_seconds_total', 'counter', 'CPU time.', [[{}, cpuSeconds()]]),
    ];
    return families
      .filter(([, , , values]) => values.length > 0)
      .map(printed)
      .join('');
  }

  #work(): Family[] {
    const all = [...this.#clusters];
    const counts = (which: 'begun' | 'done') =>
      all.flatMap(([cluster, of]) => [...of[which]].map(([action, count]): Value => [{ cluster, action }, count]));
    return [
      family('etcd_reconciler_passes_total', 'counter', 'Number of passes over a cluster.', [
        ...all.map(([cluster, { passes }]): Value => [{ cluster }, passes]),
      ]),
      family('etcd_reconciler_last_pass_timestamp_seconds', 'gauge', 'Time of the last pass over a cluster.', [
        ...all
          .filter(([, { lastPass }]) => lastPass > 0)
          .map(([cluster, of]): Value => [{ cluster }, of.lastPass / 1000]),
      ]),
      family('etcd_reconciler_actions_total', 'counter', 'Number of actions that were started.', counts('begun')),
      family('etcd_reconciler_actions_done_total', 'counter', 'Number of actions that succeeded.', counts('done')),
    ];
  }

  #states(): Family[] {
    const gauge = (name: string, help: string, of: (status: Partial<ClusterStatus>) => number | undefined): Family =>
      family(
        name,
        'gauge',
        help,
        [...this.#clusters].flatMap(([cluster, { status }]) => {
          const value = of(status);
          return value === undefined ? [] : [[{ cluster }, value] as const];
        }),
      );
    const conditions = [...this.#clusters].flatMap(([cluster, { status }]) =>
      (status.conditions ?? []).map(
        ({ type, status, reason }): Value => [{ cluster, condition: type, reason }, status === 'True' ? 1 : 0],
      ),
    );
    return [
      gauge('etcd_cluster_pods', 'Number of pods that the cluster should have now.', ({ size }) => size),
      gauge('etcd_cluster_voters', 'Number of voting members.', ({ voters }) => voters),
      gauge(
        'etcd_cluster_ready_voters',
        'Number of voting members that are healthy and have a ready pod.',
        ({ readyVoters }) => readyVoters,
      ),
      gauge('etcd_cluster_epoch', 'Epoch: number of bootstraps and restores of the cluster.', ({ epoch }) => epoch),
      gauge('etcd_cluster_last_backup_timestamp_seconds', 'Time of the newest verified backup.', ({ lastBackup }) =>
        lastBackup ? Date.parse(lastBackup.at) / 1000 : undefined,
      ),
      family(
        'etcd_cluster_certificate_expiry_timestamp_seconds',
        'gauge',
        'End of the certificate in a Secret that the reconciler writes.',
        [...this.#clusters].flatMap(([cluster, { status }]) =>
          (status.certificates ?? []).map(
            ({ secret, notAfter }): Value => [{ cluster, secret }, Date.parse(notAfter) / 1000],
          ),
        ),
      ),
      family('etcd_cluster_condition', 'gauge', 'Conditions of the EtcdCluster: 1 for True.', conditions),
    ];
  }

  #of(cluster: string): ClusterCounts {
    const found = this.#clusters.get(cluster);
    if (found) return found;
    const made: ClusterCounts = { status: {}, passes: 0, lastPass: 0, begun: new Map(), done: new Map() };
    this.#clusters.set(cluster, made);
    return made;
  }
}

type Value = readonly [labels: Labels, value: number];
type Family = readonly [name: string, type: 'gauge' | 'counter', help: string, values: readonly Value[]];

const family = (name: string, type: Family[1], help: string, values: readonly Value[]): Family => [
  name,
  type,
  help,
  values,
];

function backupFamilies({ phases, runs }: BackupMetrics): Family[] {
  type Run = BackupMetrics['runs'][number];
  const ofRuns = (name: string, help: string, value: (run: Run) => number | undefined): Family => {
    const values = runs.map((run) => [{ cluster: run.cluster, schedule: run.schedule }, value(run)] as const);
    const known = values.filter((each): each is typeof each & Value => each[1] !== undefined);
    return family(name, 'gauge', help, known);
  };
  return [
    family('etcd_reconciler_backups', 'gauge', 'Number of EtcdBackups by phase.', [
      ...phases.map(([phase, count]): Value => [{ phase }, count]),
    ]),
    ofRuns('etcd_cluster_backup_run_failed', '1 if the newest run of the schedule failed.', ({ failed }) =>
      Number(failed),
    ),
    ofRuns(
      'etcd_cluster_backup_run_timestamp_seconds',
      'End of the newest run of the schedule.',
      ({ endedAt }) => endedAt,
    ),
    ofRuns(
      'etcd_cluster_backup_size_bytes',
      'Size of the newest snapshot of the schedule.',
      ({ sizeBytes }) => sizeBytes,
    ),
  ];
}

function printed([name, type, help, values]: Family): string {
  const lines = values.map(([labels, value]) => `${name}${braces(labels)} ${value}\n`).join('');
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines}`;
}

function braces(labels: Labels): string {
  const pairs = Object.entries(labels).map(([label, value]) => `${label}="${escaped(value)}"`);
  return pairs.length > 0 ? `{${pairs.join(',')}}` : '';
}

function cpuSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}
