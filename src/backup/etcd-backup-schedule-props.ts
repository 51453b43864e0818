import { Duration } from 'cdk8s';
import type { EtcdAuth } from '../etcd/etcd-auth';
import type { BackupPodHost } from '../lib/backup-pod';
import type { EtcdClientTls } from '../tls/etcd-client-tls';
import type { BackupScheduleOptions } from './backup-schedule-options';
import type { Retention } from './retention';

/** Properties of `EtcdBackupSchedule`. */
export interface EtcdBackupScheduleProps extends BackupScheduleOptions {
  /**
   * The name under which the backups are stored and found again: up to 63 letters, digits, `-`, `_` and `.`. Two etcd
   * clusters must not share it within a store.
   */
  readonly cluster: string;
  /**
   * Client URLs of one or more members, such as `https://etcd-0.etcd:2379`; the others are found through them. Without a
   * scheme it is https when `tls` is given, else http.
   */
  readonly endpoints: string[];
  /**
   * How to reach an etcd that speaks TLS.
   * @default - plain http
   */
  readonly tls?: EtcdClientTls;
  /**
   * The user to log in as.
   * @default - none: etcd's authentication is off, or the client certificate names the user
   */
  readonly auth?: EtcdAuth;
  /**
   * Runs beside etcd, on its own machine.
   * @internal
   */
  readonly _host?: BackupPodHost;
}

/** Options of `EtcdBackupSchedule.addStore`. */
export interface AddStoreOptions {
  /**
   * Which backups of this store to keep.
   * @default - all of them: nothing is ever deleted
   */
  readonly retention?: Retention;
}

/** Above what any sane etcd needs with the smallest CPU limit, all retries included. */
export const defaultActiveDeadline = Duration.hours(6);
