import { hasBeyond, refuseBeyondLast } from '../../backup/payload/plausible-revision.ts';
import { firstRevision } from '../../backup/restore/first-revision.ts';
import { AgentError, ExitCode } from '../../lib/errors.ts';
import type { RestoreNote } from './noted-restores.ts';
import { everySeen, highestOf, type Seen, type Served, seenOf } from './served-revisions.ts';

const HOUR = 3_600_000;
/** A snapshot is dated by another machine. */
const SKEW = 300_000;
/** Restores that follow each other quickly run ahead of the clock by a step each. */
const AHEAD = 24 * HOUR;

export interface BumpRequest {
  readonly id: string;
  /** Revision of the snapshot. */
  readonly revision: number;
  /** Several nodes must have the same number. */
  readonly several: boolean;
  /** The number that a person has chosen. */
  readonly given?: number;
  /** Returns the token for a number. */
  readonly token: (bump: number) => string;
  /** Returns the id of the cluster that a number makes. */
  readonly clusterId: (bump: number) => string | undefined;
  /** A person will check the number and pass it to all nodes. */
  readonly isPlan?: boolean;
}

/**
 * Determines the number to add to the revision, so that it exceeds every revision ever served. A client that has seen a later
 * revision than etcd's keeps its stale cache, and its watches hang until etcd reaches that revision. `isNew`: no other node
 * knows the number yet.
 */
export function bumpOf(
  served: Served,
  request: BumpRequest,
  now = Date.now(),
): { readonly bump: number; readonly isNew: boolean } {
  const { id, revision, given, isPlan } = request;
  const fits = (bump: number) => revision + bump > highestOf(past(served, request, bump)).revision;
  if (given !== undefined) {
    refuseBeyondLast(id, revision, given);
    if (!fits(given)) throw tooLow(served, request, given, now);
    return { bump: given, isNew: false };
  }
  const begun = isPlan ? [] : begunBy(request, served);
  const joined = begun.flatMap(({ bump }) => bump ?? []).find(fits);
  if (joined !== undefined) return { bump: joined, isNew: false };
  const bump = bumpByClock(served, request, now);
  refuseBeyondLast(id, revision, bump);
  return { bump, isNew: true };
}

/** The number for a new restore. */
export function bumpByClock(
  served: Served,
  { id, revision, several }: Pick<BumpRequest, 'id' | 'revision' | 'several'>,
  now: number,
): number {
  const { newest } = served;
  const highest = highestOf([...everySeen(served), { revision, where: id }]);
  const bump = firstRevision(highest.revision, Math.max(now, newest?.time ?? 0)) - revision;
  const ahead =
    newest && newest.time > now + SKEW
      ? `${newest.id} was taken at ${timeOf(newest.time)}`
      : highest.revision > (now + AHEAD) * 1000 &&
        `${highest.where} has the revision ${highest.revision}, which a restore at ${timeOf(highest.revision / 1000)} would begin at`;
  if (!ahead) return bump;
  throw new AgentError(ExitCode.refused, `the clock of this machine says ${timeOf(now)}, but ${ahead}; set the clock`, {
    finding: { kind: 'wrongClock', several, bump },
  });
}

const timeOf = (ms: number): string => new Date(ms).toISOString();

/** What a restore with this number must exceed. The cluster that it makes does not count while the restore is in progress. */
function past(served: Served, request: BumpRequest, bump: number): Seen[] {
  const isOwn = (each: RestoreNote) => each.bump === bump && isInProgress(each, request, served);
  const noted = [...served.notes, ...served.own];
  const clusterId = noted.some(isOwn) ? request.clusterId(bump) : undefined;
  const seen = [...served.inStore, ...served.here].filter(
    (each) => clusterId === undefined || each.clusterId !== clusterId,
  );
  return [...seen, ...seenOf(noted.filter((each) => !isOwn(each)))].filter(({ revision }) => hasBeyond(revision));
}

/** The restores to join. Of several nodes, each must find the same ones; a single node continues what it has prepared. */
const begunBy = (request: BumpRequest, served: Served): readonly RestoreNote[] =>
  request.several
    ? served.notes.filter(
        (note) =>
          isInProgress(note, request, served) && (isRecent(note) || isServing(request.clusterId(note.bump!), served)),
      )
    : served.own.filter((each) => each.isPrepared && isInProgress(each, request, served));

const isRecent = ({ at }: RestoreNote): boolean => at !== undefined && Math.abs(Date.now() - Date.parse(at)) < HOUR;

const isServing = (clusterId: string | undefined, { here }: Served): boolean =>
  here.some((each) => each.hasQuorum && each.clusterId === clusterId);

/**
 * Returns true if the note belongs to the restore in progress: another node noted it, or a killed or undone run on this node.
 * A restore that has served may be joined only while it has a quorum and all the data that it ever had. Otherwise the new
 * member would serve the same revisions again with other data.
 */
function isInProgress(
  note: RestoreNote,
  { id, several, token, clusterId: idOf }: BumpRequest,
  served: Served,
): boolean {
  const { bump, revision = 0 } = note;
  if (note.id !== id || bump === undefined || note.token !== token(bump)) return false;
  const clusterId = idOf(bump);
  const highest = (seen: readonly Seen[]) => highestOf(seen.filter((each) => each.clusterId === clusterId)).revision;
  const [stored, found] = [highest(served.inStore), highest(served.here)];
  const mine = served.own.filter((each) => each.id === id && each.token === note.token);
  const hasServed = mine.some((each) => each.hasServed);
  if (several && !hasServed && isServing(clusterId, served)) return found >= stored;
  if (mine.length > 0 ? hasServed : !several || !isRecent(note)) return false;
  return Math.max(stored, found) <= revision;
}

function tooLow(served: Served, request: BumpRequest, given: number, now: number): AgentError {
  const { id, revision, several } = request;
  const { where, revision: highest } = highestOf(past(served, request, given));
  const next = firstRevision(Math.max(highest, highestOf(everySeen(served)).revision), now) - revision;
  return new AgentError(
    ExitCode.refused,
    `${given} moves the revision of ${id} from ${revision} to ${revision + given}, but ${where} reached ${highest}: clients would not see changes`,
    { at: 'bumpRevision', finding: { kind: 'lowBump', several, bump: next } },
  );
}
