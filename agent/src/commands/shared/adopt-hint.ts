import { type Entry, exactManifestKey, payloadIn, payloadProblem, underWay } from '../../backup/catalog/catalog.ts';
import { quoted } from '../../lib/quoted.ts';
import type { Settings } from '../cli/settings.ts';
import type { OpenedStore } from './opened-store.ts';
import { sameIdentities, sameStore, sameTools } from './same-store.ts';

export interface HintContext {
  readonly now: Date;
  readonly settings: Settings;
  /** The snapshots in the folder, as far as they are known. */
  readonly entries: readonly Entry[];
}

/**
 * Says how a snapshot whose manifest, payload or finding is damaged becomes one again, to follow the problem. Empty if
 * nothing but its state is unknown, or its payload is missing.
 */
export function adoptHint(opened: OpenedStore, entry: Entry, { now, settings, entries }: HintContext): string {
  const { manifest, manifestKey, unread, objects } = entry;
  const flags = (...identities: string[]) =>
    [sameStore(opened), ...identities, ...sameTools(settings)].filter((flag) => flag !== '').join(' ');
  const identities = sameIdentities(settings);
  if (unread === 'damaged') {
    const isExact = manifest && manifestKey === exactManifestKey(manifest.object.key);
    const name = isExact ? `--object-key=${manifest.object.key}` : entry.id;
    return `; \`etcd-agent verify ${quoted(name)} --level=open ${flags(...identities)}\` replaces it`;
  }
  // Of a suspect source, the manifest stands.
  if (unread || manifest?.source.suspect?.length) return '';
  const payload = manifest ? objects.find(({ key }) => key === manifest.object.key) : payloadIn(entry);
  if (!payload || (manifest && payloadProblem(manifest, payload.size) === undefined)) return '';
  const isExact = manifestKey === exactManifestKey(payload.key);
  const running = isExact ? undefined : underWay(payload, now);
  if (running) return `; ${running}`;
  const owner = entries.find(
    (other) => other.manifestKey !== manifestKey && other.manifest?.object.key === payload.key,
  );
  if (owner) return `; ${owner.manifestKey} names its payload: it is that of the snapshot ${owner.id}`;
  const needed = payload.key.endsWith('.age')
    ? identities.length > 0
      ? identities
      : ['--age-identity-file=FILE']
    : [];
  const adopt = `\`etcd-agent adopt ${quoted(payload.key)} ${flags(...needed)}\``;
  if (manifest) return `; if another snapshot was stored in its place, ${adopt} writes a new manifest`;
  const isThere = objects.some(({ key }) => key === manifestKey);
  return isThere
    ? `; if its payload is good, ${adopt} replaces the manifest`
    : `; if no backup is running, ${adopt} writes one`;
}
