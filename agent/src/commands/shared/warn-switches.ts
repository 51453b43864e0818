import type { Switches } from '../../etcd/offline/database-check.ts';
import type { Log } from '../../lib/log.ts';

/**
 * Warnings about a snapshot that is restored by hand. A cluster with a reconciler refuses such a snapshot (plain-
 * snapshot.ts).
 */
export const switchNotes = (
  id: string,
  { authEnabled, corruptAlarm, noSpaceAlarm }: Partial<Switches>,
  /** The restore itself clears alarms. */
  clears = false,
): string[] => [
  ...(authEnabled
    ? [`${id} has authentication enabled: the restored etcd has the users of the snapshot and refuses everybody else`]
    : []),
  ...(corruptAlarm
    ? [
        `${id} has a CORRUPT alarm: ${clears ? 'its data may be those of a damaged member, so an older snapshot may be better; this restore clears the alarm' : 'etcd refuses every read and write until `etcdctl alarm disarm`'}`,
      ]
    : []),
  ...(noSpaceAlarm
    ? [
        `${id} has a NOSPACE alarm: ${clears ? 'this restore defragments etcd and clears the alarm' : 'etcd refuses every write until `etcdctl defrag`, and then `etcdctl alarm disarm`'}`,
      ]
    : []),
];

export function warnSwitches(id: string, switches: Partial<Switches>, log: Log, clears = false): void {
  for (const note of switchNotes(id, switches, clears)) log.warn(note);
}
