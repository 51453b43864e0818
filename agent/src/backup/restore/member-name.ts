import { walIdentity } from '../../etcd/offline/wal.ts';
import type { Manifest } from '../catalog/manifest.ts';
import { readMarker } from './restore-marker.ts';

/** Returns the name of the member whose data a directory holds, as far as its marker or the snapshot knows the member. */
export async function memberNameIn(
  dataDir: string,
  { members }: Pick<Manifest, 'members'>,
): Promise<string | undefined> {
  const held = await walIdentity(dataDir).catch(() => undefined);
  if (!held) return undefined;
  const marker = await readMarker(dataDir).catch(() => undefined);
  if (marker?.memberId === held.memberId) return marker.name;
  return members?.find(({ id }) => id === held.memberId)?.name || undefined;
}
