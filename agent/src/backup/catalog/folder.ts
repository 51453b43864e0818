import type { AgentError } from '../../lib/errors.ts';
import type { Wait } from '../../lib/limits/budget.ts';
import { callCounter } from '../../lib/memory.ts';
import { timeAt } from '../../store/clock.ts';
import { budgetOf, type Store, type StoredObject } from '../../store/store.ts';
import type { SnapshotFacts } from './catalog-index.ts';
import { deletingKey, exactManifestKey, isValidKey, manifestKey } from './keys.ts';
import { type Entry, isMarked, lostWith, mayRunUntil, named, withoutManifest } from './snapshot.ts';
import { byTimeOf, isPackedName, isSnapshotId, isSnapshotName, splitName } from './snapshot-id.ts';

/** Milliseconds that a name adds to the time limit: a page of a thousand names may take seconds. */
const EACH = 3;
/** Milliseconds that a name may take while a run only waits for answers. */
const AT_MOST = 30;

/** What a run knows of a folder, so that no manifest is read, or waited for, twice. */
interface Known {
  readonly facts: Map<string, SnapshotFacts>;
  readonly silent: Map<string, Silent>;
}

/** A snapshot that did not answer. */
export interface Silent {
  readonly stamps: SnapshotFacts['stamps'];
  readonly entry: Entry | undefined;
  /** Undefined if only the finding of `verify` is not given out. */
  readonly error?: AgentError | undefined;
}

const known = new WeakMap<Store, Map<string, Known>>();

function knownOf(store: Store, path: string): Known {
  const folders = known.get(store) ?? new Map<string, Known>();
  known.set(store, folders);
  const found = folders.get(path) ?? { facts: new Map(), silent: new Map() };
  folders.set(path, found);
  return found;
}

/** The folder of one cluster in one store, as one run uses it. */
export class Folder {
  readonly store: Store;
  readonly path: string;
  readonly signal: AbortSignal | undefined;
  readonly known: Known;

  constructor(store: Store, path: string, signal?: AbortSignal, of = knownOf(store, path)) {
    this.store = store;
    this.path = path;
    this.signal = signal;
    this.known = of;
  }

  /** The same folder through a store of another patience. */
  within(store: Store): Folder {
    return new Folder(store, this.path, this.signal, this.known);
  }

  /** The same folder in a part of the run that has an end of its own. */
  during(until: AbortSignal | undefined): Folder {
    const signals = [this.signal, until].filter((signal) => signal !== undefined);
    return new Folder(this.store, this.path, AbortSignal.any(signals), this.known);
  }

  /** Lists the folder or, with an id, only the objects of that snapshot. `until` limits the wait; each object counts as an answer. */
  async list({ id, until }: { id?: string; until?: (() => Wait | undefined) | undefined } = {}): Promise<Listing> {
    const { store, path, signal } = this;
    const listing = new Listing(path);
    const budget = budgetOf(store);
    const countObject = callCounter(2_000);
    for await (const object of store.list(`${path}/${id === undefined ? '' : `${id}.`}`, { signal })) {
      countObject();
      budget.extend(EACH);
      until?.()?.answered(AT_MOST);
      listing.add(object);
    }
    return listing;
  }

  /**
   * Lists the objects under a name again. Returns undefined unless all of them were written before that time: a listing of
   * the whole folder may be minutes old, and another run may have begun to write under the name.
   */
  async rests(id: string, before: number): Promise<readonly StoredObject[] | undefined> {
    const objects = (await this.list({ id })).groups.get(id) ?? [];
    return areOld(objects, before) ? objects : undefined;
  }

  /** Until when retention may be deleting a snapshot. Undefined if it is not: an older marker is that of a run that was killed. */
  async mayBeDeletedUntil(id: string): Promise<string | undefined> {
    return (await this.#deleting(id))?.until;
  }

  /** Removes the marker of a deletion that was killed. A deletion that may go on needs its own. */
  async dropDeleting(id: string): Promise<void> {
    const marker = await this.#deleting(id);
    if (marker && !marker.until) await this.store.delete(marker.key, { signal: this.signal });
  }

  async #deleting(id: string): Promise<{ readonly key: string; readonly until: string | undefined } | undefined> {
    const { store, path, signal } = this;
    const marker = await store.stat(deletingKey(path, id), { signal });
    return marker && { key: marker.key, until: mayRunUntil(marker, await timeAt(store, { signal })) };
  }
}

/** An invalid time does not count as old. */
export const areOld = (objects: readonly StoredObject[], before: number): boolean =>
  objects.every(({ modified }) => modified.getTime() <= before);

