import { defaultVolume } from '../../lib/defaults';
import type { EtcdClusterSpec } from '../../resource/types';
import { type Fields, filled } from '../fields';
import { parseBytes } from '../units';

const least = 2 * 2 ** 30;

/** The volume of a member. The chart's is 8Gi by default, too. */
export function bitnamiStorage(values: Fields): NonNullable<EtcdClusterSpec['storage']> {
  const persistence = values.object('persistence');
  const storage = { size: sizeOf(persistence), storageClassName: classOf(persistence) };
  const [labels, annotations] = ['labels', 'annotations'].map((key) => persistence?.map(key));
  const modes = persistence?.strings('accessModes') ?? [];
  if (modes.some((mode) => !mode.startsWith('ReadWriteOnce')))
    values.report.note(
      values.at('persistence.accessModes'),
      'becomes ReadWriteOnce, because the volume of a member is never shared',
    );
  const selector = persistence?.object('selector');
  if (persistence?.boolean('enabled') === false) {
    values.report.note(
      values.at('persistence.enabled'),
      'a member whose pod is deleted starts without its data: prefer a volume',
    );
    return { size: storage.size, ephemeral: true };
  }
  return {
    ...storage,
    accessModes: modes.includes('ReadWriteOncePod') ? ['ReadWriteOncePod'] : undefined,
    labels: filled(labels),
    annotations: filled(annotations),
    selector: selector && selector.keys.length > 0 ? selector.whole() : undefined,
  };
}

function classOf(persistence: Fields | undefined): string | undefined {
  const name = persistence?.text('storageClass') ?? persistence?.text('storageClassName');
  if (name !== '-') return name;
  persistence!.report.lost(
    persistence!.at('storageClass'),
    'means volumes without a class, which somebody makes by hand; give them a StorageClass and name it, or the members get volumes of the default class',
  );
  return undefined;
}

function sizeOf(persistence: Fields | undefined): string {
  const given = persistence?.quantity('size');
  if (given === undefined) return defaultVolume;
  const bytes = parseBytes(given);
  if (bytes === undefined) {
    persistence!.report.error(persistence!.at('size'), `'${given}' is not a valid size of a volume; write it like 8Gi`);
    return defaultVolume;
  }
  if (bytes >= least) return given;
  persistence!.report.note(
    persistence!.at('size'),
    `${given} is too small for etcd, which needs at least 2Gi; it becomes 2Gi`,
  );
  return '2Gi';
}
