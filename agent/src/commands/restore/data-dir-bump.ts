import { readdir } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { type Entry, isMemberNote, type WholeEntry } from '../../backup/catalog/catalog.ts';
import { timeOf } from '../../backup/catalog/passed-over.ts';
import { knownRevisionOf, refuseBeyondLast } from '../../backup/payload/plausible-revision.ts';
import { bumpBeyond } from '../../backup/restore/bump-beyond.ts';
import type { DataDirRequest } from '../../backup/restore/restore-marker.ts';
import { type Marker, readMarker } from '../../backup/restore/restore-marker.ts';
import { nextToken } from '../../backup/restore/token.ts';
import { bumpOf, highestServed, seenOf } from '../../control-plane/state/bump.ts';
import { beganAfter, dataRevision } from '../../control-plane/state/data-revision.ts';
import {
  beyondUnknown,
  guessText,
  highestOf,
  type OwnRestore,
  type RestoreNote,
  type Seen,
  type Served,
  type ServedRequest,
  servedBefore,
} from '../../control-plane/state/served-revisions.ts';
import { idsOf } from '../../etcd/offline/cluster-id.ts';
import { AgentError, ExitCode, messageOf } from '../../lib/errors.ts';
import { unlessGone } from '../../lib/files/directories.ts';
import { waitLimit } from '../../lib/limits/answer-limit.ts';
import { moreTime } from '../../lib/limits/run-limit.ts';
import type { CommandContext } from '../cli/command.ts';
import { ANSWER_LIMIT, answeringOf } from '../shared/answering.ts';
import type { OpenedStore } from '../shared/opened-store.ts';
import { servedFacts } from '../shared/served-facts.ts';
import { mayForce } from '../shared/store-run.ts';

interface Wanted {
  readonly opened: OpenedStore;
  readonly entry: WholeEntry;
  readonly request: DataDirRequest;
  readonly several: boolean;
  /** Command that restores this member from another snapshot. */
  readonly commandFor?: (entry: Entry) => string;
  readonly context: Pick<CommandContext, 'signal' | 'log'>;
}

/**
 * Chooses the number to add to the revision of a data directory, so that the revision exceeds every one that is known
 * to have been served. Where no data has been, `--bump-revision` is used unchecked: the directory may be a copy for
 * another purpose. With the caller's own token, the cluster may already exist, and the number must be the one of its
 * other members.
 */
export async function bumpFor(wanted: Wanted): Promise<number> {
  const { entry } = wanted;
  const bump = await chosenBump(wanted);
  refuseBeyondLast(entry.id, knownRevisionOf(entry.manifest) ?? 0, bump);
  return bump;
}

async function chosenBump({ opened, entry, request, several, commandFor, context }: Wanted): Promise<number> {
  const { bumpRevision: given, initialClusterToken: token } = request;
  const { here, own } = await servedHere(resolve(request.dataDir), new Date(timeOf(entry)));
  const isReplaced = here.length > 0 || own.length > 0;
  if (given !== undefined && !isReplaced && token === undefined) return given;
  const isNeeded = several && given === undefined;
  const { entries, served, unlisted } = await servedIn(opened, { entry, here, own }, context, isNeeded);
  if (unlisted !== undefined && given !== undefined) {
    context.log.warn(`${unlisted}; checking --bump-revision only against the data here`);
  }
  const same = token === undefined ? undefined : bumpOfOthers(served, entries, { entry, request, several, commandFor });
  if (same !== undefined) return same;
  if (given !== undefined && !isReplaced) return given;
  const revision = knownRevisionOf(entry.manifest) ?? 0;
  const guess = isReplaced ? undefined : guessText(served.unknown);
  if (guess !== undefined) context.log.warn(guess);
  return bumpOf(isReplaced ? served : guessed(served, revision), {
    ...{ id: entry.id, revision, several },
    token: () => token ?? '',
    ...(given !== undefined && { given }),
  });
}

/**
 * Counts what is unknown as a step beyond what is known: a restore into an empty directory must not fail because another
 * snapshot or a note cannot be read.
 */
function guessed(served: Served, revision: number): Served {
  const highest = highestServed({ ...served, here: [] }).revision;
  const beyond = beyondUnknown(Math.max(revision, highest), served.unknown);
  const inStore = [...served.inStore, { revision: beyond, where: 'what is unknown' }];
  return { ...served, inStore, unknown: [], mustAsk: [] };
}

/**
 * Returns the number with which the other members were restored. The cluster id is derived from members, peers and
 * token, so everything that is known about this id belongs to this restore, however long ago it began. etcd would
 * accept a member with other data as one of its own, so throw if the facts contradict each other.
 */