/** The objects that a store lists in a folder. */
export class Listing {
  readonly path: string;
  /** Objects whose name begins with an id, by id. */
  readonly groups = new Map<string, StoredObject[]>();
  /** Objects whose name does not begin with an id, by key. An adopted file keeps its name. */
  readonly others = new Map<string, StoredObject>();

  constructor(path: string) {
    this.path = path;
  }

  add(object: StoredObject): void {
    const name = this.nameOf(object.key);
    const split = splitName(name);
    if (!split) {
      if (!name.includes('/')) this.others.set(object.key, object);
      return;
    }
    const group = this.groups.get(split.id);
    if (group) group.push(object);
    else this.groups.set(split.id, [object]);
  }

  nameOf(key: string): string {
    return key.slice(this.path.length + 1);
  }

  find(key: string): StoredObject | undefined {
    const id = splitName(this.nameOf(key))?.id;
    return id === undefined ? this.others.get(key) : this.groups.get(id)?.find((object) => object.key === key);
  }

  /** The ids that have a manifest. */
  get committed(): string[] {
    return [...this.groups.keys()].filter((id) => this.find(manifestKey(this.path, id)));
  }

  /** Whether a run may be writing a snapshot that has no manifest yet. What was last written before that time is of a dead run. */
  isAnyUnderWay(before: number): boolean {
    return [...this.groups].some(([id, objects]) => {
      const isOfRun = isSnapshotId(id) || isMarked(named(this.path, id, objects));
      return isOfRun && !this.find(manifestKey(this.path, id)) && !areOld(objects, before);
    });
  }

  /** Returns the snapshots that have a payload and no manifest, newest first. Only their names identify them. */
  withoutManifest(now: Date): Entry[] {
    const found = [...this.groups].flatMap(([id, objects]) => withoutManifest(this.path, id, objects, now) ?? []);
    // A name of ours begins with the time.
    return found.sort(byTimeOf(() => 0));
  }

  /** Returns what has a note of a restore beside it and no manifest: the restored cluster may have served all the same. */
  noted(): Entry[] {
    return [...this.groups]
      .filter(([id]) => !this.find(manifestKey(this.path, id)))
      .map(([id, objects]) => lostWith(this.path, id, objects))
      .filter(({ restoredAs }) => restoredAs.length > 0);
  }

  /**
   * Returns the files that look like payloads and that nothing claims: no manifest, no marker, and no name of ours. Each may be a
   * snapshot under a name of the user's that has lost its manifest, or a file of another program. Newest first.
   */
  unclaimed(entries: readonly Entry[]): StoredObject[] {
    const claimed = new Set(entries.flatMap(({ manifest }) => (manifest ? [manifest.object.key] : [])));
    const unread = new Set(entries.flatMap(({ id, manifest }) => (manifest ? [] : [id])));
    const groups = [...this.groups].filter(
      ([id, objects]) => !isSnapshotId(id) && !unread.has(id) && !isMarked(named(this.path, id, objects)),
    );
    return [...groups.flatMap(([, objects]) => objects), ...this.others.values()]
      .filter(({ key }) => isValidKey(key) && !claimed.has(key))
      .filter(({ key }) => [isSnapshotName, isPackedSnapshot].some((may) => may(this.nameOf(key))))
      .filter(({ key }) => !this.find(exactManifestKey(key)))
      .sort((a, b) => b.modified.getTime() - a.modified.getTime());
  }

  /**
   * Returns the payloads that manifests name, even under names that do not belong to the snapshot. Undefined if a manifest cannot
   * be read, whatever the reason: it may name any of them, and may be that of an etcd that nothing else shows.
   */
  namedPayloads(entries: readonly Entry[]): ReadonlySet<string> | undefined {
    if (entries.some(({ manifest }) => !manifest) || this.#hasDamaged(entries)) return undefined;
    return new Set(entries.flatMap(({ manifest }) => (manifest ? [manifest.object.key] : [])));
  }

  /** Whether a snapshot under a name of the user's own has a damaged manifest. No listing of snapshots shows it. */
  #hasDamaged(entries: readonly Entry[]): boolean {
    const read = new Set(entries.map(({ id }) => id));
    const isPayload = (key: string) => isSnapshotName(this.nameOf(key));
    return this.committed.some((id) => {
      // A name without an ending is in no group.
      const bare = this.others.get(`${this.path}/${id}`);
      const objects = [...(this.groups.get(id) ?? []), ...(bare ? [bare] : [])];
      return !read.has(id) && objects.some(({ key }) => isPayload(key));
    });
  }
}

/** A packed file counts only if its name speaks of a snapshot. */
const isPackedSnapshot = (name: string): boolean => isPackedName(name) && /etcd|snap|\.db\b/i.test(name);
