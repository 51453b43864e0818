import { resolve } from 'node:path';
import type { SnapshotManifest } from '../../backup/catalog/manifest.ts';
import { memberNameIn } from '../../backup/restore/member-name.ts';
import { type DataDirRequest, readMarker } from '../../backup/restore/restore-marker.ts';
import { initialClusterOf, type SnapshotMember } from '../../control-plane/state/snapshot-members.ts';
import { membersOf } from '../../etcd/offline/cluster-id.ts';
import { AgentError, ExitCode, usageError } from '../../lib/errors.ts';

/**
 * Refuses to make a cluster of one member from the snapshot of several, unless the user has listed that member: on each
 * machine, it would be a cluster of its own. A restore that was made before stays as it is.
 */
export async function refuseLone(
  id: string,
  members: readonly (SnapshotMember & { readonly isLearner?: boolean | undefined })[] = [],
  { dataDir, initialCluster, repeat }: DataDirRequest,
): Promise<void> {
  const voters = members.filter(({ isLearner }) => !isLearner);
  if (voters.length < 2) return;
  const marker = await readMarker(resolve(dataDir)).catch(() => undefined);
  if (repeat !== 'again' && marker?.initialCluster === initialCluster) return;
  const all = initialClusterOf(voters.filter(({ name }) => name !== ''));
  throw usageError(
    `--initial-cluster: is missing, and ${id} is the snapshot of an etcd with ${voters.length} members; pass all of the new cluster to each member, such as --initial-cluster=${all}, or --initial-cluster=${initialCluster} for a cluster of one member`,
  );
}

/**
 * Refuses to replace the data of another member of the cluster: the directory is the wrong one, or the name. A member that
 * neither the snapshot nor the new cluster lists has left, or has another name now.
 */
export async function refuseOtherMember(
  manifest: Pick<SnapshotManifest, 'members'>,
  { dataDir, name, initialCluster }: DataDirRequest,
  isNamed: boolean,
): Promise<void> {
  const held = await memberNameIn(resolve(dataDir), manifest);
  if (held === undefined || held === name) return;
  const isListed = manifest.members?.some((each) => each.name === held) || membersOf(initialCluster).has(held);
  if (!isListed) return;
  if (!isNamed) {
    throw new AgentError(
      ExitCode.refused,
      `--name: is missing, so the member would be called ${name}, but ${dataDir} holds the data of the member ${held}; pass --name=${held} with its peer URLs, or the name and the data directory of another member; to replace the data anyway, pass --force-foreign`,
    );
  }
  throw new AgentError(
    ExitCode.refused,
    `--data-dir: ${dataDir} holds the data of the member ${held}, not of ${name}; pass the data directory of ${name}, or --name=${held} with its peer URLs; to replace the data anyway, pass --force-foreign`,
  );
}