function bumpOfOthers(
  served: Served,
  entries: readonly Entry[],
  { entry, request, several, commandFor }: Pick<Wanted, 'entry' | 'request' | 'several' | 'commandFor'>,
): number | undefined {
  const { initialCluster, initialClusterToken = '', bumpRevision: given } = request;
  const { id } = entry;
  const revision = knownRevisionOf(entry.manifest) ?? 0;
  const ids = idsOf(initialCluster, initialClusterToken);
  if (several && ids) refuseRestored([...entries, { objects: served.outside ?? [] }], ids, request, id);
  const clusterId = ids?.clusterId;
  const isSame = (each: { readonly clusterId?: string }) =>
    each.clusterId !== undefined && each.clusterId === clusterId;
  const notes = served.notes.filter(isSame);
  if (notes.length === 0) refuseSource([...entries, entry], clusterId, request, { id, several });
  const highest = highestOf([...served.inStore, ...served.here].filter(isSame));
  if (notes.length === 0 && highest.revision === 0) return undefined;
  const example = nextToken(id, initialClusterToken);
  const orNewToken = `pass ${several ? 'the same new --initial-cluster-token to all members' : 'a new --initial-cluster-token'}, for example ${example}`;
  // A single member has lost with its data what it has served.
  const other = several ? notes.find((note) => note.id !== id || note.part !== 'none') : notes[0];
  if (other || !several) {
    const where = (other?.part ?? 'none') === 'none' ? '' : ' here';
    const sibling = several ? siblingOf(notes, entries) : undefined;
    const too =
      sibling && commandFor ? `restore this member from ${sibling.id} too: \`${commandFor(sibling)}\`; or ` : '';
    throw refused(
      `--initial-cluster-token: the cluster ${clusterId} with this token and these members was already restored${other ? ` from ${other.id}` : ''}${where}; ${too}${orNewToken}`,
    );
  }
  const bump = notes.find((note) => note.bump !== undefined)?.bump;
  if (given !== undefined && bump !== undefined && given !== bump) {
    throw refused(
      `--bump-revision=${given}: the cluster ${clusterId} with this token and these members was restored with ${bump}; pass ${bump}, or ${orNewToken}`,
    );
  }
  const joined = given ?? (highest.revision <= revision + (bump ?? 0) ? bump : undefined);
  if (joined === undefined) {
    const since = highest.revision > 0 ? `, and ${highest.where} has reached revision ${highest.revision} since` : '';
    throw refused(
      `the cluster ${clusterId} with this token and these members was already restored${since}; if its other members are alive, pass their --bump-revision${bump === undefined ? '' : `, ${bump}`}; otherwise ${orNewToken}`,
    );
  }
  // The other members may have been restored into empty directories.
  const inPlace = seenOf(served.notes.filter(({ part }) => part !== 'none'));
  const past = highestOf([...served.here, ...inPlace].filter((each) => !isSame(each)));
  if (revision + joined > past.revision) return joined;
  throw refused(
    `the cluster ${clusterId} with this token and these members begins at revision ${revision + joined}, but ${past.where} has reached ${past.revision}: clients would miss changes; pass the same --bump-revision to all members, for example ${bumpBeyond(highestServed(served).revision, revision)}, and the same new --initial-cluster-token, for example ${example}`,
  );
}

/**
 * Refuses the token of a cluster that no restore made but that has snapshots: it may still serve, and would accept the member
 * with other data under its old member id.
 */
function refuseSource(
  entries: readonly Entry[],
  clusterId: string | undefined,
  { name, initialClusterToken }: DataDirRequest,
  { id, several }: { readonly id: string; readonly several: boolean },
): void {
  if (!entries.some(({ manifest }) => clusterId !== undefined && manifest?.source.clusterId === clusterId)) return;
  const instead = several
    ? `if it still serves, remove ${name} there and add it again; otherwise pass the same new token to all members`
    : 'pass a new token';
  throw refused(
    `--initial-cluster-token: this token and these members are those of the cluster ${clusterId} that the snapshots come from; ${instead}, for example --initial-cluster-token=${nextToken(id, initialClusterToken)}`,
  );
}

/**
 * The snapshot that all other members were restored from, if a restore accepts it and nothing of their cluster was here.
 */
function siblingOf(notes: readonly RestoreNote[], entries: readonly Entry[]): Entry | undefined {
  const [id, ...more] = new Set(notes.map((note) => note.id));
  const isOne = more.length === 0 && notes.every(({ part }) => part === 'none');
  return isOne ? entries.find((each) => each.id === id && each.manifest && !each.problem && mayForce(each)) : undefined;
}

