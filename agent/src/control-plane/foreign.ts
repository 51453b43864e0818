import type { Entry } from '../backup/catalog.ts';
import { lineageOf } from '../backup/lineage.ts';
import type { Manifest } from '../backup/manifest.ts';
import { AgentError, ExitCode } from '../errors.ts';
import { walIdentity } from '../etcd/wal.ts';

/** The data that lie here say which cluster this is, when there are any left. */
export async function refuseForeign(
  { id, source }: Pick<Manifest, 'id' | 'source'>,
  entries: readonly Entry[],
  dataDir: string,
): Promise<void> {
  const here = (await walIdentity(dataDir).catch(() => undefined))?.clusterId;
  const theirs = source.clusterId;
  if (here === undefined || theirs === 'unknown' || theirs === here) return;
  if (lineageOf(entries, here).includes(theirs) || lineageOf(entries, theirs).includes(here)) return;
  // They came from an adopted snapshot, of which nobody knows the cluster: unknown is not foreign.
  const origins = entries.filter(({ restoredAs }) => restoredAs.includes(here));
  if (origins.some(({ manifest }) => manifest?.source.clusterId === 'unknown')) return;
  throw new AgentError(
    ExitCode.refused,
    `${id} is a snapshot of another cluster: it has the cluster id ${theirs}, and ${dataDir} holds ${here}; if you want it all the same give --force-foreign`,
  );
}
