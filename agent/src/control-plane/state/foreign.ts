import type { Entry } from '../../backup/catalog/catalog.ts';
import { lineageOf } from '../../backup/catalog/lineage.ts';
import type { Manifest } from '../../backup/catalog/manifest.ts';
import { walIdentity } from '../../etcd/offline/wal.ts';
import { AgentError, ExitCode } from '../../lib/errors.ts';
import type { MemberFlags } from '../node/member-flags.ts';
import { memberDir, readMarker } from './data-folders.ts';

/** The data that lie here say which cluster this is, when there are any left. */
export async function refuseForeign(
  { id, source }: Pick<Manifest, 'id' | 'source'>,
  entries: readonly Entry[],
  { dataDir, walDir }: Pick<MemberFlags, 'dataDir' | 'walDir'>,
): Promise<void> {
  const here = (await walIdentity(dataDir, walDir).catch(() => undefined))?.clusterId;
  const theirs = source.clusterId;
  if (here === undefined || theirs === 'unknown' || theirs === here) return;
  const marker = await readMarker(memberDir(dataDir));
  // A restore that the store could not note is still told by what it left here.
  const origins = entries.filter(({ id: from, restoredAs }) => restoredAs.includes(here) || from === marker?.id);
  // They came from an adopted snapshot, of which nobody knows the cluster: unknown is not foreign.
  if (origins.some(({ manifest }) => manifest?.source.clusterId === 'unknown')) return;
  const ours = [here, ...lineageOf(entries, here), ...origins.flatMap(({ manifest }) => ancestry(manifest))];
  // Also two restores of one snapshot are of one line: it is the same cluster at another time.
  if ([theirs, ...lineageOf(entries, theirs)].some((each) => ours.includes(each))) return;
  throw new AgentError(
    ExitCode.refused,
    `${id} is a snapshot of another cluster: it has the cluster id ${theirs}, and ${dataDir} holds ${here}; if you want it all the same give --force-foreign`,
  );
}

const ancestry = (
  manifest: (Pick<Manifest, 'cluster'> & { source: Pick<Manifest['source'], 'clusterId'> }) | undefined,
): string[] => (manifest ? [manifest.source.clusterId, ...(manifest.cluster.lineage ?? [])] : []);
