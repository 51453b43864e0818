import type { Entry } from '../../backup/catalog/catalog.ts';
import { adoptable, type Beside } from '../../backup/catalog/remedy.ts';
import { quoted } from '../../lib/quoted.ts';
import type { Settings } from '../cli/settings.ts';
import { type StorePlace, sameIdentities, sameStore, sameTools } from './flags.ts';

/** Keys in one command. */
const AT_ONCE = 20;

/** The one command that adopts several payloads without a manifest, in a sentence. Empty if there are not several. */
export function adoptAllText(
  place: StorePlace,
  lost: readonly Entry[],
  known: Pick<Beside, 'entries'>,
  settings: Settings,
): string {
  const keys = adoptable(lost, known);
  if (keys.length < 2) return '';
  const some = keys.slice(0, AT_ONCE);
  const which = some.length < keys.length ? `the newest ${some.length} of ${keys.length}` : `all ${keys.length}`;
  return `if no backup is running, ${adoptCommand({ place, settings }, some)} writes a manifest for ${which}`;
}

/** A place and the flags of this run, as far as they are known. */
export interface KnownPlace {
  readonly place?: StorePlace | undefined;
  readonly settings?: Settings | undefined;
  /** Another command that lists the snapshots. */
  readonly list?: string | undefined;
}

export function adoptCommand(known: KnownPlace, keys: readonly string[], more: readonly string[] = []): string {
  const given = known.settings ? sameIdentities(known.settings) : [];
  const isEncrypted = keys.some((key) => key.endsWith('.age'));
  const identities = isEncrypted ? (given.length > 0 ? given : ['--age-identity-file=FILE']) : [];
  return command('adopt', ...keys.map(quoted), ...flagsOf(known, identities), ...more);
}

/** A command about one snapshot. */
export const commandFor = ({ place }: KnownPlace, name: string, id: string): string =>
  command(name, quoted(id), ...(place ? [sameStore(place)] : []));

/** The command that opens a snapshot, whose finding then counts. */
export const verifyCommand = (known: KnownPlace, id: string, level = 'open'): string =>
  command('verify', quoted(id), `--level=${level}`, ...flagsOf(known));

export const listCommand = ({ place, list }: KnownPlace): string =>
  list ?? command('list', ...(place ? [sameStore(place)] : []));

const command = (...words: readonly string[]): string => `\`${['etcd-agent', ...words].join(' ')}\``;

/** Flags with which another command finds the same snapshots with the same tools. */
const flagsOf = (
  { place, settings }: KnownPlace,
  identities: readonly string[] = settings ? sameIdentities(settings) : [],
): string[] => [...(place ? [sameStore(place)] : []), ...identities, ...(settings ? sameTools(settings) : [])];
