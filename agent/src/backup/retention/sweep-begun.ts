import { isAdopting, isRestoreNote, manifestKey, pinKey } from '../catalog/catalog.ts';
import { orNothing, readDocument } from '../catalog/documents.ts';
import { areOld, type Folder, type Listing } from '../catalog/folder.ts';
import { deletingKey, exactManifestKey, isInFolder } from '../catalog/keys.ts';
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
  folder: Folder,
  { groups }: Listing,
  { swept, ...begun }: Begun & { readonly swept: string[] },
): Promise<void> {
  const { path, signal } = folder;
  for (const [id, objects] of groups) {
    const marker = deletingKey(path, id);
    const listed = objects.find(({ key }) => key === marker);
    if (isSnapshotId(id) || !listed || !areOld([listed], begun.before)) continue;
    await leftovers.attempt(async (store) => {
      const isWhole = objects.some(({ key }) => key === manifestKey(path, id));
      const rests = isWhole ? [] : await restsOf(folder.within(store), id, begun);
      for (const key of rests ? [...rests, marker] : []) {
        if ((await store.delete(key, { signal })) === 'deleted') swept.push(key);
      }
    });
  }
}

/** Returns undefined if something may still need them. */
async function restsOf(folder: Folder, id: string, { before, age, named }: Begun): Promise<string[] | undefined> {
  const { store, path, signal } = folder;
  const document = await orNothing(readDocument(store, deletingKey(path, id), { signal }));
  const key = document?.payload;
  if (typeof key !== 'string' || !isInFolder(path, key) || !named || named.has(key)) return undefined;
  const owner = splitName(key.slice(path.length + 1))?.id ?? id;
  const keeping = [
    ...[manifestKey(path, id), pinKey(path, id), exactManifestKey(key)],
    ...(owner === id ? [] : [manifestKey(path, owner), pinKey(path, owner)]),
  ];
  const found = await Promise.all(keeping.map((one) => store.stat(one, { signal })));
  const payload = await store.stat(key, { signal });
  const payloads = payload ? [payload] : [];
  if (found.some((object) => object !== undefined) || !areOld(payloads, before)) return undefined;
  const rests = await folder.rests(id, before);
  if (!rests || (await isAdopting(store, payloads, before + age, { signal }))) return undefined;
  const beside = rests.filter(
    (one) => !isRestoreNote(one.key) && BESIDE.test(one.key.slice(path.length + 1 + id.length)),
  );
  return [...payloads, ...beside].map((one) => one.key);
}
