import { Size, SizeRoundingBehavior } from 'cdk8s';
import { defaultVolumeGibibytes } from '../lib/defaults';
import { nameProblem, problemsOf } from '../validation/names';

/** Where a member keeps its data. */
export interface EtcdVolume {
  /**
   * How large it is: at least 2 GiB, and 1 GiB more than twice the quota. etcd writes the database a second time while it
   * defragments or takes over a snapshot, and keeps up to half a GiB of logs. It cannot be changed later: Kubernetes
   * refuses a StatefulSet with other volume claims.
   * @default Size.gibibytes(8)
   */
  readonly size?: Size;
  /**
   * The StorageClass. etcd wants a fast disk: an SSD, with fsync below 10 ms. It cannot be changed later.
   * @default - the default one
   */
  readonly storageClass?: string;
  /**
   * Keeps the data in the pod instead of a volume claim. A pod that is deleted or evicted loses it, and its member is then
   * replaced; when all pods are lost at once, only a backup brings the data back. Of a cluster of one member every change
   * of the pod begins with a backup, and what is written after it is lost. It cannot be changed later.
   * @default false
   */
  readonly ephemeral?: boolean;
  /**
   * Lets only one pod at a time use the volume (ReadWriteOncePod), which the StorageClass's CSI driver must support. It
   * cannot be changed later.
   * @default false
   */
  readonly readWriteOncePod?: boolean;
}

const gibibyte = 1024 ** 3;
const largestDefaultQuota = 8 * gibibyte;
const smallestVolume = 2 * gibibyte;
const smallestQuota = 1024 ** 2;

export const volumeSize = (volume: EtcdVolume): Size => volume.size ?? Size.gibibytes(defaultVolumeGibibytes);

/** etcd's quota: what is given, else half of what the volume has above 1 GiB, at most the 8 GiB that etcd advises. */
export function quotaBytes(volume: EtcdVolume, quota: Size | undefined): number {
  if (quota) return bytes(quota);
  return Math.min(largestDefaultQuota, Math.floor((bytes(volumeSize(volume)) - gibibyte) / 2));
}

export function volumeProblems(volume: EtcdVolume, quota: Size | undefined): string[] {
  return problemsOf(
    sizeProblem(volumeSize(volume), quota),
    volume.storageClass === undefined ? undefined : nameProblem('volume: storageClass', volume.storageClass),
    ephemeralProblem(volume),
  );
}

function sizeProblem(size: Size, quota: Size | undefined): string | undefined {
  if (bytes(size) < smallestVolume) return `volume: size ${size.asString()} is too small for etcd; use 2Gi or more`;
  if (!quota) return undefined;
  if (bytes(quota) < smallestQuota) {
    return `quota: ${quota.asString()} leaves no room for data; give 1Mi or more, or leave it out for the default`;
  }
  const needed = 2 * bytes(quota) + gibibyte;
  if (bytes(size) >= needed) return undefined;
  const mebibytes = Math.ceil(needed / 1024 ** 2);
  return `quota: ${quota.asString()} needs a volume of ${mebibytes}Mi, twice as much and 1Gi, and volume has ${size.asString()}; make volume.size larger or quota smaller`;
}

function ephemeralProblem({ ephemeral, storageClass, readWriteOncePod }: EtcdVolume): string | undefined {
  if (!ephemeral) return undefined;
  const useless = storageClass === undefined ? readWriteOncePod && 'readWriteOncePod' : 'storageClass';
  return useless ? `volume: ${useless} is of no use with ephemeral, which has no volume claim; remove one` : undefined;
}

function bytes(size: Size): number {
  return Math.floor(size.toKibibytes({ rounding: SizeRoundingBehavior.NONE }) * 1024);
}
