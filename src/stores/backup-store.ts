import { built, type Kinds } from '../validation/kinds';
import {
  commandStoreKinds,
  filesystemStoreKinds,
  ossStoreKinds,
  s3StoreKinds,
  sftpStoreKinds,
} from '../validation/property-kinds';
import { type CommandStoreProps, commandStore } from './command-store';
import { type FilesystemStoreProps, filesystemStore } from './filesystem-store';
import { type OssStoreProps, ossStore } from './oss-store';
import { type S3StoreProps, s3Store } from './s3-store';
import { type SftpStoreProps, sftpStore } from './sftp-store';
import type { StoreDefinition } from './store-definition';

/**
 * Where backups go. They lie under the namespace and the cluster's name, so that the clusters of one Kubernetes can share a
 * store.
 */
export class BackupStore {
  /** A bucket of AWS S3, Ceph RGW, MinIO, or another server that speaks S3. The bucket must exist. */
  static s3(props: S3StoreProps): BackupStore {
    return BackupStore.of(props, s3StoreKinds, () => s3Store(props));
  }

  /** A bucket of Alibaba Cloud OSS, through its S3-compatible endpoint. The bucket must exist. */
  static oss(props: OssStoreProps): BackupStore {
    return BackupStore.of(props, ossStoreKinds, () => ossStore(props));
  }

  /** A directory on an SFTP server. */
  static sftp(props: SftpStoreProps): BackupStore {
    return BackupStore.of(props, sftpStoreKinds, () => sftpStore(props));
  }

  /** A volume: a PersistentVolumeClaim, an NFS export or, for a `ControlPlaneEtcdBackup`, a directory of its node. */
  static filesystem(props: FilesystemStoreProps): BackupStore {
    return BackupStore.of(props, filesystemStoreKinds, () => filesystemStore(props));
  }

  /**
   * Executables of your own, one per verb, for any place that the agent itself does not know. They run in an image of your
   * own with the agent in it: the schedule's `image`.
   */
  static command(props: CommandStoreProps): BackupStore {
    return BackupStore.of(props, commandStoreKinds, () => commandStore(props));
  }

  private static of(props: object, kinds: Kinds, define: () => StoreDefinition): BackupStore {
    return built(BackupStore.prototype, props, kinds, () => new BackupStore(define()));
  }

  private constructor(private readonly definition: StoreDefinition) {}

  /** @internal */
  _definition(): StoreDefinition {
    return this.definition;
  }
}
