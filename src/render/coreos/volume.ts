import { defaultVolume } from '../../lib/defaults';
import type { EtcdClusterSpec } from '../../resource/types';
import type { Fields } from '../fields';
import type { DocumentReport } from '../report';
import { parseBytes, sizeText } from '../units';

const gibibyte = 2 ** 30;

/** Returns the volume of a member. That operator stores the data in the pod, unless the spec has a claim. */
export function coreosVolume(
  claim: Fields | undefined,
  quotaBytes: number | undefined,
  report: DocumentReport,
): NonNullable<EtcdClusterSpec['storage']> {
  const smallest = Math.max(2 * gibibyte, 2 * (quotaBytes ?? 0) + gibibyte);
  if (!claim) {
    const size = usual(smallest);
    report.note(
      'spec.pod.persistentVolumeClaimSpec',
      `is missing, so a pod's data was lost with the pod; each member now has a volume of ${size} with the default storage class`,
    );
    return { size };
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
    storageClassName: claim.text('storageClassName'),
    accessModes: modes.includes('ReadWriteOncePod') ? ['ReadWriteOncePod'] : undefined,
  };
}

const usual = (smallest: number): string => sizeText(Math.max(parseBytes(defaultVolume)!, smallest));

function size(claim: Fields, smallest: number): string {
  const resources = claim.object('resources');
  resources?.lose('limits', 'a limit has no effect on a volume; remove it');
  const requests = resources?.object('requests');
  const quantity = requests?.quantity('storage');
  if (!requests || quantity === undefined) return usual(smallest);
  const bytes = parseBytes(quantity);
  if (bytes === undefined) {
    claim.report.error(requests.at('storage'), `'${quantity}' is not a valid size of a volume; write it like 8Gi`);
    return usual(smallest);
  }
  if (bytes >= smallest) return sizeText(bytes);
  const becomes = sizeText(smallest);
  claim.report.note(
    requests.at('storage'),
    `${quantity} is too small for etcd, which needs at least 2Gi, and at least twice the quota plus 1Gi; it becomes ${becomes}`,
  );
  return becomes;
}
