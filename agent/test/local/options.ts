import type { ClusterSpec } from '../../src/controllers/port/observed.ts';
import type { ReconcilerSettings } from '../../src/controllers/port/settings.ts';
import type { Minor } from '../harness/etcd-binaries.ts';

export interface LocalClusterOptions {
  /** Default 3. */
  readonly size?: number;
  /** Complete, such as 3.6.16. Default: the available version of `minor`. */
  readonly version?: string;
  /** Default 3.6. */
  readonly minor?: Minor;
  /** `later`: without, but there are certificates that `apply` may mount. */
  readonly tls?: boolean | 'later';
  /**
   * Certificates of root, of backups and of the user `client`, and the agents' backup ports. With TLS only.
   * `LocalCluster.enableAuth` switches authentication on.
   */
  readonly users?: boolean;
  /** Settings of the reconciler, in addition to the shortened ones. */
  readonly settings?: Partial<ReconcilerSettings>;
  /** etcd's settings by canonical key. */
  readonly etcd?: Readonly<Record<string, unknown>>;
  readonly spec?: Partial<ClusterSpec>;
  /** Default: a temporary directory, removed at the end. */
  readonly dir?: string;
  /** Directory for the volumes of an ordinal, for example on a small file system. */
  readonly volumeRoot?: (ordinal: number) => string;
  /** False if it is started later. */
  readonly reconciler?: boolean;
}

export interface Change {
  readonly spec?: Partial<ClusterSpec>;
  /** `disabling`: `EtcdTls.none()` with `from`; `off`: without. */
  readonly tls?: 'on' | 'disabling' | 'off';
  readonly version?: string;
  readonly etcd?: Readonly<Record<string, unknown>>;
}
