import { readdir } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { type Entry, isMemberNote, type WholeEntry } from '../../backup/catalog/catalog.ts';
import { revisionOf } from '../../backup/catalog/manifest.ts';
import { timeOf } from '../../backup/catalog/passed-over.ts';
import { bumpBeyond } from '../../backup/restore/bump-beyond.ts';
import { freshToken } from '../../backup/restore/restore.ts';
import type { DataDirRequest } from '../../backup/restore/restore-marker.ts';
import { type Marker, readMarker } from '../../backup/restore/restore-marker.ts';
import { bumpOf } from '../../control-plane/state/bump.ts';
import { beganAfter, dataRevision } from '../../control-plane/state/data-revision.ts';
import {
  highestOf,
  type OwnRestore,
  type RestoreNote,
  type Seen,
  type Served,
  servedBefore,
} from '../../control-plane/state/served-revisions.ts';
import { idsOf } from '../../etcd/offline/cluster-id.ts';
import { AgentError, ExitCode, messageOf } from '../../lib/errors.ts';
import type { CommandContext } from '../cli/command.ts';
import type { OpenedStore } from '../shared/store-run.ts';

interface Wanted {
  readonly opened: OpenedStore;
  readonly entry: WholeEntry;
  readonly request: DataDirRequest;
  readonly several: boolean;
  readonly context: Pick<CommandContext, 'signal' | 'log'>;
}

/**
 * How far the revision of a data directory jumps: beyond all that is known to have been served. In a place where nothing
 * was, a number that is given counts as it is: it may be a copy for another purpose. With a token of the caller's own it may
 * also be a cluster that is there already.
 */
export async function bumpFor({ opened, entry, request, several, context }: Wanted): Promise<number> {
  const { bumpRevision: given, initialClusterToken: token } = request;
  const { signal } = context;
  const { here, own } = await servedHere(resolve(request.dataDir), new Date(timeOf(entry)));
  const isReplaced = here.length > 0 || own.length > 0;
  if (given !== undefined && !isReplaced && token === undefined) return given;
  const entries = await entriesOf(opened, entry, context, several && given === undefined);
  const served = await servedBefore({ store: opened.store, entries, restored: entry, here, own, signal });
  const same = token === undefined ? undefined : bumpOfOthers(served, entries, { entry, request, several });
  if (same !== undefined) return same;
  if (given !== undefined && !isReplaced) return given;
  // Whoever asks for one snapshot in an empty place must not fail by another one that cannot be read.
  const unknown = isReplaced ? served.unknown : [];
  return bumpOf(
    { ...served, unknown },
    {
      ...{ id: entry.id, revision: revisionOf(entry.manifest) ?? 0, several },
      token: () => token ?? '',
      ...(given !== undefined && { given }),
    },
  );
}

/**
 * With which the other members were restored. Members, peers and token make the cluster id, so what is known under it is
 * this very restore, however long ago it began: a member with other data would be taken for one of its own.
 */
function bumpOfOthers(
  served: Served,
  entries: readonly Entry[],
  { entry, request, several }: Pick<Wanted, 'entry' | 'request' | 'several'>,
): number | undefined {
  const { initialCluster, initialClusterToken = '', bumpRevision: given } = request;
  const { id } = entry;
  const revision = revisionOf(entry.manifest) ?? 0;
  const ids = idsOf(initialCluster, initialClusterToken);
  if (several && ids) refuseRestored(entries, ids, request);
  const clusterId = ids?.clusterId;
  const isSame = (each: { readonly clusterId?: string }) =>
    each.clusterId !== undefined && each.clusterId === clusterId;
  const notes = served.notes.filter(isSame);
  const highest = highestOf([...served.inStore, ...served.here].filter(isSame));
  if (notes.length === 0 && highest.revision === 0) return undefined;
  const orNewToken = `give ${several ? 'all members the same' : 'it a'} new token, for instance ${freshToken()}`;
  // What a lone member has served is gone with its data.
  const other = several ? notes.find((note) => note.id !== id || note.part !== 'none') : notes[0];
  if (other || !several) {
    const where = (other?.part ?? 'none') === 'none' ? '' : ' here';
    throw refused(
      `--initial-cluster-token: the same token and members have made the cluster ${clusterId}${other ? ` of ${other.id}` : ''}${where} before; ${orNewToken}`,
    );
  }
  const bump = notes.find((note) => note.bump !== undefined)?.bump;
  if (given !== undefined && bump !== undefined && given !== bump) {
    throw refused(
      `--bump-revision=${given}: the cluster ${clusterId} that this token and these members make was restored with ${bump}; give ${bump}, or ${orNewToken}`,
    );
  }
  const joined = given ?? (highest.revision <= revision + (bump ?? 0) ? bump : undefined);
  if (joined === undefined) {
    const since = highest.revision > 0 ? `, and ${highest.where} came to ${highest.revision} since` : '';
    throw refused(
      `the cluster ${clusterId} that this token and these members make was restored before${since}; where its other members live, give the --bump-revision of theirs${bump === undefined ? '' : `, ${bump}`}; otherwise ${orNewToken}`,
    );
  }
  // The others may have begun in places where nothing was.
  const past = highestOf([...served.here, ...seenOf(served.notes)].filter((each) => !isSame(each)));
  if (revision + joined > past.revision) return joined;
  const all = highestOf([...served.inStore, ...served.here, ...seenOf(served.notes, true)]);
  throw refused(
    `the cluster ${clusterId} that this token and these members make begins at ${revision + joined}, but ${past.where} came to ${past.revision}: clients would not see what changes; give all members the same --bump-revision, such as ${bumpBeyond(all.revision, revision)}, and the same new token, for instance ${freshToken()}`,
  );
}

