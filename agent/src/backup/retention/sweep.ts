import { randomBytes } from 'node:crypto';
import { messageOf } from '../../lib/errors.ts';
import type { CallOptions, Store } from '../../store/store.ts';
import { type Entry, exactManifestKey, manifestKey, PAYLOAD, pinKey } from '../catalog/catalog.ts';
import { areOld, listNames, type Names, restsUnder } from '../catalog/names.ts';
import { isSnapshotId } from '../catalog/snapshot-id.ts';

const CANARY = /^\.check-[0-9a-f]{16}$/;

/** Key of the object that `check` writes and reads to test a store. No snapshot can have this name. */
export const newCanary = (folder: string) => `${folder}/.check-${randomBytes(8).toString('hex')}`;

async function sweepCanaries(
  store: Store,
  folder: string,
  { others }: Names,
  before: number,
  options: CallOptions,
): Promise<string[]> {
  const swept: string[] = [];
  for (const { key, modified } of others.values()) {
    if (!CANARY.test(key.slice(folder.length + 1)) || modified.getTime() > before) continue;
    if ((await store.delete(key, options)) === 'deleted') swept.push(key);
  }
  return swept;
}

export interface SweepOptions extends CallOptions {
  /** Called if something could not be deleted. The run continues. */
  readonly warn: (message: string) => void;
  /** The objects of the folder, if they were listed already. */
  readonly names?: Names;
}

/**
 * Returns the payloads that manifests name, even under names that do not belong to the snapshot. Undefined if a manifest is not
 * given out now: it may name any of them.
 */
export const namedPayloads = (entries: readonly Entry[]): ReadonlySet<string> | undefined =>
  entries.some(({ manifest, unread }) => !manifest && unread === 'unreachable')
    ? undefined
    : new Set(entries.flatMap(({ manifest }) => (manifest ? [manifest.object.key] : [])));

/**
 * Deletes leftovers of dead runs: unfinished uploads, and the objects of a snapshot without a manifest if the newest of them
 * is older than `age` milliseconds by the store's clock. Without that clock, no object is deleted. Payloads in `named` are
 * kept; if that is not known, all are.
 */
export async function sweep(
  store: Store,
  folder: string,
  age: number,
  named: ReadonlySet<string> | undefined,
  options: SweepOptions,
): Promise<string[]> {
  const swept: string[] = [];
  // A failure only causes a warning: a backup needs neither the right to list nor the right to delete.
  const attempt = async (work: () => Promise<void>) => {
    try {
      await work();
    } catch (error) {
      options.signal?.throwIfAborted();
      options.warn(`leftovers of dead runs could not be removed: ${messageOf(error)}`);
    }
  };
  await attempt(async () => {
    const unfinished = await store.sweep(`${folder}/`, age, options);
    if (unfinished > 0) swept.push(`${unfinished} unfinished uploads`);
  });
  await attempt(async () => {
    const now = await store.now(options);
    if (!now) return;
    const names = options.names ?? (await listNames(store, folder, options));
    swept.push(...(await sweepCanaries(store, folder, names, now.getTime() - age, options)));
    if (named) await sweepSnapshots(store, folder, names, now.getTime() - age, named, options, swept);
  });
  return swept;
}

async function sweepSnapshots(
  store: Store,
  folder: string,
  { groups }: Names,
  before: number,
  named: ReadonlySet<string>,
  options: CallOptions,
  swept: string[],
): Promise<void> {
  for (const [id, objects] of groups) {
    // Only a name of the agent's own form identifies an object as ours.
    if (!isSnapshotId(id) || !areOld(objects, before)) continue;
    // Keep objects that are pinned or that another manifest names.
    const payloads = objects.filter(({ key }) => PAYLOAD.test(key.slice(folder.length + 1 + id.length)));
    const keeping = [
      ...[manifestKey(folder, id), pinKey(folder, id)],
      ...payloads.map(({ key }) => exactManifestKey(key)),
    ];
    if (objects.some(({ key }) => keeping.includes(key) || named.has(key))) continue;
    // A listing may be incomplete, so ask the store for each of these keys.
    const found = await Promise.all(keeping.map((key) => store.stat(key, options)));
    if (found.some((object) => object !== undefined)) continue;
    for (const { key } of (await restsUnder(store, folder, id, before, options)) ?? []) {
      if ((await store.delete(key, options)) === 'deleted') swept.push(key);
    }
  }
}
