import * as types from '../validation/property-types';
import { buildIfValid, type PropertyTypes } from '../validation/type-checks';
import { type CommandStoreProps, commandStore } from './command-store';
import { type FilesystemStoreProps, filesystemStore } from './filesystem-store';
import { type OssStoreProps, ossStore } from './oss-store';
import { type S3StoreProps, s3Store } from './s3-store';
import { type SftpStoreProps, sftpStore } from './sftp-store';
import type { StoreDefinition } from './store-definition';

/**
 * Describes a place where backups are stored. Their path contains the namespace and the cluster's name, so the clusters
 * of one Kubernetes cluster can share a store.
 */
export class BackupStore {
  /** Stores backups in a bucket in AWS S3, Ceph RGW, MinIO or another server with the S3 API. The bucket must exist. */
  static s3(props: S3StoreProps): BackupStore {
    return BackupStore.of(props, types.S3StoreProps, () => s3Store(props));
  }

  /**
   * Stores backups in a bucket in Alibaba Cloud OSS, used through its S3-compatible endpoint. The bucket must exist.
   */
  static oss(props: OssStoreProps): BackupStore {
    return BackupStore.of(props, types.OssStoreProps, () => ossStore(props));
  }

  /** Stores backups in a directory on an SFTP server. */
  static sftp(props: SftpStoreProps): BackupStore {
    return BackupStore.of(props, types.SftpStoreProps, () => sftpStore(props));
  }

  /**
   * Stores backups in a volume: a PersistentVolumeClaim, an NFS export or, for a `ControlPlaneEtcdBackup`, a directory
   * on its node.
   */
  static filesystem(props: FilesystemStoreProps): BackupStore {
    return BackupStore.of(props, types.FilesystemStoreProps, () => filesystemStore(props));
  }

  /**
   * Stores backups with your own executables, one per operation, for storage that the agent does not support. They run
   * in your own image, which must also contain the agent: set the schedule's `image`.
   */
  static command(props: CommandStoreProps): BackupStore {
    return BackupStore.of(props, types.CommandStoreProps, () => commandStore(props));
  }

  private static of(props: object, types: PropertyTypes, define: () => StoreDefinition): BackupStore {
    return buildIfValid(BackupStore.prototype, props, types, () => new BackupStore(define()));
  }

  private constructor(private readonly definition: StoreDefinition) {}

  /** @internal */
  _definition(): StoreDefinition {
    return this.definition;
  }
}
