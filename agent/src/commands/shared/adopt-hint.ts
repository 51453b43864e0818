import { type Entry, payloadIn, underWay } from '../../backup/catalog/catalog.ts';
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
 * Says how a payload whose manifest is damaged or missing becomes a snapshot again, to follow the problem. Empty if the
 * manifest can be used or may be good.
 */
export function adoptHint(opened: OpenedStore, entry: Entry, { now, settings, entries }: HintContext): string {
  const { manifest, manifestKey, unread, objects } = entry;
  if (manifest || unread) return '';
  const payload = payloadIn(entry);
  if (!payload) return '';
  const running = underWay(payload, now);
  if (running) return `; ${running}`;
  const owner = entries.find((other) => other.manifest?.object.key === payload.key);
  if (owner) return `; ${owner.manifestKey} names its payload: it is that of the snapshot ${owner.id}`;
  const identities = sameIdentities(settings);
  const flags = [
    sameStore(opened),
    ...(payload.key.endsWith('.age') ? (identities.length > 0 ? identities : ['--age-identity-file=FILE']) : []),
    ...sameTools(settings),
  ].join(' ');
  const adopt = `\`etcd-agent adopt ${quoted(payload.key)} ${flags}\``;
  const isThere = objects.some(({ key }) => key === manifestKey);
  return isThere
    ? `; if it is damaged, move ${manifestKey} away, then ${adopt} writes a new one`
    : `; if no backup is running, ${adopt} writes one`;
}
