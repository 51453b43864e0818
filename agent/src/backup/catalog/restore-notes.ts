import type { CallOptions, Store } from '../../store/store.ts';
import { type Entry, restoreKey } from './catalog.ts';
import { isRefused } from './claim.ts';
import { orNothing, putText, readText } from './documents.ts';
import { folderOf, type NamedCluster } from './folder.ts';
import { isOf } from './identity.ts';

/**
 * Where a restore of a snapshot as `clusterId` is noted: beside it. One under a key of its own is in no catalog, so that
 * its note lies beside the newest one of the same line. Undefined where there is none: then nothing is to be connected.
 */
export function noteKeyOf(
  { id, manifest }: Pick<Entry, 'id' | 'manifest'>,
  entries: readonly Entry[],
  named: NamedCluster,
  clusterId: string,
): string | undefined {
  const past =
    isOf(named, { manifest }) && manifest ? [manifest.source.clusterId, ...(manifest.cluster.lineage ?? [])] : [];
  const isPast = ({ source }: NonNullable<Entry['manifest']>) =>
    source.clusterId !== 'unknown' && past.includes(source.clusterId);
  const beside =
    entries.find((entry) => entry.id === id) ??
    entries.find((entry) => isOf(named, entry) && entry.manifest && isPast(entry.manifest));
  return beside && restoreKey(folderOf(named), beside.id, clusterId);
}

/** Of a cluster, or of one of its members. */
const NOTE = /\.restored-([0-9a-f]+)(-[0-9a-f]+)?\.json$/;

/**
 * Before a snapshot goes, the notes of what was restored from it come to lie beside the newest one of the same line among
 * those that `stay`: without them nothing connects the two clusters. Where none stays nothing is to be connected.
 */
export async function moveNotes(
  store: Store,
  named: NamedCluster,
  entry: Entry,
  stay: readonly Entry[],
  options: CallOptions,
): Promise<void> {
  for (const { key } of entry.objects) {
    const [suffix, clusterId] = NOTE.exec(key) ?? [];
    const to = clusterId && noteKeyOf(entry, stay, named, clusterId)?.replace(NOTE, suffix!);
    if (!to) continue;
    const text = await orNothing(readText(store, key, options));
    if (text === undefined || (await store.stat(to, options))) continue;
    await putText(store, to, text, { ...options, onlyNew: true }).catch((error) => {
      if (!isRefused(error)) throw error;
    });
  }
}
