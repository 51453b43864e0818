import { resolve } from 'node:path';
import { holdsCluster } from '../../backup/restore/restore.ts';
import { type DataDirRequest, readMarker } from '../../backup/restore/restore-marker.ts';
import { nextToken } from '../../backup/restore/token.ts';
import { clusterIdOf } from '../../etcd/offline/cluster-id.ts';

/** Restores with a derived token that are followed, each of which has replaced the one before. */
const RENEWALS = 20;

interface Named {
  /** The snapshot of the command. All members derive the token from it, so they must name the same one. */
  readonly named: string;
  /** The snapshot of a restore that has begun with the given token. Null if that is not known. */
  readonly begun: string | undefined | null;
}

/**
 * Returns the token for a command that names the snapshot, and what to say of it: the given one, unless the present data are
 * those of its cluster, or other members were restored again since. Both replace it by the one that `nextToken` derives. The
 * data of the restore that has begun stay.
 */
export async function tokenToName(
  { dataDir, initialCluster, initialClusterToken: given, repeat }: DataDirRequest,
  { named, begun }: Named,
  isNoted: (clusterId: string) => Promise<boolean | undefined>,
): Promise<{ readonly token?: string; readonly text: string }> {
  if (given === undefined) return { text: '' };
  const marker = await readMarker(resolve(dataDir)).catch(() => undefined);
  const stays = marker !== undefined && marker.id === begun && repeat !== 'again';
  const isHeld = async (token: string) => !stays && holdsCluster(dataDir, clusterIdOf(initialCluster, token));
  const compare = 'if another member was told to take a new one, pass that one to all members';
  let token = given;
  let why = '';
  let isUnknown = begun === null;
  for (let count = 0; count < RENEWALS; count++) {
    const next = nextToken(named, token);
    const clusterId = clusterIdOf(initialCluster, next);
    if (await isHeld(token)) {
      const held = token === given ? 'the given one' : `the token ${token}`;
      why = `; its token is new, the same for all members that are restored from ${named}, because ${dataDir} already holds the cluster of ${held}`;
    } else {
      const isTaken = clusterId === undefined ? false : await isNoted(clusterId);
      isUnknown ||= isTaken === undefined;
      if (!isTaken) break;
      why = `; its token is the one with which another member, or this one, was restored again from ${named}`;
    }
    token = next;
  }
  if (why === '' && begun === undefined && !isUnknown) return { token, text: '' };
  return { token, text: `${why || '; its token is the given one'}${why === '' || isUnknown ? `: ${compare}` : ''}` };
}
