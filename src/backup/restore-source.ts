import type { RestoreSourceSpec } from '../resource/types';
import type { BackupStore } from '../stores/backup-store';
import { offHostProblem } from '../stores/host-path';
import type { StoreDefinition } from '../stores/store-definition';
import { type INamed, nameOf } from '../validation/named';
import { clusterNameProblem, nameProblem, namespaceProblem } from '../validation/names';
import { problemsOf } from '../validation/problems';
import { sourceTypes } from '../validation/property-types';
import { objectKeyProblem } from '../validation/store-paths';
import { timestampProblem } from '../validation/times';
import { isToken } from '../validation/tokens';
import { buildIfValid } from '../validation/type-checks';

/** Selects the snapshot that a restore uses. */
export class RestoreSource {
  /**
   * Selects the snapshot of an `EtcdBackup` in the same namespace, by the name of that resource. It must be completed.
   *
   * @param backupName The name of the `EtcdBackup`.
   */
  static backup(backupName: string): RestoreSource {
    return new RestoreSource({ backupName }, problemsOf(nameProblem('backup', backupName)));
  }

  /**
   * Selects a snapshot by its id, such as `etcd-snapshot-20261121-023807-3f9c2a`. `etcd-agent list` shows the ids.
   *
   * @param store The store that holds the snapshot.
   * @param snapshotId The id of the snapshot.
   * @param options The cluster that was backed up, if it is another one.
   */
  static snapshot(store: BackupStore, snapshotId: string, options: RestoreSourceOptions = {}): RestoreSource {
    return RestoreSource.stored(store, { snapshotId }, options, snapshotProblem(snapshotId));
  }

  /**
   * Selects a snapshot by its key within the store's folder, such as `releases/before-2.0.db`.
   *
   * @param store The store that holds the snapshot.
   * @param key The key, without the folder of the store.
   */
  static key(store: BackupStore, key: string): RestoreSource {
    return RestoreSource.stored(store, { key }, {}, objectKeyProblem('key', key));
  }

  /**
   * Selects the newest verified snapshot that was taken before a point in time. The time is given in RFC 3339, such as
   * `2026-11-21T02:30:00Z` or, with an offset, `2026-11-21T03:30:00+01:00`.
   *
   * @param store The store that holds the snapshots.
   * @param time The point in time.
   * @param options The cluster that was backed up, if it is another one.
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
    return buildIfValid(RestoreSource.prototype, given, sourceTypes, () =>
      RestoreSource.ofStore(store, which, options, problem),
    );
  }

  private static ofStore(
    store: BackupStore,
    which: Partial<RestoreSourceSpec>,
    { cluster, ...options }: RestoreSourceOptions,
    problem: string | undefined,
  ): RestoreSource {
    const definition = store._definition();
    const namespace = nameOf(options.namespace);
    const problems = [
      ...definition.problems.map((text) => `store: ${text}`),
      ...problemsOf(offHostProblem(definition)).map((text) => `store: ${text}`),
      ...problemsOf(
        problem,
        cluster === undefined ? undefined : clusterNameProblem('cluster', cluster),
        namespace === undefined || isToken(namespace) ? undefined : namespaceProblem('namespace', namespace),
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

/** Locates backups that were stored under the name of another cluster or namespace. */
export interface RestoreSourceOptions {
  /**
   * Sets the name under which the backups were stored, if they are those of another cluster.
   * @default - the name of the cluster that is restored
   */
  readonly cluster?: string;
  /**
   * Names the namespace in which the backups were taken, if it is another one.
   * @default - the namespace of the cluster that is restored
   */
  readonly namespace?: string | INamed;
}

function snapshotProblem(id: string): string | undefined {
  if (typeof id === 'string' && /^[A-Za-z0-9][A-Za-z0-9_+-]{0,199}$/.test(id)) return undefined;
  return `snapshot: '${id}' is not a valid snapshot id; write it like etcd-snapshot-20261121-023807-3f9c2a, without folder and file extension`;
}
