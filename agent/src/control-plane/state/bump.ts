import { BUMP_STEP, bumpBeyond } from '../../backup/restore/bump-beyond.ts';
import { AgentError, ExitCode } from '../../lib/errors.ts';
import { highestOf, type RestoreNote, type Seen, type Served } from './served.ts';

export interface BumpRequest {
  readonly id: string;
  /** Of the snapshot. */
  readonly revision: number;
  /** Several nodes have to come to the same number, each by itself: only what the store says is the same for all. */
  readonly several: boolean;
  /** `--bump-revision`. */
  readonly given?: number;
  /** The token that goes with a number. */
  readonly token: (bump: number) => string;
  /** A person reads the number before it is used, and gives it to all nodes. */
  readonly isPlan?: boolean;
}

/**
 * How far the revision jumps: beyond all that was ever served. A client that has seen a later revision than etcd has keeps
 * what it knows, and its watches hang until etcd comes to that revision.
 */
export function bumpOf(served: Served, request: BumpRequest): number {
  const { revision, several, given, isPlan } = request;
  const underWay = served.notes.filter((note) => isUnderWay(note, request, served));
  const seenAt = (bump: number) => {
    const same = underWay.filter((note) => note.bump === bump).map(({ clusterId }) => clusterId);
    const notes = served.notes.filter((note) => !same.includes(note.clusterId));
    return [...served.inStore, ...seenOf(notes)].filter(({ clusterId }) => !same.includes(clusterId ?? ''));
  };
  const all = (bump: number) =>
    highestOf([...seenAt(bump), ...served.here.filter((seen) => !isOf(underWay, seen, bump))]);
  const fits = (bump: number) => revision + bump > all(bump).revision;
  // Data that came farther than all that is known are those that served last.
  const past = served.notes.filter((note) => !underWay.includes(note));
  const head = Math.max(revision, highestOf([...served.inStore, ...seenOf(past)]).revision);
  const isAhead = served.here.some((seen) => seen.revision >= head && !seen.isFresh);
  const next = bumpBeyond(all(0).revision, revision);
  if (given !== undefined) {
    const hasRoom = isAhead || revision + given >= all(given).revision + BUMP_STEP / 2;
    if (fits(given) && (hasRoom || underWay.some(({ bump }) => bump === given))) return given;
    const { where, revision: highest } = all(given);
    throw tooLow(
      `--bump-revision=${given} makes ${revision + given} of the revision ${revision} of ${request.id}`,
      `${where} came to ${highest}${fits(given) ? ', and nothing shows how far it came since' : ''}`,
      next,
      several,
    );
  }
  if (isPlan) return next;
  if (served.unknown.length > 0 && !isAhead) throw unknown(served.unknown, next, several);
  const joined = underWay.map(({ bump }) => bump).find((bump) => bump !== undefined && fits(bump));
  if (joined !== undefined) return joined;
  if (!several) return next;
  const byStore = bumpBeyond(highestOf(seenAt(0)).revision, revision);
  if (fits(byStore)) return byStore;
  const { where, revision: highest } = all(byStore);
  throw tooLow(
    `the store alone lets ${request.id} begin at ${revision + byStore}`,
    `${where} came to ${highest}`,
    next,
    several,
  );
}

/**
 * Another node of this restore has noted it, or a run before on this node that was killed, or undone. One that has served
 * is joined only while it has its quorum, and all that it ever had: what a member makes anew would serve the same again.
 */
function isUnderWay(note: RestoreNote, { id, several, token }: BumpRequest, { inStore, here }: Served): boolean {
  const { bump, part, isRecent, isAlive, clusterId, revision = 0 } = note;
  if (note.id !== id || bump === undefined || note.token !== token(bump)) return false;
  const ofCluster = (seen: readonly Seen[]) => highestOf(seen.filter((each) => each.clusterId === clusterId)).revision;
  if (several && part === 'none' && isAlive) return ofCluster(here) >= ofCluster(inStore);
  const mayBegin = part === 'begun' || (several && part === 'none' && isRecent);
  return mayBegin && Math.max(ofCluster(inStore), ofCluster(here)) <= revision;
}

const isOf = (notes: readonly RestoreNote[], { clusterId }: Seen, bump: number): boolean =>
  notes.some((note) => note.bump === bump && note.clusterId === clusterId);

const seenOf = (notes: readonly RestoreNote[]): Seen[] =>
  notes.flatMap(({ id, clusterId, revision }) =>
    revision === undefined
      ? []
      : [{ revision, clusterId, where: `the cluster ${clusterId} that was restored from ${id}` }],
  );

const flagFor = (several: boolean) => (several ? 'give all nodes the same --bump-revision' : 'give --bump-revision');

const tooLow = (what: string, but: string, next: number, several: boolean) =>
  new AgentError(
    ExitCode.refused,
    `${what}, but ${but}: clients would not see what changes; ${flagFor(several)}, such as ${next}`,
  );

const unknown = (whats: readonly string[], next: number, several: boolean) =>
  new AgentError(
    ExitCode.refused,
    `the revision that clients have seen is not known: ${whats.join('; ')}; ${flagFor(several)}, beyond all that etcd ever served, such as ${next}`,
  );
