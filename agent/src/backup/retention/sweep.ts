import { randomBytes } from 'node:crypto';
import { messageOf } from '../../lib/errors.ts';
import type { CallOptions, Store } from '../../store/store.ts';
import { type Entry, exactManifestKey, manifestKey, PAYLOAD, pinKey } from '../catalog/catalog.ts';
import { areOld, listNames, type Names, restsUnder } from '../catalog/names.ts';
import { isSnapshotId } from '../catalog/snapshot-id.ts';

const CANARY = /^\.check-[0-9a-f]{16}$/;

/** What `check` writes and reads to try a store: a name that no snapshot can have. */
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
  /** Called with what could not be removed: a run goes on without. */
  readonly warn: (message: string) => void;
  /** What the folder holds, where that was listed already. */
  readonly names?: Names;
}

/** The payloads that manifests lead to: also under names that are not their snapshot's. */
export const namedPayloads = (entries: readonly Entry[]): ReadonlySet<string> =>
  new Set(entries.flatMap(({ manifest }) => (manifest ? [manifest.object.key] : [])));

/**
 * Removes what dead runs left: unfinished uploads, and objects of a snapshot that has no manifest, when the newest of
 * them is older than `age` milliseconds by the store's clock. Without that clock nothing is removed, nor is what is `named`.
 */
export async function sweep(
  store: Store,
  folder: string,
  age: number,
  named: ReadonlySet<string>,
  options: SweepOptions,
): Promise<string[]> {
  const swept: string[] = [];
  // The right to list or to delete may be withheld, and a backup needs neither.
  const attempt = async (work: () => Promise<void>) => {
    try {
      await work();
    } catch (error) {
      options.signal?.throwIfAborted();
      options.warn(`what dead runs left could not be removed: ${messageOf(error)}`);
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
    await sweepSnapshots(store, folder, names, now.getTime() - age, named, options, swept);
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
    // Only our own names tell that it is ours.
    if (!isSnapshotId(id) || !areOld(objects, before)) continue;
    // What a pin keeps, or another manifest leads to, is not ours to remove.
    const payloads = objects.filter(({ key }) => PAYLOAD.test(key.slice(folder.length + 1 + id.length)));
    const keeping = [
      ...[manifestKey(folder, id), pinKey(folder, id)],
      ...payloads.map(({ key }) => exactManifestKey(key)),
    ];
    if (objects.some(({ key }) => keeping.includes(key) || named.has(key))) continue;
    // A listing may be cut short: only the store's answer to the very question counts.
    const found = await Promise.all(keeping.map((key) => store.stat(key, options)));
    if (found.some((object) => object !== undefined)) continue;
    for (const { key } of (await restsUnder(store, folder, id, before, options)) ?? []) {
      if ((await store.delete(key, options)) === 'deleted') swept.push(key);
    }
  }
}
