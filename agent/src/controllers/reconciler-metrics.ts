import { escaped } from '../backup/metrics/textfile.ts';
import type { ClusterStatus } from '../protocol/cluster-status.ts';
import type { BackupMetrics } from './backup/backup-metrics.ts';

type Labels = Readonly<Record<string, string>>;

interface OfCluster {
  status: Partial<ClusterStatus>;
  passes: number;
  /** ms. */
  lastPass: number;
  /** By the name of the action. */
  begun: Map<string, number>;
  done: Map<string, number>;
}

/** Of one list that is followed. */
export interface InformerState {
  readonly resource: string;
  readonly synced: boolean;
  readonly lists: number;
}

/** What the reconciler tells Prometheus. */
export class ReconcilerMetrics {
  leader = false;
  readonly #clusters = new Map<string, OfCluster>();

  passed(cluster: string): void {
    const of = this.#of(cluster);
    of.passes++;
    of.lastPass = Date.now();
  }

  saw(cluster: string, status: Partial<ClusterStatus>): void {
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
      family('etcd_reconciler_leader', 'gauge', 'Whether this one holds the Lease.', [[{}, Number(this.leader)]]),
      family('etcd_reconciler_synced', 'gauge', 'Whether the objects of a kind are known.', [
        ...informers.map(({ resource, synced }): Value => [{ resource }, Number(synced)]),
      ]),
      family('etcd_reconciler_lists_total', 'counter', 'How often all objects of a kind were listed.', [
        ...informers.map(({ resource, lists }): Value => [{ resource }, lists]),
      ]),
      ...this.#work(),
      ...this.#states(),
      ...backupFamilies(backups),
      family('process_resident_memory_bytes', 'gauge', 'Memory.', [[{}, process.memoryUsage.rss()]]),
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
      family('etcd_reconciler_passes_total', 'counter', 'How often a cluster was looked at.', [
        ...all.map(([cluster, { passes }]): Value => [{ cluster }, passes]),
      ]),
      family('etcd_reconciler_last_pass_timestamp_seconds', 'gauge', 'When a cluster was looked at last.', [
        ...all
          .filter(([, { lastPass }]) => lastPass > 0)
          .map(([cluster, of]): Value => [{ cluster }, of.lastPass / 1000]),
      ]),
      family('etcd_reconciler_actions_total', 'counter', 'Actions that were begun.', counts('begun')),
      family('etcd_reconciler_actions_done_total', 'counter', 'Actions that succeeded.', counts('done')),
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
      gauge('etcd_cluster_pods', 'Pods that there should be now.', ({ size }) => size),
      gauge('etcd_cluster_voters', 'Voting members.', ({ voters }) => voters),
      gauge(
        'etcd_cluster_ready_voters',
        'Voting members that are healthy, and whose pods are ready.',
        ({ readyVoters }) => readyVoters,
      ),
      gauge('etcd_cluster_epoch', 'How often the cluster was bootstrapped or restored.', ({ epoch }) => epoch),
      gauge(
        'etcd_cluster_last_backup_timestamp_seconds',
        'When the newest verified backup was taken.',
        ({ lastBackup }) => (lastBackup ? Date.parse(lastBackup.at) / 1000 : undefined),
      ),
      family('etcd_cluster_condition', 'gauge', 'Conditions of the EtcdCluster: 1 for True.', conditions),
    ];
  }

  #of(cluster: string): OfCluster {
    const found = this.#clusters.get(cluster);
    if (found) return found;
    const made: OfCluster = { status: {}, passes: 0, lastPass: 0, begun: new Map(), done: new Map() };
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
    family('etcd_reconciler_backups', 'gauge', 'EtcdBackups that there are.', [
      ...phases.map(([phase, count]): Value => [{ phase }, count]),
    ]),
    ofRuns('etcd_cluster_backup_run_failed', 'Whether the newest run of the schedule failed.', ({ failed }) =>
      Number(failed),
    ),
    ofRuns('etcd_cluster_backup_run_timestamp_seconds', 'When it ended.', ({ endedAt }) => endedAt),
    ofRuns('etcd_cluster_backup_size_bytes', 'Of the newest snapshot of the schedule.', ({ sizeBytes }) => sizeBytes),
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
