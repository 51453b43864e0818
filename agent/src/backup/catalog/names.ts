import type { Wait } from '../../lib/limits/budget.ts';
import { callCounter } from '../../lib/memory.ts';
import { budgetOf, type CallOptions, type Store, type StoredObject } from '../../store/store.ts';
import { manifestKey, reservationKey } from './keys.ts';
import { isSnapshotId, splitName } from './snapshot-id.ts';

/** Milliseconds that a name adds to the time limit: a page of a thousand names may take seconds. */
const EACH = 3;
/** Milliseconds that a name may take while a run only waits for answers. */
const AT_MOST = 30;

/** The objects that a store lists in a cluster's folder. */
export interface Names {
  /** Objects whose name begins with an id, by id. */
  readonly groups: ReadonlyMap<string, readonly StoredObject[]>;
  /** Objects whose name does not begin with an id, by key. An adopted file keeps its name. */
  readonly others: ReadonlyMap<string, StoredObject>;
}

export interface ListNamesOptions extends CallOptions {
  /** Limit of the wait for an answer. Each object counts as one. */
  readonly until?: (() => Wait | undefined) | undefined;
}

/** Lists the folder or, with an id, only the objects of that snapshot. */
export async function listNames(
  store: Store,
  folder: string,
  { until, ...options }: ListNamesOptions,
  id?: string,
): Promise<Names> {
  const groups = new Map<string, StoredObject[]>();
  const others = new Map<string, StoredObject>();
  const countObject = callCounter(2_000);
  const budget = budgetOf(store);
  for await (const object of store.list(`${folder}/${id === undefined ? '' : `${id}.`}`, options)) {
    countObject();
    budget.extend(EACH);
    until?.()?.answered(AT_MOST);
    const name = object.key.slice(folder.length + 1);
    const split = splitName(name);
    if (!split) {
      if (!name.includes('/')) others.set(object.key, object);
      continue;
    }
    const group = groups.get(split.id);
    if (group) group.push(object);
    else groups.set(split.id, [object]);
  }
  return { groups, others };
}

/**
 * Lists the objects under a name again. Returns undefined unless all of them were written before that time: a listing of
 * the whole folder may be minutes old, and another run may have begun to write under the name.
 */
export async function restsUnder(
  store: Store,
  folder: string,
  id: string,
  before: number,
  options: CallOptions,
): Promise<readonly StoredObject[] | undefined> {
  const objects = (await listNames(store, folder, options, id)).groups.get(id) ?? [];
  return areOld(objects, before) ? objects : undefined;
}

/** An invalid time does not count as old. */
export const areOld = (objects: readonly StoredObject[], before: number): boolean =>
  objects.every(({ modified }) => modified.getTime() <= before);

/** Whether a run may be writing a snapshot that has no manifest yet. What was last written before that time is of a dead run. */
export function isAnyUnderWay(folder: string, { groups }: Names, before: number): boolean {
  for (const [id, objects] of groups) {
    const has = (wanted: string) => objects.some(({ key }) => key === wanted);
    const isOfRun = isSnapshotId(id) || has(reservationKey(folder, id));
    if (isOfRun && !has(manifestKey(folder, id)) && !areOld(objects, before)) return true;
  }
  return false;
}

/** The ids that have a manifest. */
export const committedIds = (folder: string, { groups }: Names): string[] =>
  [...groups].filter(([id, objects]) => objects.some(({ key }) => key === manifestKey(folder, id))).map(([id]) => id);

export function findName(folder: string, { groups, others }: Names, key: string): StoredObject | undefined {
  const id = splitName(key.slice(folder.length + 1))?.id;
  return id === undefined ? others.get(key) : groups.get(id)?.find((object) => object.key === key);
}
