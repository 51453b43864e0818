import { AgentError, ExitCode } from '../../lib/errors.ts';
import { timeAt } from '../../store/clock.ts';
import type { Store } from '../../store/store.ts';
import { deletingKey, mayRunUntil, reservationKey } from '../catalog/catalog.ts';
import { isSnapshotId } from '../catalog/snapshot-id.ts';

interface Place {
  readonly folder: string;
  readonly to: Store;
  readonly signal: AbortSignal;
}

const refused = ({ to }: Place, id: string, why: string) =>
  new AgentError(ExitCode.refused, `${id} is not copied to ${to.url}: ${why}`);

/** Throws if a backup has reserved a name of the user's own. A name of ours is that of one snapshot only. */
export async function refuseReserved(id: string, place: Place): Promise<void> {
  const { folder, to, signal } = place;
  const key = reservationKey(folder, id);
  if (isSnapshotId(id) || !(await to.stat(key, { signal }))) return;
  const advice = 'wait until it ends; if it was killed, delete that file';
  throw refused(place, id, `a backup is writing it: ${key} exists; ${advice}`);
}

/** Throws if retention may be deleting the snapshot. An older marker is that of a run that was killed. */
export async function refuseDeleting(id: string, place: Place): Promise<void> {
  const { folder, to, signal } = place;
  const marker = await to.stat(deletingKey(folder, id), { signal });
  const until = marker && mayRunUntil(marker, await timeAt(to, { signal }));
  if (until) throw refused(place, id, `retention is deleting it there; run \`copy\` again after ${until}`);
}