/**
 * Refuses a member that was restored before: it may have voted since, and without its data a majority could lose
 * acknowledged writes.
 */
function refuseRestored(
  entries: readonly Pick<Entry, 'objects'>[],
  { clusterId, memberIds }: NonNullable<ReturnType<typeof idsOf>>,
  { name, repeat, initialClusterToken }: DataDirRequest,
  id: string,
): void {
  const memberId = memberIds.get(name);
  if (repeat === 'again' || memberId === undefined) return;
  if (!entries.some(({ objects }) => objects.some(({ key }) => isMemberNote(key, clusterId, memberId)))) return;
  throw refused(
    `--name: ${name} was already restored as a member of the cluster ${clusterId}, and its data is not here; if that cluster serves, remove ${name} and add it again; otherwise pass the same new --initial-cluster-token to all members, for example ${nextToken(id, initialClusterToken)}; if it has never served, use --again to restore it once more`,
  );
}

const refused = (message: string) => new AgentError(ExitCode.refused, message);

interface Found {
  readonly entries: readonly Entry[];
  readonly served: Served;
  /** Why nothing is known from the store. */
  readonly unlisted?: string;
}

/**
 * Reads what the store knows of earlier restores and backups. If all of it `isNeeded`, throws if the store does not give it out
 * in time. Otherwise what is missing is unknown.
 */
async function servedIn(
  opened: OpenedStore,
  { entry, ...local }: { readonly entry: WholeEntry } & Pick<ServedRequest, 'here' | 'own'>,
  { signal }: Wanted['context'],
  isNeeded: boolean,
): Promise<Found> {
  const served = (facts: Pick<ServedRequest, 'store' | 'entries'>, skipUnread: boolean) => {
    // A manifest that hangs takes all its time, and must leave the notes theirs.
    const limited = AbortSignal.any([signal, waitLimit(ANSWER_LIMIT, signal)]);
    return servedBefore({ ...facts, restored: entry, ...local, signal: limited, skipUnread });
  };
  try {
    moreTime(signal, ANSWER_LIMIT / 1000);
    const answering = await answeringOf(opened, { signal });
    const missing = answering.find(({ unread, manifest }) => unread === 'unreachable' && !manifest);
    if (missing && isNeeded) throw new Error(`${missing.id}: ${missing.problem}`);
    const facts = await servedFacts(opened, answering, { signal });
    return { entries: facts.entries, served: await served(facts, !isNeeded) };
  } catch (error) {
    signal.throwIfAborted();
    const why = `earlier restores and backups are unknown (${messageOf(error)})`;
    // Each member computes the number by itself. A member that knows less than the others would get another number.
    if (isNeeded) {
      throw refused(
        `${why}; pass the same --bump-revision to all members, so that the revision exceeds everything that etcd has ever served`,
      );
    }
    const entries = [{ ...entry, objects: [] }];
    const known = await served({ store: opened.store, entries }, true);
    // Data here seems to be the newest if nothing else is known, so only a person can judge.
    return {
      entries,
      served: { ...known, unknown: [...known.unknown, why], mustAsk: [...known.mustAsk, why] },
      unlisted: why,
    };
  }
}

/** Reads the data directory, and the directories that earlier restores have renamed. */
async function servedHere(dataDir: string, taken: Date): Promise<{ here: Seen[]; own: OwnRestore[] }> {
  const names = (await unlessGone(readdir(dirname(dataDir)))) ?? [];
  const replaced = names.filter((name) => name.startsWith(`${basename(dataDir)}.replaced-`));
  const here: Seen[] = [];
  const own: OwnRestore[] = [];
  for (const directory of [dataDir, ...replaced.map((name) => join(dirname(dataDir), name))]) {
    const found = await dataRevision({ dataDir: directory });
    const isFresh = await beganAfter({ dataDir: directory }, taken).catch(() => false);
    // The restore that moved data aside has already begun beyond what they may have served.
    const unread = directory === dataDir ? found?.unread : undefined;
    if (found) here.push({ ...found, unread, isFresh, where: `the data in ${directory}` });
    // The data themselves are asked, too, and `--again` replaces a marker that cannot be read.
    const marker = await readMarker(directory).catch(() => undefined);
    if (marker) own.push(...restoreOf(marker));
  }
  return { here, own };
}

const restoreOf = ({ id, clusterId, revision, bumpRevision, initialClusterToken = '' }: Marker): OwnRestore[] =>
  clusterId === undefined || revision === undefined
    ? []
    : [{ id, clusterId, revision, bump: bumpRevision, token: initialClusterToken, hasServed: true }];
