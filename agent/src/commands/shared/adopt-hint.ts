import {
  type Entry,
  exactManifestKey,
  hasManifest,
  isBeingDeleted,
  isMarkedTaking,
  isReserved,
  mayRunUntil,
  payloadIn,
  payloadProblem,
  reservationKey,
  rewrittenProblem,
} from '../../backup/catalog/catalog.ts';
import { folderOf } from '../../backup/catalog/identity/folder.ts';
import { quoted } from '../../lib/quoted.ts';
import type { StoredObject } from '../../store/store.ts';
import type { Settings } from '../cli/settings.ts';
import type { OpenedStore } from './opened-store.ts';
import { sameIdentities, sameStore, sameTools } from './same-store.ts';

export interface HintContext {
  readonly now: Date;
  readonly settings: Settings;
  /** The snapshots in the folder, as far as they are known. */
  readonly entries: readonly Entry[];
}

/** Keys in one command. */
const AT_ONCE = 20;

/**
 * Says how a snapshot whose manifest, payload or finding is damaged becomes one again, to follow the problem. Empty if
 * nothing but its state is unknown.
 */
export function adoptHint(opened: OpenedStore, entry: Entry, context: HintContext): string {
  const { manifest, manifestKey, unread } = entry;
  const { now, settings } = context;
  if (unread === 'damaged') {
    const isExact = manifest && manifestKey === exactManifestKey(manifest.object.key);
    const name = isExact ? `--object-key=${manifest.object.key}` : entry.id;
    const flags = flagsOf(opened, sameIdentities(settings), settings);
    return `; \`etcd-agent verify ${quoted(name)} --level=open ${flags}\` replaces it`;
  }
  if (manifest && entry.problem === payloadProblem(manifest, undefined)) {
    // `copy` takes only those in the folder.
    const isExact = manifestKey === exactManifestKey(manifest.object.key);
    const copy = 'to keep it, copy it here again with `etcd-agent copy` from a store that has it; otherwise ';
    return `; ${isExact ? '' : copy}delete ${manifestKey}`;
  }
  const payload = orphanOf(entry);
  if (!payload) return '';
  const owner = ownerOf(payload, entry, context);
  if (owner) return `; ${owner.manifestKey} names its payload: it is that of the snapshot ${owner.id}`;
  const adopt = adoptCommand(opened, [payload.key], settings);
  if (manifest) return `; if another snapshot was stored in its place, ${adopt} writes a new manifest`;
  if (hasManifest(entry)) return `; if its payload is good, ${adopt} replaces the manifest`;
  const until = manifestKey === exactManifestKey(payload.key) ? undefined : mayRunUntil(payload, now);
  if (isReserved(entry)) {
    const marker = reservationKey(folderOf(opened), entry.id);
    return `; ${until ? `wait until ${until}; if it has no manifest then` : 'if no backup is running'}, delete ${marker}, and then ${adopt} writes one`;
  }
  if (until && !isMarkedTaking(entry)) {
    return `; if no backup is running, ${adoptCommand(opened, [payload.key], settings, ['--backup-ended'])} writes one`;
  }
  return until
    ? `; wait until ${until}; if it has no manifest then, ${adopt} writes one; with --backup-ended it does so now, if no backup is running`
    : `; if no backup is running, ${adopt} writes one`;
}

/** The one command that adopts several payloads without a manifest, in a sentence. Empty if there are not several. */
export function adoptAllHint(opened: OpenedStore, lost: readonly Entry[], context: HintContext): string {
  const keys = adoptable(lost, context);
  if (keys.length < 2) return '';
  const some = keys.slice(0, AT_ONCE);
  const which = some.length < keys.length ? `the newest ${some.length} of ${keys.length}` : `all ${keys.length}`;
  return `if no backup is running, ${adoptCommand(opened, some, context.settings)} writes a manifest for ${which}`;
}

/** The keys of the payloads that no manifest names and no backup has reserved, newest first. */
export const adoptable = (lost: readonly Entry[], context: Pick<HintContext, 'entries'>): string[] =>
  lost.flatMap((entry) => {
    const payload = orphanOf(entry);
    return payload && !isReserved(entry) && !ownerOf(payload, entry, context) ? [payload.key] : [];
  });

/** The payload of a snapshot whose manifest is missing, damaged, or that of another payload. */
function orphanOf(entry: Entry): StoredObject | undefined {
  const { manifest, unread, objects } = entry;
  // Of a suspect source, the manifest stands.
  if (unread || manifest?.source.suspect?.length) return undefined;
  if (!manifest) return isBeingDeleted(entry) ? undefined : payloadIn(entry);
  const payload = objects.find(({ key }) => key === manifest.object.key);
  const problem = payload && (payloadProblem(manifest, payload.size) ?? rewrittenProblem(entry, payload));
  return problem === undefined ? undefined : payload;
}

const ownerOf = ({ key }: StoredObject, { manifestKey }: Entry, { entries }: Pick<HintContext, 'entries'>) =>
  entries.find((other) => other.manifestKey !== manifestKey && other.manifest?.object.key === key);

export function adoptCommand(
  opened: OpenedStore,
  keys: readonly string[],
  settings: Settings,
  more: readonly string[] = [],
): string {
  const given = sameIdentities(settings);
  const isEncrypted = keys.some((key) => key.endsWith('.age'));
  const identities = isEncrypted ? (given.length > 0 ? given : ['--age-identity-file=FILE']) : [];
  return `\`etcd-agent adopt ${keys.map(quoted).join(' ')} ${[flagsOf(opened, identities, settings), ...more].join(' ')}\``;
}

const flagsOf = (opened: OpenedStore, identities: readonly string[], settings: Settings): string =>
  [sameStore(opened), ...identities, ...sameTools(settings)].join(' ');
