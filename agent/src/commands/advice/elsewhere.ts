import { readdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Entry } from '../../backup/catalog/catalog.ts';
import { folderOf, type NamedCluster } from '../../backup/catalog/identity/folder.ts';
import { entriesAsked, isOf } from '../../backup/catalog/identity/identity.ts';
import { limited, otherFolders } from '../../backup/catalog/identity/locate.ts';
import { lookAround, tooDeepAmong } from '../../backup/catalog/identity/misplaced.ts';
import { isSnapshotId, splitName } from '../../backup/catalog/snapshot-id.ts';
import { AgentError, ExitCode } from '../../lib/errors.ts';
import { HINT } from '../../lib/limits/budget.ts';
import { isTimeout } from '../../lib/limits/timed-out-error.ts';
import { unlessAborted } from '../../lib/limits/unless-aborted.ts';
import { quoted } from '../../lib/quoted.ts';
import { openStore } from '../../store/open.ts';
import { above, parentOf } from '../../store/place.ts';
import type { StoreSpec } from '../../store/spec.ts';
import { budgetOf, type Store } from '../../store/store.ts';
import { storeUrl } from '../../store/url.ts';
import type { CommandContext } from '../cli/command.ts';
import type { Settings } from '../cli/settings.ts';
import type { OpenedStore } from '../shared/opened-store.ts';
import { adoptCommand } from './adopt.ts';
import { advised } from './advice.ts';
import { flagsAt, misplacedText, strayText } from './misplaced.ts';

export interface Elsewhere {
  /** Follows an error. */
  readonly text: string;
  /** Whether there are snapshots that the command may have been meant for. */
  readonly isFound: boolean;
}

/** Says what there is instead, for a command that found no snapshot. Never changes the outcome of a command by an error. */
export async function elsewhere(
  opened: OpenedStore,
  { signal, settings }: Pick<CommandContext, 'signal' | 'settings'>,
): Promise<Elsewhere> {
  const found = (text: string): Elsewhere => ({ text, isFound: true });
  const ids = await clusterIdsHint(opened);
  if (ids) return found(ids);
  // The folder is the right one.
  const unfinished = await unfinishedHint(opened.store, opened.spec, folderOf(opened), signal);
  if (unfinished) return { text: unfinished, isFound: false };
  const { misplaced, names, hasFolder, exactKey, loose } = await lookAround(opened.store, opened, { signal });
  const where = misplaced && misplacedText(misplaced, opened.spec);
  if (where && (!hasFolder || misplaced.folder === folderOf(opened))) return found(`; ${where}`);
  const others = await otherFolders(opened.store, opened, { signal });
  if (others) return found(advised(others));
  if (exactKey !== undefined) return { text: exactKeyText(exactKey), isFound: false };
  if (hasFolder || !names) return { text: '', isFound: false };
  const higher = await higherHint(opened.spec, opened);
  if (higher) return found(higher);
  if (loose?.length) {
    return { text: looseTooDeepText(opened, loose) ?? looseText(opened, loose, settings), isFound: false };
  }
  const text = `; it has no folder ${folderOf(opened)}, and ${otherFiles(names)}: check --store, or take a first backup`;
  return { text, isFound: false };
}

const otherFiles = ([first]: readonly string[]) =>
  first === undefined ? 'the store is empty' : `the store has only other files, such as ${first}`;

const exactKeyText = (key: string) =>
  `; it has a snapshot under an exact key, which no list contains: pass ${quoted(`--object-key=${key}`)} to \`show\`, \`verify\` or \`restore\``;

const looseCount = ({ length }: readonly string[]) =>
  length === 1 ? 'a file that looks like a snapshot' : `${length} files that look like snapshots`;

/**
 * Says that the files may lie in the folder of the cluster, by the path of the store: adopted here, no list would have them. They
 * may also be of another program.
 */
function looseTooDeepText(opened: OpenedStore, keys: readonly string[]): string | undefined {
  const folder = folderOf(opened);
  const moved = above(opened.spec, folder);
  return (
    moved &&
    `; it has ${looseCount(keys)} without a folder, and its path ends with ${folder}; if ${keys.length === 1 ? 'that is one' : 'they are those'} of ${folder}, its path is too deep: pass ${flagsAt(moved, opened)}`
  );
}

/** The store of a command that adopts begins inside the folder of a cluster. Says which is right. */
export class TooDeepError extends AgentError {}

/**
 * Refuses to adopt in a store that begins inside the folder of a cluster: no list of the right store would have what is adopted.
 * If that is not certain, warns.
 */
export async function refuseTooDeep(
  opened: OpenedStore,
  entries: readonly Entry[],
  { settings, signal, log }: Pick<CommandContext, 'settings' | 'signal' | 'log'>,
): Promise<void> {
  const { store, spec } = opened;
  const refuse = (where: string) => {
    throw new TooDeepError(ExitCode.nothingThere, `nothing to adopt in ${store.url}; ${where}`);
  };
  const among = tooDeepAmong(entries, opened);
  const own = among && misplacedText(among, spec);
  const warn = (text: string) => log.warn(`${store.url}: ${text}`);
  if (own && !among?.isGuess) refuse(own);
  if (own) return warn(own);
  // Without names, only files in the folder are adopted, and the result says what lies elsewhere.
  if (settings.args.length === 0 || entries.length > 0) return;
  const { misplaced, hasFolder, loose = [] } = await lookAround(store, opened, { signal, limit: HINT });
  if (hasFolder) return;
  const isInRoot = (key: string) => !key.replace(/^\/+/, '').includes('/');
  const where = misplaced?.above !== undefined && misplacedText(misplaced, spec);
  if (where && settings.args.some(isInRoot)) refuse(where);
  const isLoose = settings.args.some((key) => loose.includes(key.replace(/^\/+/, '')));
  const guess = isLoose ? looseTooDeepText(opened, loose)?.slice(2) : undefined;
  const stray = misplaced?.folder === '' ? `it has ${strayText(misplaced)}` : undefined;
  const warning = where || guess || (stray && `${stray}; if the store begins inside that folder, check --store`);
  if (warning) warn(warning);
}

