import { type Entry, PAYLOAD, underWay } from '../../backup/catalog/catalog.ts';
import { quoted } from '../../lib/quoted.ts';
import type { OpenedStore } from './opened-store.ts';
import { sameStore } from './same-store.ts';

export interface HintContext {
  readonly now: Date;
}

/**
 * Says how a payload whose manifest is damaged or missing becomes a snapshot again, to follow the problem. Empty if the
 * manifest can be used or may be good.
 */
export function adoptHint(opened: OpenedStore, entry: Entry, { now }: HintContext): string {
  const { id, manifest, manifestKey, unread, objects } = entry;
  if (manifest || unread) return '';
  const payload = objects.find(({ key }) => PAYLOAD.test(key.slice(manifestKey.lastIndexOf('/') + 1 + id.length)));
  if (!payload) return '';
  const running = underWay(payload, now);
  if (running) return `; ${running}`;
  const identity = payload.key.endsWith('.age') ? ' --age-identity-file=FILE' : '';
  const adopt = `\`etcd-agent adopt ${quoted(payload.key)} ${sameStore(opened)}${identity}\``;
  const isThere = objects.some(({ key }) => key === manifestKey);
  return isThere
    ? `; if it is damaged, move ${manifestKey} away, then ${adopt} writes a new one`
    : `; if no backup is running, ${adopt} writes one`;
}