/** What restores came to: those of this place, or all. */
const seenOf = (notes: readonly RestoreNote[], all = false): Seen[] =>
  notes.flatMap(({ id, clusterId, revision, part }) =>
    revision === undefined || (part === 'none' && !all)
      ? []
      : [{ revision, clusterId, where: `the cluster ${clusterId} that was restored from ${id}` }],
  );

/** One that has voted since, and knows nothing of it, could let a majority lose what it has acknowledged. */
function refuseRestored(
  entries: readonly Entry[],
  { clusterId, memberIds }: NonNullable<ReturnType<typeof idsOf>>,
  { name, repeat }: DataDirRequest,
): void {
  const memberId = memberIds.get(name);
  if (repeat === 'again' || memberId === undefined) return;
  if (!entries.some(({ objects }) => objects.some(({ key }) => isMemberNote(key, clusterId, memberId)))) return;
  throw refused(
    `--name: ${name} was restored as a member of the cluster ${clusterId} before, and what it had is not here; where that cluster serves, remove ${name} and add it anew, otherwise give all members the same new token, for instance ${freshToken()}; if it has never served, --again restores it once more`,
  );
}

const refused = (message: string) => new AgentError(ExitCode.refused, message);

async function entriesOf(
  opened: OpenedStore,
  entry: WholeEntry,
  { signal, log }: Wanted['context'],
  isNeeded: boolean,
): Promise<readonly Entry[]> {
  try {
    return await opened.readAll();
  } catch (error) {
    signal.throwIfAborted();
    // Each member works it out by itself: one that knows less than the others would come to another number.
    if (isNeeded) {
      throw refused(
        `what was restored and backed up before is not known (${messageOf(error)}); give all members the same --bump-revision, beyond all that etcd ever served`,
      );
    }
    log.warn(
      `what was restored and backed up before is not known (${messageOf(error)}); the revision goes by what is here`,
    );
    return [entry];
  }
}

/** What the directory says, and what earlier restores have moved aside. */
async function servedHere(dataDir: string, taken: Date): Promise<{ here: Seen[]; own: OwnRestore[] }> {
  const names = await readdir(dirname(dataDir)).catch((): string[] => []);
  const asides = names.filter((name) => name.startsWith(`${basename(dataDir)}.replaced-`));
  const here: Seen[] = [];
  const own: OwnRestore[] = [];
  for (const directory of [dataDir, ...asides.map((name) => join(dirname(dataDir), name))]) {
    const found = await dataRevision({ dataDir: directory });
    const isFresh = await beganAfter({ dataDir: directory }, taken).catch(() => false);
    if (found) here.push({ ...found, isFresh, where: `the data in ${directory}` });
    const marker = await readMarker(directory).catch(() => undefined);
    if (marker) own.push(...restoreOf(marker));
  }
  return { here, own };
}

const restoreOf = ({ id, clusterId, revision, bumpRevision, initialClusterToken = '' }: Marker): OwnRestore[] =>
  clusterId === undefined || revision === undefined
    ? []
    : [{ id, clusterId, revision, bump: bumpRevision, token: initialClusterToken, hasServed: true }];
