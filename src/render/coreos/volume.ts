import type { Size } from 'cdk8s';
import { SizeRoundingBehavior } from 'cdk8s';
import type { EtcdVolume } from '../../cluster/etcd-volume';
import { defaultVolumeGibibytes } from '../../lib/defaults';
import type { Fields } from '../fields';
import type { DocumentReport } from '../report';
import { parseBytes, sizeOf } from '../size';

const gibibyte = 2 ** 30;

/** The volume of a member: that operator kept the data in the pod, unless it was given a claim. */
export function coreosVolume(
  claim: Fields | undefined,
  quota: Size | undefined,
  report: DocumentReport,
): EtcdVolume | undefined {
  const smallest = Math.max(2 * gibibyte, 2 * bytesOf(quota) + gibibyte);
  if (!claim) {
    const bytes = Math.max(defaultVolumeGibibytes * gibibyte, smallest);
    const size = sizeOf(bytes);
    report.note(
      'spec.pod.persistentVolumeClaimSpec',
      `is not given, so the data was lost with its pod; each member now has a volume of ${size.asString()} of the default storage class`,
    );
    return bytes === defaultVolumeGibibytes * gibibyte ? undefined : { size };
  }
  const modes = claim.strings('accessModes') ?? [];
  if (modes.some((mode) => !mode.startsWith('ReadWriteOnce'))) {
    report.note(claim.at('accessModes'), 'becomes ReadWriteOnce, as no two pods share the volume of a member');
  }
  for (const field of [
    'selector',
    'volumeName',
    'volumeMode',
    'dataSource',
    'dataSourceRef',
    'volumeAttributesClassName',
  ]) {
    claim.lose(field, 'each member makes a volume of the storage class; remove it');
  }
  return {
    size: size(claim, smallest),
    storageClass: claim.text('storageClassName'),
    readWriteOncePod: modes.includes('ReadWriteOncePod') || undefined,
  };
}

function size(claim: Fields, smallest: number): Size | undefined {
  const resources = claim.object('resources');
  resources?.lose('limits', 'a volume has no limit; remove it');
  const requests = resources?.object('requests');
  const quantity = requests?.quantity('storage');
  if (!requests || quantity === undefined) return sizeOf(Math.max(defaultVolumeGibibytes * gibibyte, smallest));
  const bytes = parseBytes(quantity);
  if (bytes === undefined) {
    claim.report.error(requests.at('storage'), `'${quantity}' is no size of a volume; write it like 8Gi`);
    return undefined;
  }
  if (bytes >= smallest) return sizeOf(bytes);
  const becomes = sizeOf(smallest);
  claim.report.note(
    requests.at('storage'),
    `${quantity} is too small for etcd, which needs 2Gi and 1Gi more than twice the quota; it becomes ${becomes.asString()}`,
  );
  return becomes;
}

function bytesOf(quota: Size | undefined): number {
  return quota ? quota.toKibibytes({ rounding: SizeRoundingBehavior.NONE }) * 1024 : 0;
}
