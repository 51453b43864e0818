import { propProblems, withFound } from '../resource/prop-problems';
import { fieldProblems } from '../resource/resource-problems';
import type { RestoreSourceSpec } from '../resource/types';
import type { BackupStore } from '../stores/backup-store';
import { offHostProblem } from '../stores/host-path';
import type { StoreDefinition } from '../stores/store-definition';
import { BackupStore as storeType } from '../validation/class-types';
import { type INamed, nameOf } from '../validation/named';
import { problemsOf } from '../validation/problems';
import * as types from '../validation/property-types';
import { buildIfValid, manifestText, required } from '../validation/type-checks';
import type { EtcdBackup } from './etcd-backup';

const backupType = { ...manifestText, name: 'an EtcdBackup or its name' };

/** Selects the snapshot that a restore uses. */
export class RestoreSource {
  /**
   * Selects the snapshot of an `EtcdBackup` in the same namespace. It must be completed.
   *
   * @param backup The `EtcdBackup`, or the name of its resource.
   */
  static backup(backup: string | EtcdBackup): RestoreSource {
    const backupName = typeof backup === 'object' && 'backupName' in backup ? backup.backupName : backup;
    return buildIfValid(
      RestoreSource.prototype,
      { backup: backupName },
      { backup: required(backupType) },
      () => new RestoreSource({ backupName }),
    );
  }

  /**
   * Selects a snapshot by its id, such as `etcd-snapshot-20261121-023807-3f9c2a`. `etcd-agent list` shows the ids.
   *
   * @param store The store that holds the snapshot.
   * @param snapshotId The id of the snapshot.
   * @param options The cluster that was backed up, if it is another one.
   */
  static snapshot(store: BackupStore, snapshotId: string, options: RestoreSourceOptions = {}): RestoreSource {
    return RestoreSource.stored(store, { snapshotId }, options);
  }

  /**
   * Selects a snapshot by its key within the store's folder, such as `releases/before-2.0.db`.
   *
   * @param store The store that holds the snapshot.
   * @param key The key, without the folder of the store.
   */
  static key(store: BackupStore, key: string): RestoreSource {
    return RestoreSource.stored(store, { key }, {});
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
    return RestoreSource.stored(store, { latestVerifiedBefore: time }, options);
  }

  private static stored(
    store: BackupStore,
    which: Partial<RestoreSourceSpec>,
    options: RestoreSourceOptions,
  ): RestoreSource {
    return buildIfValid(
      RestoreSource.prototype,
      { ...options, store },
      { ...types.RestoreSourceOptions, store: required(storeType) },
      () => {
        const definition = store._definition();
        const names = { clusterName: options.cluster, clusterNamespace: nameOf(options.namespace) };
        return new RestoreSource({ store: definition.pod, ...which, ...names }, definition);
      },
    );
  }

  private constructor(
    private readonly spec: RestoreSourceSpec,
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
    const { store, spec } = this;
    const ofStore = [...(store?.problems ?? []), ...problemsOf(store && offHostProblem(store))];
    const found = propProblems(fieldProblems('EtcdRestore', 'spec.source', spec), propNames);
    return withFound(
      ofStore.map((problem) => `store: ${problem}`),
      found,
    ).map((problem) => `source: ${problem}`);
  }
}

const propNames = {
  backupName: 'backup',
  snapshotId: 'snapshot',
  clusterName: 'cluster',
  clusterNamespace: 'namespace',
};

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
