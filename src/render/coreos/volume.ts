import type { Size } from 'cdk8s';
import { SizeRoundingBehavior } from 'cdk8s';
import type { EtcdVolume } from '../../cluster/etcd-volume';
import { defaultVolume } from '../../lib/defaults';
import type { Fields } from '../fields';
import type { DocumentReport } from '../report';
import { parseBytes, sizeOf } from '../units';

const gibibyte = 2 ** 30;

/** Returns the volume of a member. That operator stores the data in the pod, unless the spec has a claim. */
export function coreosVolume(
  claim: Fields | undefined,
  quota: Size | undefined,
  report: DocumentReport,
): EtcdVolume | undefined {
  const smallest = Math.max(2 * gibibyte, 2 * bytesOf(quota) + gibibyte);
  if (!claim) {
    const bytes = Math.max(parseBytes(defaultVolume)!, smallest);
    const size = sizeOf(bytes);
    report.note(
      'spec.pod.persistentVolumeClaimSpec',
      `is missing, so a pod's data was lost with the pod; each member now has a volume of ${size.asString()} with the default storage class`,
    );
    return bytes === parseBytes(defaultVolume)! ? undefined : { size };
  }
  const modes = claim.strings('accessModes') ?? [];
  if (modes.some((mode) => !mode.startsWith('ReadWriteOnce'))) {
    report.note(claim.at('accessModes'), 'becomes ReadWriteOnce, because the volume of a member is never shared');
  }
  for (const field of [
    'selector',
    'volumeName',
    'volumeMode',
    'dataSource',
    'dataSourceRef',
    'volumeAttributesClassName',
  ]) {
    claim.lose(field, 'each member gets a new volume of the storage class; remove it');
  }
  return {
    size: size(claim, smallest),
    storageClass: claim.text('storageClassName'),
    readWriteOncePod: modes.includes('ReadWriteOncePod') || undefined,
  };
}

function size(claim: Fields, smallest: number): Size | undefined {
  const resources = claim.object('resources');
  resources?.lose('limits', 'a limit has no effect on a volume; remove it');
  const requests = resources?.object('requests');
  const quantity = requests?.quantity('storage');
  if (!requests || quantity === undefined) return sizeOf(Math.max(parseBytes(defaultVolume)!, smallest));
  const bytes = parseBytes(quantity);
  if (bytes === undefined) {
    claim.report.error(requests.at('storage'), `'${quantity}' is not a valid size of a volume; write it like 8Gi`);
    return undefined;
  }
  if (bytes >= smallest) return sizeOf(bytes);
  const becomes = sizeOf(smallest);
  claim.report.note(
    requests.at('storage'),
    `${quantity} is too small for etcd, which needs at least 2Gi, and at least twice the quota plus 1Gi; it becomes ${becomes.asString()}`,
  );
  return becomes;
}

function bytesOf(quota: Size | undefined): number {
  return quota ? quota.toKibibytes({ rounding: SizeRoundingBehavior.NONE }) * 1024 : 0;
}
