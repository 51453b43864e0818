import { type WalIdentity, walDirectory, walIdentity } from '../../etcd/offline/wal.ts';
import { cannotRead } from '../../lib/files/file-faults.ts';
import type { SnapshotManifest } from '../catalog/manifest.ts';
import { readMarker } from './restore-marker.ts';

/**
 * Returns the name of the member whose data a directory holds, as far as its marker or the snapshot knows the member. Undefined
 * without data. Throws if the data may be those of any member.
 */
export async function memberNameIn(
  dataDir: string,
  { members }: Pick<SnapshotManifest, 'members'>,
): Promise<string | undefined> {
  // A repeated restore replaces data whose marker cannot be read. The log names the member too.
  const marker = await readMarker(dataDir).catch(() => undefined);
  let held: Partial<WalIdentity> | undefined;
  try {
    held = await walIdentity(dataDir);
  } catch (error) {
    if (marker?.name === undefined) {
      const so = 'so it is not known of which member the data are';
      throw cannotRead(walDirectory(dataDir), error, so, { kind: 'memberUnknown' });
    }
    held = marker;
  }
  if (!held) return undefined;
  if (marker?.memberId === held.memberId) return marker?.name;
  return members?.find(({ id }) => id === held.memberId)?.name || undefined;
}
