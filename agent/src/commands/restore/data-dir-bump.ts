import { readdir } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { type Entry, isMemberNote, type WholeEntry } from '../../backup/catalog/catalog.ts';
import { knownRevisionOf, refuseBeyondLast } from '../../backup/payload/plausible-revision.ts';
import type { DataDirRequest } from '../../backup/restore/restore-marker.ts';
import { type Marker, readMarker } from '../../backup/restore/restore-marker.ts';
import { nextToken } from '../../backup/restore/token.ts';
import { bumpByClock, bumpOf } from '../../control-plane/state/bump.ts';
import { dataRevision } from '../../control-plane/state/data-revision.ts';
import type { RestoreNote } from '../../control-plane/state/noted-restores.ts';
import {
  highestOf,
  type OwnRestore,
  type SeenRevision,
  type Served,
  seenOf,
} from '../../control-plane/state/served-revisions.ts';
import { idsOf } from '../../etcd/offline/cluster-id.ts';
import { AgentError, ExitCode } from '../../lib/errors.ts';
import { unlessGone } from '../../lib/files/directories.ts';
import type { CommandContext } from '../cli/command.ts';
import { answeringOf } from '../shared/answering.ts';
import type { OpenedStore } from '../shared/opened-store.ts';
import { type ServedInStore, servedInStore } from '../shared/served-in-store.ts';
import { mayForce } from '../shared/store-run.ts';

interface Wanted {
  readonly opened: OpenedStore;
  readonly entry: WholeEntry;
  readonly request: DataDirRequest;
  readonly several: boolean;
  /** Command that restores this member from another snapshot. */
  readonly commandFor?: (entry: Entry) => string;
  /** Returns the number on which the members agree, given the one that this member would take. */
  readonly agree?: (bump: number) => Promise<number>;
  readonly context: Pick<CommandContext, 'budget' | 'log'>;
}

/**
 * Chooses the number to add to the revision of a data directory, so that the revision exceeds every one that was served.
 * Where no data has been, `--bump-revision` is used unchecked: the directory may be a copy for another purpose. With the
 * caller's own token, the cluster may already exist, and the number must be the one of its other members.
 */
export async function bumpFor(wanted: Wanted): Promise<number> {
  const { entry } = wanted;
  const bump = await chosenBump(wanted);
  refuseBeyondLast(entry.id, knownRevisionOf(entry.manifest) ?? 0, bump);
  return bump;
}

async function chosenBump(wanted: Wanted): Promise<number> {
  const { opened, entry, request, several, context, agree = async (bump: number) => bump } = wanted;
  const { bumpRevision: given, initialClusterToken: token } = request;
  const { here, own } = await servedHere(resolve(request.dataDir));
  const isReplaced = here.length > 0 || own.length > 0;
  if (given !== undefined && !isReplaced && token === undefined) return given;
  const served = { ...(await servedInStore(opened, entry, context)), here, own };
  if (several && given === undefined && served.unread !== undefined) throw unreadNotes(served, entry);
  const same = token === undefined ? undefined : await bumpOfOthers(served, wanted);
  if (same !== undefined) return same;
  if (given !== undefined && !isReplaced) return given;
  const found = bumpOf(served, {
    ...{ id: entry.id, revision: knownRevisionOf(entry.manifest) ?? 0, several, given },
    token: () => token ?? '',
    clusterId: () => undefined,
  });
  return several && found.isNew ? agree(found.bump) : found.bump;
}

/**
 * Returns the number with which the other members were restored. The cluster id is derived from members, peers and
 * token, so everything that is known about this id belongs to this restore, however long ago it began. etcd would
 * accept a member with other data as one of its own, so throw if the facts contradict each other.
 */
