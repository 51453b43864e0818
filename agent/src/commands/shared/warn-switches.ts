import type { Switches } from '../../etcd/offline/database-check.ts';
import type { Log } from '../../lib/log.ts';

/**
 * Warnings about a snapshot that is restored by hand. A cluster with a reconciler refuses such a snapshot (plain-
 * snapshot.ts).
 */
export const switchNotes = (id: string, { authEnabled, corruptAlarm }: Partial<Switches>): string[] => [
  ...(authEnabled
    ? [`${id} has authentication enabled: the restored etcd has the users of the snapshot and refuses everybody else`]
    : []),
  ...(corruptAlarm
    ? [`${id} has a CORRUPT alarm: etcd refuses every read and write until \`etcdctl alarm disarm\``]
    : []),
];

export function warnSwitches(id: string, switches: Partial<Switches>, log: Log): void {
  for (const note of switchNotes(id, switches)) log.warn(note);
}
