import type { Switches } from '../../etcd/offline/database-check.ts';
import type { Log } from '../../lib/log.ts';

/** Said of a snapshot that somebody restores by hand: a cluster with a reconciler refuses it (plain-snapshot.ts). */
export const switchNotes = (id: string, { authEnabled, corruptAlarm }: Partial<Switches>): string[] => [
  ...(authEnabled
    ? [`${id} has auth enabled: etcd comes back with its users, and whoever is none of them is refused`]
    : []),
  ...(corruptAlarm
    ? [`${id} holds a CORRUPT alarm: etcd refuses every read and write until \`etcdctl alarm disarm\``]
    : []),
];

export function warnSwitches(id: string, switches: Partial<Switches>, log: Log): void {
  for (const note of switchNotes(id, switches)) log.warn(note);
}
