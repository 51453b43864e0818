import type { IEtcdCluster } from '../backup/i-etcd-cluster';
import type { EtcdUserSpec } from '../resource/types';
import type { INamed } from '../validation/named';
import type { EtcdPermission } from './etcd-permission';

/** Configures a user of `EtcdCluster.addUser`. */
export interface EtcdUserOptions {
  /** Lists what the user may read and write. With an empty list the user may do nothing. */
  readonly can: EtcdPermission[];
  /**
   * Names the user in etcd, and is the common name of its certificate, if it has one: up to 64 letters, digits, `-`,
   * `_`, `.`, `:`, `@` and `/`. It cannot be changed later.
   * @default - the construct's id
   */
  readonly userName?: string;
  /**
   * Names the resource.
   * @default - `<cluster>-<id>`
   */
  readonly name?: string;
  /**
   * Names the Secret with the user's certificate, or with its password.
   * @default - `<cluster>-user-<id>`, with a password `<cluster>-user-<id>-password`
   */
  readonly secretName?: string | INamed;
  /**
   * Gives the user a password instead of a certificate: the Secret has `username` and `password`. The client also
   * presents a certificate of the cluster, such as that of `clientTls`.
   * @default false
   */
  readonly password?: boolean;
  /**
   * Adds labels to the user's objects.
   * @default - only the standard labels, `app.kubernetes.io/…`
   */
  readonly labels?: { readonly [name: string]: string };
}

/** Configures an `EtcdUser`. */
export interface EtcdUserProps extends EtcdUserOptions {
  /** Selects the cluster. It must be in the same namespace. */
  readonly cluster: IEtcdCluster;
  /**
   * The user as its resource has it, in the place of `can`.
   * @internal
   */
  readonly _written?: EtcdUserSpec;
}
