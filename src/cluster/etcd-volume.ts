import type { Size } from 'cdk8s';
import { quotaBytes } from '../etcd/quota';
import { defaultVolume } from '../lib/defaults';
import { defaults } from '../resource/defaults';
import type { EtcdClusterSpec } from '../resource/types';

/** Describes the volume in which a member stores its data. */
export interface EtcdVolume {
  /**
   * Sets the size of the volume: at least 2 GiB, and at least twice the quota plus 1 GiB. etcd writes the database a
   * second time while it defragments or receives a snapshot, and keeps up to half a GiB of logs. The size cannot be
   * changed later, because Kubernetes refuses other volume claims in an existing StatefulSet.
   * @default Size.gibibytes(8)
   */
  readonly size?: Size;
  /**
   * Names the StorageClass. etcd needs a fast disk: an SSD with an fsync below 10 ms. It cannot be changed later.
   * @default - the default StorageClass
   */
  readonly storageClass?: string;
  /**
   * Stores the data in the pod instead of a volume claim. A pod that is deleted or evicted loses its data, and its
   * member is replaced. If all pods are lost at once, only a backup can bring the data back. In a cluster with one
   * member, every change of the pod starts with a backup, and everything that is written after this backup is lost. It
   * cannot be changed later.
   * @default false
   */
  readonly ephemeral?: boolean;
  /**
   * Allows only one pod at a time to use the volume (ReadWriteOncePod). The CSI driver of the StorageClass must support
   * it. It cannot be changed later.
   * @default false
   */
  readonly readWriteOncePod?: boolean;
  /**
   * Adds labels to the claims. They cannot be changed later.
   * @default - none
   */
  readonly labels?: { readonly [name: string]: string };
  /**
   * Adds annotations to the claims. They cannot be changed later.
   * @default - none
   */
  readonly annotations?: { readonly [name: string]: string };
  /**
   * Selects the volumes that a claim may use: Kubernetes' `LabelSelector`. It cannot be changed later.
   * @default - any volume
   */
  // biome-ignore lint/suspicious/noExplicitAny: jsii has no `unknown`
  readonly selector?: { readonly [key: string]: any };
}

type StorageSpec = NonNullable<EtcdClusterSpec['storage']>;

export function storageSpec({
  size,
  storageClass,
  ephemeral,
  readWriteOncePod,
  ...claim
}: EtcdVolume = {}): StorageSpec {
  return {
    size: size?.asString() ?? defaultVolume,
    storageClassName: storageClass,
    accessModes: readWriteOncePod ? ['ReadWriteOncePod'] : undefined,
    ephemeral: ephemeral || undefined,
    ...claim,
  };
}

/** A member's volume and quota with all defaults applied. */
export interface ResolvedVolume {
  readonly size: string;
  readonly storageClass?: string;
  readonly ephemeral: boolean;
  readonly accessMode: string;
  /** What the claims have besides. */
  readonly claim: Pick<StorageSpec, 'labels' | 'annotations' | 'selector'>;
  readonly quotaBytes: number;
}

const usual = defaults.EtcdClusterSpec.storage;
export function resolveVolume(storage: Partial<StorageSpec> = {}, quota?: string): ResolvedVolume {
  const { size = defaultVolume, storageClassName, accessModes = usual.accessModes, ...rest } = storage;
  const { ephemeral = usual.ephemeral, ...claim } = rest;
  return {
    ...{ size, ephemeral, claim },
    storageClass: storageClassName,
    accessMode: accessModes[0]!,
    quotaBytes: quotaBytes({ quota, storage }),
  };
}