async function bumpOfOthers(
  served: Served & ServedInStore,
  { opened, entry, request, several, commandFor, context }: Wanted,
): Promise<number | undefined> {
  const { initialCluster, initialClusterToken = '', bumpRevision: given } = request;
  const { id } = entry;
  const revision = knownRevisionOf(entry.manifest) ?? 0;
  const ids = idsOf(initialCluster, initialClusterToken);
  if (several && ids) refuseRestored(served.noteKeys, ids, request, id);
  const clusterId = ids?.clusterId;
  const isSame = (each: { readonly clusterId?: string }) =>
    each.clusterId !== undefined && each.clusterId === clusterId;
  const mine = served.own.filter(isSame);
  const notes = [...served.notes.filter(isSame), ...mine];
  const highest = highestOf([...served.inStore, ...served.here].filter(isSame));
  if (notes.length === 0) {
    if (served.inStore.some(isSame)) throw sourceToken(clusterId, request, { id, several });
    if (highest.revision === 0) return undefined;
  }
  const example = nextToken(id, initialClusterToken);
  const orNewToken = `pass ${several ? 'the same new --initial-cluster-token to all members' : 'a new --initial-cluster-token'}, for example ${example}`;
  // A single member has lost with its data what it has served.
  const other = several ? (mine[0] ?? notes.find((note) => note.id !== id)) : notes[0];
  if (other || !several) {
    const sibling =
      several && mine.length === 0 && commandFor ? siblingOf(notes, await answeringOf(opened, context)) : undefined;
    const too = sibling ? `restore this member from ${sibling.id} too: \`${commandFor!(sibling)}\`; or ` : '';
    throw refused(
      `--initial-cluster-token: the cluster ${clusterId} with this token and these members was already restored${other ? ` from ${other.id}` : ''}${mine.length > 0 ? ' here' : ''}; ${too}${orNewToken}`,
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
  const past = highestOf([...served.here, ...seenOf(served.own)].filter((each) => !isSame(each)));
  if (revision + joined > past.revision) return joined;
  const next = bumpByClock(served, { id, revision, several }, Date.now());
  throw refused(
    `the cluster ${clusterId} with this token and these members begins at revision ${revision + joined}, but ${past.where} has reached ${past.revision}: clients would miss changes; pass the same --bump-revision to all members, for example ${next}, and the same new --initial-cluster-token, for example ${example}`,
  );
}

function unreadNotes(served: Served, { id, manifest }: WholeEntry): AgentError {
  const next = bumpByClock(served, { id, revision: knownRevisionOf(manifest) ?? 0, several: true }, Date.now());
  return refused(
    `the notes of restores in the store cannot be read (${served.unread}), which say what the other members were restored with; try again, or pass --sha256=${manifest.content.sha256} and --bump-revision=${next} to all members`,
  );
}

/** The token is that of a cluster that has snapshots and that no restore made: it may still serve, and would accept the member. */
function sourceToken(
  clusterId: string | undefined,
  { name, initialClusterToken }: DataDirRequest,
  { id, several }: { readonly id: string; readonly several: boolean },
): AgentError {
  const instead = several
    ? `if it still serves, remove ${name} there and add it again; otherwise pass the same new token to all members`
    : 'pass a new token';
  return refused(
    `--initial-cluster-token: this token and these members are those of the cluster ${clusterId} that the snapshots come from; ${instead}, for example --initial-cluster-token=${nextToken(id, initialClusterToken)}`,
  );
}

/** The snapshot that all other members were restored from, if a restore accepts it. */
function siblingOf(notes: readonly RestoreNote[], entries: readonly Entry[]): Entry | undefined {
  const [id, ...more] = new Set(notes.map((note) => note.id));
  return entries.find(
    (each) => more.length === 0 && each.id === id && each.manifest && !each.problem && mayForce(each),
  );
}

/**
 * Refuses a member that was restored before: it may have voted since, and without its data a majority could lose
 * acknowledged writes.
 */
function refuseRestored(
  noteKeys: readonly string[],
  { clusterId, memberIds }: NonNullable<ReturnType<typeof idsOf>>,
  { name, repeat, initialClusterToken }: DataDirRequest,
  id: string,
): void {
  const memberId = memberIds.get(name);
  if (repeat === 'again' || memberId === undefined) return;
  if (!noteKeys.some((key) => isMemberNote(key, clusterId, memberId))) return;
  throw refused(
    `--name: ${name} was already restored as a member of the cluster ${clusterId}, and its data is not here; if that cluster serves, remove ${name} and add it again; otherwise pass the same new --initial-cluster-token to all members, for example ${nextToken(id, initialClusterToken)}; if it has never served, use --again to restore it once more`,
  );
}

const refused = (message: string) => new AgentError(ExitCode.refused, message);

/** Reads the data directory, and what earlier restores have left in it and in the directories that they have renamed. */
async function servedHere(dataDir: string): Promise<{ here: SeenRevision[]; own: OwnRestore[] }> {
  const names = (await unlessGone(readdir(dirname(dataDir)))) ?? [];
  const replaced = names.filter((name) => name.startsWith(`${basename(dataDir)}.replaced-`));
  const data = await dataRevision({ dataDir });
  const own: OwnRestore[] = [];
  for (const directory of [dataDir, ...replaced.map((name) => join(dirname(dataDir), name))]) {
    // `--again` replaces a marker that cannot be read.
    const marker = await readMarker(directory).catch(() => undefined);
    if (marker) own.push(...restoreOf(marker));
  }
  return { here: data ? [{ ...data, where: `the data in ${dataDir}` }] : [], own };
}

const restoreOf = ({ id, clusterId, revision, bumpRevision, initialClusterToken = '' }: Marker): OwnRestore[] =>
  clusterId === undefined || revision === undefined
    ? []
    : [{ id, clusterId, revision, bump: bumpRevision, token: initialClusterToken, hasServed: true }];
