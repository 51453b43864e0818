import { folderOf, type NamedCluster } from '../../backup/catalog/identity/folder.ts';
import type { Misplaced } from '../../lib/finding.ts';
import { above, below } from '../../store/place.ts';
import type { StoreSpec } from '../../store/spec.ts';
import { storeUrl } from '../../store/url.ts';
import { sameStore } from './flags.ts';

export const flagsAt = (spec: StoreSpec, named: NamedCluster) =>
  sameStore({ ...named, spec, store: { url: storeUrl(spec) } });

export const strayText = ({ folder, id, ...named }: Misplaced): string =>
  `${id === undefined ? 'snapshots' : `the snapshot ${id}`} of ${folderOf(named)} ${folder === '' ? 'without a folder' : `in the folder ${folder}`}`;

/** Undefined if the path of the store does not lead there: then they were copied by hand. */
export function misplacedText(misplaced: Misplaced, spec: StoreSpec): string | undefined {
  const { above: missing, below: more } = misplaced;
  const moved = missing === undefined ? below(spec, more!) : above(spec, missing);
  // The path of a store of commands is not known.
  if (!moved && !spec.command) return undefined;
  const how = `its path is too ${missing === undefined ? 'high' : 'deep'}`;
  const so = misplaced.isGuess ? `; if ${how},` : `, so ${how}:`;
  return `it has ${strayText(misplaced)}${so} ${moved ? `pass ${flagsAt(moved, misplaced)}` : 'check --store'}`;
}
