import type { Entry } from '../../backup/catalog/catalog.ts';
import { lineageOf } from '../../backup/catalog/lineage.ts';
import type { Manifest } from '../../backup/catalog/manifest.ts';
import { walIdentity } from '../../etcd/offline/wal.ts';
import { AgentError, ExitCode } from '../../lib/errors.ts';
import { memberDir, readMarker } from '../node/data-directory.ts';
import type { MemberFlags } from '../node/member-flags.ts';

/**
 * Refuses a snapshot of another cluster than the one whose data are on this node. Without local data nothing is refused.
 * `restoredFrom`: id of the snapshot that the data were restored from, if it is known.
 */
export async function refuseOtherCluster(
  { id, source }: Pick<Manifest, 'id' | 'source'>,
  entries: readonly Entry[],
  { dataDir, walDir }: Pick<MemberFlags, 'dataDir' | 'walDir'>,
  restoredFrom?: string,
): Promise<void> {
  const here = (await walIdentity(dataDir, walDir).catch(() => undefined))?.clusterId;
  const theirs = source.clusterId;
  if (here === undefined || theirs === 'unknown' || theirs === here) return;
  const markedId = restoredFrom ?? (await readMarker(memberDir(dataDir)))?.id;
  // If the store could not note the restore, the local marker still names its snapshot.
  const origins = entries.filter(({ id: from, restoredAs }) => restoredAs.includes(here) || from === markedId);
  // Data restored from an adopted snapshot have an unknown cluster, which does not count as another one.
  if (origins.some(({ manifest }) => manifest?.source.clusterId === 'unknown')) return;
  const ours = [here, ...lineageOf(entries, here), ...origins.flatMap(({ manifest }) => ancestry(manifest))];
  // Two restores of one snapshot share a lineage: they are the same cluster at different times.
  if ([theirs, ...lineageOf(entries, theirs)].some((each) => ours.includes(each))) return;
  throw new AgentError(
    ExitCode.refused,
    `${id} is a snapshot of another cluster: its cluster id is ${theirs}, but ${dataDir} holds ${here}; to restore it anyway, pass --force-foreign`,
  );
}

const ancestry = (
  manifest: (Pick<Manifest, 'cluster'> & { source: Pick<Manifest['source'], 'clusterId'> }) | undefined,
): string[] => (manifest ? [manifest.source.clusterId, ...(manifest.cluster.lineage ?? [])] : []);
