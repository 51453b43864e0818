import { refuseBeyondLast } from '../../backup/payload/plausible-revision.ts';
import { BUMP_STEP, bumpBeyond } from '../../backup/restore/bump-beyond.ts';
import { AgentError, ExitCode } from '../../lib/errors.ts';
import { highestOf, type RestoreNote, type Seen, type Served } from './served-revisions.ts';

export interface BumpRequest {
  readonly id: string;
  /** Revision of the snapshot. */
  readonly revision: number;
  /** Several nodes must find the same number independently. Only the store gives all of them the same facts. */
  readonly several: boolean;
  /** Value of `--bump-revision`. */
  readonly given?: number;
  /** Returns the token for a number. */
  readonly token: (bump: number) => string;
  /** A person will check the number and pass it to all nodes. */
  readonly isPlan?: boolean;
}

/**
 * Determines the number to add to the revision, so that it exceeds every revision ever served. A client that has seen a later
 * revision than etcd's keeps its stale cache, and its watches hang until etcd reaches that revision.
 */
export function bumpOf(served: Served, request: BumpRequest): number {
  const bump = chosenBump(served, request);
  refuseBeyondLast(request.id, request.revision, bump);
  return bump;
}

function chosenBump(served: Served, request: BumpRequest): number {
  const { revision, several, given, isPlan } = request;
  const underWay = served.notes.filter((note) => isInProgress(note, request, served));
  const seenAt = (bump: number) => {
    const same = underWay.filter((note) => note.bump === bump).map(({ clusterId }) => clusterId);
    const notes = served.notes.filter((note) => !same.includes(note.clusterId));
    return [...served.inStore, ...seenOf(notes)].filter(({ clusterId }) => !same.includes(clusterId ?? ''));
  };
  const all = (bump: number) =>
    highestOf([...seenAt(bump), ...served.here.filter((seen) => !isOf(underWay, seen, bump))]);
  const fits = (bump: number) => revision + bump > all(bump).revision;
  // Local data that are ahead of every known revision are the data that served last.
  const past = served.notes.filter((note) => !underWay.includes(note));
  const head = Math.max(revision, highestOf([...served.inStore, ...seenOf(past)]).revision);
  const isAhead = served.here.some((seen) => seen.revision >= head && !seen.isFresh);
  const next = bumpBeyond(highestServed(served).revision, revision);
  if (given !== undefined) {
    const hasRoom = isAhead || revision + given >= all(given).revision + BUMP_STEP / 2;
    if (fits(given) && (hasRoom || underWay.some(({ bump }) => bump === given))) return given;
    const { where, revision: highest } = all(given);
    throw tooLow(
      served,
      `--bump-revision=${given} moves the revision of ${request.id} from ${revision} to ${revision + given}`,
      `${where} reached ${highest}${fits(given) ? ', and nothing shows how far it got after that' : ''}`,
      next,
      request,
    );
  }
  if (isPlan) return next;
  const asks = new Set([...served.mustAsk, ...(isAhead ? [] : served.unknown)]);
  if (asks.size > 0) throw unknown(served, [...asks], next, request);
  const joined = underWay.map(({ bump }) => bump).find((bump) => bump !== undefined && fits(bump));
  if (joined !== undefined) return joined;
  if (!several) return next;
  const byStore = bumpBeyond(highestOf(seenAt(0)).revision, revision);
  if (fits(byStore)) return byStore;
  const { where, revision: highest } = all(byStore);
  throw tooLow(
    served,
    `based on the store alone, ${request.id} would begin at revision ${revision + byStore}`,
    `${where} reached ${highest}`,
    next,
    request,
  );
}

/**
 * Returns true if the note belongs to the restore in progress: another node noted it, or a killed or undone run on this node.
 * A restore that has served may be joined only while it has a quorum and all the data that it ever had. Otherwise the new
 * member would serve the same revisions again with other data.
 */
function isInProgress(note: RestoreNote, { id, several, token }: BumpRequest, { inStore, here }: Served): boolean {
  const { bump, part, isRecent, isAlive, clusterId, revision = 0 } = note;
  if (note.id !== id || bump === undefined || note.token !== token(bump)) return false;
  const ofCluster = (seen: readonly Seen[]) => highestOf(seen.filter((each) => each.clusterId === clusterId)).revision;
  if (several && part === 'none' && isAlive) return ofCluster(here) >= ofCluster(inStore);
  const mayBegin = part === 'begun' || (several && part === 'none' && isRecent);
  return mayBegin && Math.max(ofCluster(inStore), ofCluster(here)) <= revision;
}

const isOf = (notes: readonly RestoreNote[], { clusterId }: Seen, bump: number): boolean =>
  notes.some((note) => note.bump === bump && note.clusterId === clusterId);

/** The revisions at which restored clusters began. */
export const seenOf = (notes: readonly RestoreNote[]): Seen[] =>
  notes.flatMap(({ id, clusterId, revision }) =>
    revision === undefined
      ? []
      : [{ revision, clusterId, where: `the cluster ${clusterId} that was restored from ${id}` }],
  );

/** The highest revision that is known to have been served, by the store and its notes, this node and the members. */
export const highestServed = ({ inStore, notes, here }: Served): Seen =>
  highestOf([...inStore, ...seenOf(notes), ...here]);

const flagFor = (several: boolean) => (several ? 'pass the same --bump-revision on all nodes' : 'pass --bump-revision');

/** Following the advice gives up what the others serve. */
const servesNow = ({ here, clusterIds }: Served, { revision }: BumpRequest): string => {
  const other = here.find(
    (seen) => seen.hasQuorum && !seen.isFresh && clusterIds.includes(seen.clusterId ?? '') && seen.revision >= revision,
  );
  return other ? ` (${other.where} serves with a quorum: see the finding of --plan first)` : '';
};

const tooLow = (served: Served, what: string, but: string, next: number, request: BumpRequest) =>
  new AgentError(
    ExitCode.refused,
    `${what}, but ${but}: clients would not see changes${servesNow(served, request)}; ${flagFor(request.several)}, for example ${next}`,
  );

const unknown = (served: Served, whats: readonly string[], next: number, request: BumpRequest) =>
  new AgentError(
    ExitCode.refused,
    `the highest revision that clients have seen is unknown: ${whats.join('; ')}${servesNow(served, request)}; ${flagFor(request.several)}, which added to the snapshot's revision ${request.revision} is above every revision that etcd ever served, for example ${next}`,
  );
