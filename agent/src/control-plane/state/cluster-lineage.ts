import { join } from 'node:path';
import { type Entry, silentAmong } from '../../backup/catalog/catalog.ts';
import { lineageOf, restoredFromIt } from '../../backup/catalog/identity/lineage.ts';
import type { SnapshotManifest } from '../../backup/catalog/manifest.ts';
import { isBlank } from '../../etcd/offline/backend-state.ts';
import { walIdentity } from '../../etcd/offline/wal.ts';
import { AgentError, ExitCode } from '../../lib/errors.ts';
import { unlessMissing } from '../../lib/files/directories.ts';
import type { Finding } from '../../lib/finding.ts';
import { memberDir, readMarker } from '../node/data-directory.ts';
import type { MemberFlags } from '../node/member-flags.ts';

const UNKNOWN = 'unknown';

/** Ids of the cluster of a snapshot: its own, of what it was restored from, and of what was restored from it. */
export function idsOf(
  { manifest, restoredAs }: Pick<Entry, 'manifest' | 'restoredAs'>,
  entries: readonly Entry[],
): string[] {
  const own = manifest?.source.clusterId ?? UNKNOWN;
  if (own === UNKNOWN) return [...restoredAs];
  return [own, ...lineageOf(entries, own), ...restoredFromIt(entries, own), ...restoredAs];
}

export interface KnownLineage {
  /** Id of the snapshot that the data were restored from. */
  readonly restoredFrom?: string | undefined;
  /** Why something that may connect the two clusters was not read. */
  readonly unread?: string | undefined;
}

/**
 * Refuses a snapshot of another cluster than the one whose data are on this node, or one that may be. Without local data nothing
 * is refused. Data whose log does not say of which cluster they are may be of any. What was not read connects nothing, and neither does an unknown cluster id, such as that of an adopted snapshot.
 */
export async function refuseOtherCluster(
  { id, source }: Pick<SnapshotManifest, 'id' | 'source'>,
  entries: readonly Entry[],
  { dataDir, walDir }: Pick<MemberFlags, 'dataDir' | 'walDir'>,
  { restoredFrom, unread = silentIn(entries) }: KnownLineage = {},
): Promise<void> {
  const held =
    (await walIdentity(dataDir, walDir).catch(() => UNKNOWN)) ?? ((await holdsData(dataDir)) ? UNKNOWN : undefined);
  if (held === undefined) return;
  const here = typeof held === 'string' ? undefined : held.clusterId;
  const theirs = source.clusterId;
  if (theirs === here) return;
  const markedId = restoredFrom ?? (await readMarker(memberDir(dataDir)))?.id;
  // If the store could not note the restore, the local marker still names its snapshot.
  const origins = entries.filter(
    ({ id: from, restoredAs }) => (here !== undefined && restoredAs.includes(here)) || from === markedId,
  );
  if (markedId === id || origins.some((origin) => origin.id === id)) return;
  const own = here === undefined ? [] : [here, ...lineageOf(entries, here)];
  const ours = [...own, ...origins.flatMap(({ manifest }) => ancestry(manifest))];
  // Two restores of one snapshot share a lineage: they are the same cluster at different times.
  if ([theirs, ...lineageOf(entries, theirs)].some((each) => each !== UNKNOWN && ours.includes(each))) return;
  const rest = unread === undefined ? '' : `, and nothing that can be read connects them (${unread})`;
  const finding: Finding = { kind: 'foreign', isUnread: unread !== undefined };
  if (here === undefined) {
    throw new AgentError(
      ExitCode.refused,
      `${id} may be a snapshot of another cluster: its cluster id is ${theirs}, and the log in ${dataDir} is missing or damaged and does not say of which cluster it is${rest}`,
      { finding },
    );
  }
  const isOfUnknown = origins.some(({ manifest }) => manifest?.source.clusterId === UNKNOWN);
  const [is, but] = theirs === UNKNOWN || isOfUnknown ? ['may be', 'and'] : ['is', 'but'];
  const from = isOfUnknown ? ', which was restored from a snapshot of an unknown cluster' : '';
  throw new AgentError(
    ExitCode.refused,
    `${id} ${is} a snapshot of another cluster: its cluster id is ${theirs}, ${but} ${dataDir} holds ${here}${from}${rest}`,
    { finding },
  );
}

/** An etcd that has just begun makes its database before its log. */
async function holdsData(dataDir: string): Promise<boolean> {
  const isEmpty = await unlessMissing(isBlank(join(memberDir(dataDir), 'snap', 'db'))).catch(() => false);
  return isEmpty === false;
}

function silentIn(entries: readonly Entry[]): string | undefined {
  const silent = silentAmong(entries).find(({ manifest }) => !manifest);
  return silent && `${silent.id}: ${silent.problem}`;
}

const ancestry = (
  manifest: (Pick<SnapshotManifest, 'cluster'> & { source: Pick<SnapshotManifest['source'], 'clusterId'> }) | undefined,
): string[] => (manifest ? [manifest.source.clusterId, ...(manifest.cluster.lineage ?? [])] : []);
