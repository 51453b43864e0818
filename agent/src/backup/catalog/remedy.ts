import type { Finding } from '../../lib/finding.ts';
import type { StoredObject } from '../../store/store.ts';
import {
  type Entry,
  exactManifestKey,
  isReserved,
  isUnread,
  mayRunUntil,
  payloadIn,
  payloadProblem,
  reservationKey,
  rewrittenProblem,
} from './catalog.ts';
import { folderOf, type NamedCluster } from './identity/folder.ts';

/** What else is known of the folder of a snapshot. */
export interface Beside {
  /** The time by the store's clock, which has dated its objects. */
  readonly now: Date;
  /** The snapshots in the folder, as far as they are known. */
  readonly entries: readonly Entry[];
}

/**
 * How a snapshot whose manifest, payload or finding is damaged, or is not read in time, becomes one again. Undefined if nothing
 * but its state is unknown.
 */
export function remedyOf(entry: Entry, named: NamedCluster, { now, entries }: Beside): Finding | undefined {
  if (entry.finding) return entry.finding;
  const { id, manifest, manifestKey, state } = entry;
  const isExact = manifestKey === exactManifestKey(manifest?.object.key ?? '');
  if (state === 'damaged') return { kind: 'findingDamaged', id, objectKey: isExact ? manifest!.object.key : undefined };
  if (manifest && entry.problem === payloadProblem(manifest, undefined)) {
    return { kind: 'payloadMissing', manifestKey, isExact };
  }
  const payload = orphanOf(entry);
  if (!payload) return undefined;
  const { key } = payload;
  const owner = ownerOf(payload, entry, entries);
  if (owner) return { kind: 'payloadOwned', id: owner.id, manifestKey: owner.manifestKey };
  if (manifest) return { kind: 'orphan', key, manifest: 'ofAnother' };
  if (state === 'broken') return { kind: 'orphan', key, manifest: 'damaged' };
  return {
    ...{ kind: 'orphan', key, manifest: 'missing', isMarked: state === 'writing' || state === 'killed' },
    until: mayRunUntil(payload, now),
    reservation: isReserved(entry) ? reservationKey(folderOf(named), id) : undefined,
  };
}

/** The keys of the payloads that no manifest names and no backup has reserved, newest first. */
export const adoptable = (lost: readonly Entry[], { entries }: Pick<Beside, 'entries'>): string[] =>
  lost.flatMap((entry) => {
    const payload = orphanOf(entry);
    return payload && !isReserved(entry) && !ownerOf(payload, entry, entries) ? [payload.key] : [];
  });

/** The payload of a snapshot whose manifest is missing, damaged, or that of another payload. */
function orphanOf(entry: Entry): StoredObject | undefined {
  const { manifest, state, objects } = entry;
  // Of a suspect source, the manifest stands.
  if (isUnread(entry) || manifest?.source.suspect?.length) return undefined;
  if (!manifest) return state === 'deleting' ? undefined : payloadIn(entry);
  const payload = objects.find(({ key }) => key === manifest.object.key);
  const problem = payload && (payloadProblem(manifest, payload.size) ?? rewrittenProblem(entry, payload));
  return problem === undefined ? undefined : payload;
}

const ownerOf = ({ key }: StoredObject, { manifestKey }: Entry, entries: readonly Entry[]) =>
  entries.find((other) => other.manifestKey !== manifestKey && other.manifest?.object.key === key);