/** Says how files become snapshots that lie in no folder. */
function looseText(opened: OpenedStore, keys: readonly string[], settings: Settings): string {
  const some = keys.slice(0, SHOWN);
  const count = looseCount(keys);
  const what = some.length === keys.length ? (keys.length === 1 ? 'it' : 'them') : `the last ${some.length} by name`;
  const adopt = adoptCommand({ place: opened, settings }, some);
  return `; it has no folder ${folderOf(opened)}, but ${count} outside of all folders: ${adopt} checks ${what}, and makes each a snapshot that \`--object-key\` names`;
}

/** Says what a store has in which no cluster has a snapshot. */
export async function noClusterHint(store: Store, spec: StoreSpec, signal: AbortSignal): Promise<Elsewhere> {
  const { misplaced, names, exactKey } = await lookAround(store, { cluster: '' }, { signal });
  const where = misplaced && misplacedText(misplaced, spec);
  if (where) return { text: `; ${where}`, isFound: true };
  if (exactKey !== undefined) return { text: exactKeyText(exactKey), isFound: false };
  const unfinished = await unfinishedHint(store, spec, '', signal);
  return { text: unfinished || (names ? `; ${otherFiles(names)}` : ''), isFound: false };
}

/** Says what backups that run or were killed have left in the folder. No listing shows it. */
async function unfinishedHint(store: Store, spec: StoreSpec, folder: string, run: AbortSignal): Promise<string> {
  const signal = limited(store, run, HINT);
  const times: number[] = [];
  const count = async () => {
    const prefix = folder === '' ? '' : `${folder}/`;
    for await (const { modified } of store.unfinished?.(prefix, { signal }) ?? []) times.push(modified.getTime());
  };
  await unlessAborted(count(), signal).catch(() => {
    if (!isTimeout(run)) run.throwIfAborted();
  });
  if (times.length === 0) return '';
  const oldest = new Date(times.reduce((a, b) => Math.min(a, b))).toISOString();
  const what = `unfinished ${spec.s3 || spec.oss ? 'upload' : '.part file'}`;
  const [found, them] =
    times.length === 1
      ? [`1 ${what}, from ${oldest}`, 'it once it is']
      : [`${times.length} ${what}s, the oldest from ${oldest}`, 'them once they are'];
  return `; ${folder || 'the store'} has ${found}: a backup or copy is running, or was killed; the next backup or prune removes ${them} older than --sweep-age, by default a day`;
}

/** Lists the cluster ids of the folder if there is none of the id that is asked for. */
async function clusterIdsHint(opened: OpenedStore): Promise<string> {
  if (opened.clusterId === undefined) return '';
  const entries = await opened.readAnswering(() => budgetOf(opened.store).wait()).catch(() => []);
  if (entriesAsked(entries, opened).some(({ manifest }) => manifest)) return '';
  const counts = new Map<string, number>();
  for (const { manifest } of entries.filter((entry) => isOf(opened, entry))) {
    const id = manifest!.source.clusterId;
    counts.set(id, (counts.get(id) ?? 0) + 1);
  }
  if (counts.size === 0) return '';
  const ids = [...counts].map(([id, count]) => `${id} (${count})`).join(', ');
  return `; ${folderOf(opened)} has snapshots of the cluster ids ${ids}: check --cluster-id`;
}

/** Folders above a store that are looked into. */
const LEVELS = 3;

/** Says that a store above this one has the folder of the cluster. */
async function higherHint(spec: StoreSpec, named: NamedCluster): Promise<string> {
  let at = parentOf(spec);
  for (let level = 0; at && level < LEVELS; level++) {
    if (await hasSnapshots(at, named)) {
      return `; ${storeUrl(at)} has snapshots of ${folderOf(named)}: pass ${flagsAt(at, named)}`;
    }
    at = parentOf(at);
  }
  return '';
}

async function hasSnapshots(spec: StoreSpec, named: NamedCluster): Promise<boolean> {
  const signal = AbortSignal.timeout(HINT);
  const prefix = `${folderOf(named)}/`;
  const look = async () => {
    const store = await openStore(spec);
    try {
      for await (const { key } of store.list(prefix, { signal })) {
        if (isSnapshotId(splitName(key.slice(prefix.length))?.id ?? '')) return true;
      }
      return false;
    } finally {
      store.close();
    }
  };
  return unlessAborted(look(), signal).catch(() => false);
}

/** Names in a hint. */
const SHOWN = 5;

/** Says what lies above or beside a directory that does not exist. */
export async function besideHint(spec: StoreSpec, named: NamedCluster): Promise<string> {
  const higher = await higherHint(spec, named);
  if (higher || !spec.filesystem) return higher;
  for (let at = dirname(spec.filesystem.path); at !== '/'; at = dirname(at)) {
    const entries = await readdir(at, { withFileTypes: true }).catch(() => undefined);
    if (!entries) continue;
    const names = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
    const more = names.length > SHOWN ? ` and ${names.length - SHOWN} more` : '';
    const what =
      names.length > 0 ? `the directories ${names.sort().slice(0, SHOWN).join(', ')}${more}` : 'no directory';
    return `; ${at} has ${what}`;
  }
  return '';
}
