import { type FilesystemStoreProps, filesystemStore } from './filesystem-store';
import { type S3StoreProps, s3Store } from './s3-store';
import type { StoreDefinition } from './store-definition';

/** Where backups go. They lie under the cluster's name, so that several clusters can share a store. */
export class BackupStore {
  /** A bucket of AWS S3, Ceph RGW, MinIO, or another server that speaks S3. The bucket must exist. */
  static s3(props: S3StoreProps): BackupStore {
    return new BackupStore(s3Store(props));
  }

  /** A volume: a PersistentVolumeClaim or an NFS export. */
  static filesystem(props: FilesystemStoreProps): BackupStore {
    return new BackupStore(filesystemStore(props));
  }

  private constructor(private readonly definition: StoreDefinition) {}

  /** @internal */
  _definition(): StoreDefinition {
    return this.definition;
  }
}
