import type { CallOptions, Store } from '../../store/store.ts';
import { isAdopting, isRestoreNote, manifestKey, pinKey } from '../catalog/catalog.ts';
import { orNothing, readDocument } from '../catalog/documents.ts';
import { deletingKey, exactManifestKey, isInFolder } from '../catalog/keys.ts';
import { areOld, type Names, restsUnder } from '../catalog/names.ts';
import { isSnapshotId, splitName } from '../catalog/snapshot-id.ts';
import type { Leftovers } from './leftovers.ts';

/** What the agent writes beside a payload, so that it is its own under a name of the user's too. */
const BESIDE = /^\.(extra\.tar\.age|verify\.json|drill\.json)$/;

export interface Begun {
  readonly before: number;
  readonly age: number;
  /** The payloads that manifests name. Undefined if any payload may be named. */
  readonly named: ReadonlySet<string> | undefined;
}

/**
 * Deletes the rest of the snapshots under names of the user's own that a killed run of retention had begun to delete. Such a name
 * does not show what is the agent's, so the marker names the payload.
 */
export async function sweepBegun(
  leftovers: Leftovers,
  folder: string,
  { groups }: Names,
  { swept, ...begun }: Begun & { readonly swept: string[] },
  options: CallOptions,
): Promise<void> {
  for (const [id, objects] of groups) {
    const marker = deletingKey(folder, id);
    const listed = objects.find(({ key }) => key === marker);
    if (isSnapshotId(id) || !listed || !areOld([listed], begun.before)) continue;
    await leftovers.attempt(async (store) => {
      const isWhole = objects.some(({ key }) => key === manifestKey(folder, id));
      const rests = isWhole ? [] : await restsOf(store, folder, id, begun, options);
      for (const key of rests ? [...rests, marker] : []) {
        if ((await store.delete(key, options)) === 'deleted') swept.push(key);
      }
    });
  }
}

/** Returns undefined if something may still need them. */
async function restsOf(
  store: Store,
  folder: string,
  id: string,
  { before, age, named }: Begun,
  options: CallOptions,
): Promise<string[] | undefined> {
  const document = await orNothing(readDocument(store, deletingKey(folder, id), options));
  const key = document?.payload;
  if (typeof key !== 'string' || !isInFolder(folder, key) || !named || named.has(key)) return undefined;
  const owner = splitName(key.slice(folder.length + 1))?.id ?? id;
  const keeping = [
    ...[manifestKey(folder, id), pinKey(folder, id), exactManifestKey(key)],
    ...(owner === id ? [] : [manifestKey(folder, owner), pinKey(folder, owner)]),
  ];
  const found = await Promise.all(keeping.map((one) => store.stat(one, options)));
  const payload = await store.stat(key, options);
  const payloads = payload ? [payload] : [];
  if (found.some((object) => object !== undefined) || !areOld(payloads, before)) return undefined;
  const rests = await restsUnder(store, folder, id, before, options);
  if (!rests || (await isAdopting(store, payloads, before + age, options))) return undefined;
  const beside = rests.filter(
    (one) => !isRestoreNote(one.key) && BESIDE.test(one.key.slice(folder.length + 1 + id.length)),
  );
  return [...payloads, ...beside].map((one) => one.key);
}
