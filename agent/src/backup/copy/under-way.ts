import { AgentError, ExitCode } from '../../lib/errors.ts';
import { timeAt } from '../../store/clock.ts';
import type { Store } from '../../store/store.ts';
import { mayBeDeletedUntil, reservationKey, reservedBy } from '../catalog/catalog.ts';
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
  const marker = isSnapshotId(id) ? undefined : await to.stat(key, { signal });
  if (!marker) return;
  throw refused(place, id, reservedBy(marker, await timeAt(to, { signal })));
}

/** Throws if retention may be deleting the snapshot. */
export async function refuseDeleting(id: string, place: Place): Promise<void> {
  const { folder, to, signal } = place;
  const until = await mayBeDeletedUntil(to, folder, id, { signal });
  if (until) throw refused(place, id, `retention is deleting it there; run \`copy\` again after ${until}`);
}
