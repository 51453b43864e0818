import type { BackupPodStore } from '../lib/backup-pod';
import type { BackupStore } from '../stores/backup-store';
import { offHostProblem } from '../stores/host-path';
import type { StoreDefinition } from '../stores/store-definition';
import { clusterNameProblem, namespaceProblem } from '../validation/cluster-name';
import { built } from '../validation/kinds';
import { nameProblem, problemsOf } from '../validation/names';
import { objectKeyProblem } from '../validation/object-key';
import { sourceKinds } from '../validation/property-kinds';
import { timestampProblem } from '../validation/timestamp';

/** Which snapshot a restore takes. */
export class RestoreSource {
  /** What an `EtcdBackup` of the same namespace took, by the name of that resource. It must be completed. */
  static backup(backupName: string): RestoreSource {
    return new RestoreSource({ backupName }, problemsOf(nameProblem('backup', backupName)));
  }

  /** A snapshot by its id, such as `etcd-snapshot-20261121-023807-3f9c2a`. `etcd-agent list` shows them. */
  static snapshot(store: BackupStore, snapshotId: string, options: RestoreSourceOptions = {}): RestoreSource {
    return RestoreSource.stored(store, { snapshotId }, options, snapshotProblem(snapshotId));
  }

  /** A snapshot that was stored under a key of your own, such as `releases/before-2.0.db`, within the store's folder. */
  static key(store: BackupStore, key: string): RestoreSource {
    return RestoreSource.stored(store, { key }, {}, objectKeyProblem('key', key));
  }

  /**
   * The newest verified snapshot that was taken before a moment, given as RFC 3339: `2026-11-21T02:30:00Z`, or with an
   * offset, `2026-11-21T03:30:00+01:00`.
   */
  static latestVerifiedBefore(store: BackupStore, time: string, options: RestoreSourceOptions = {}): RestoreSource {
    const problem = timestampProblem('latestVerifiedBefore', time);
    return RestoreSource.stored(store, { latestVerifiedBefore: time }, options, problem);
  }

  private static stored(
    store: BackupStore,
    which: Partial<RestoreSourceSpec>,
    options: RestoreSourceOptions,
    problem: string | undefined,
  ): RestoreSource {
    const given = { ...options, store };
    return built(RestoreSource.prototype, given, sourceKinds, () =>
      RestoreSource.ofStore(store, which, options, problem),
    );
  }

  private static ofStore(
    store: BackupStore,
    which: Partial<RestoreSourceSpec>,
    { cluster, namespace }: RestoreSourceOptions,
    problem: string | undefined,
  ): RestoreSource {
    const definition = store._definition();
    const problems = [
      ...definition.problems.map((text) => `store: ${text}`),
      ...problemsOf(offHostProblem(definition)).map((text) => `store: ${text}`),
      ...problemsOf(
        problem,
        cluster === undefined ? undefined : clusterNameProblem('cluster', cluster),
        namespace === undefined ? undefined : namespaceProblem('namespace', namespace),
      ),
    ];
    const spec = { store: definition.pod, ...which, clusterName: cluster, clusterNamespace: namespace };
    return new RestoreSource(spec, problems, definition);
  }

  private constructor(
    private readonly spec: RestoreSourceSpec,
    private readonly problems: readonly string[],
    private readonly store?: StoreDefinition,
  ) {}

  /** @internal */
  _spec(): RestoreSourceSpec {
    return this.spec;
  }

  /** @internal */
  _store(): StoreDefinition | undefined {
    return this.store;
  }

  /** @internal */
  _problems(): string[] {
    return this.problems.map((problem) => `source: ${problem}`);
  }
}

/** Options of `RestoreSource`. */
export interface RestoreSourceOptions {
  /**
   * The name under which the backups were stored, when it is that of another cluster.
   * @default - the name of the cluster that is restored
   */
  readonly cluster?: string;
  /**
   * The namespace that the backups were taken in, when it is another one.
   * @default - the namespace of the cluster that is restored
   */
  readonly namespace?: string;
}

/** The `source` of the custom resources. */
export interface RestoreSourceSpec {
  readonly backupName?: string;
  readonly store?: BackupPodStore;
  readonly clusterName?: string;
  readonly clusterNamespace?: string;
  readonly snapshotId?: string;
  readonly key?: string;
  readonly latestVerifiedBefore?: string;
}

function snapshotProblem(id: string): string | undefined {
  if (typeof id === 'string' && /^[A-Za-z0-9][A-Za-z0-9_+-]{0,199}$/.test(id)) return undefined;
  return `snapshot: '${id}' is no id of a snapshot; write it like etcd-snapshot-20261121-023807-3f9c2a, without folder and ending`;
}
