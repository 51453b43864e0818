import { hasBeyond, isPlausible, refuseBeyondLast } from '../../backup/payload/plausible-revision.ts';
import { BUMP_STEP, firstRevision } from '../../backup/restore/first-revision.ts';
import { AgentError, ExitCode } from '../../lib/errors.ts';
import type { Finding } from '../../lib/finding.ts';
import type { RestoreNote } from './noted-restores.ts';
import { everySeen, highestOf, type SeenRevision, type Served, seenOf } from './served-revisions.ts';

/** In ms. A snapshot is dated by another machine. */
const SKEW = 300_000;
/** In ms. Restores that follow each other quickly run ahead of the clock by a step each. */
const AHEAD = 86_400_000;

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
  const { id, revision, given } = request;
  const fits = (bump: number) => revision + bump > highestOf(past(served, request, bump)).revision;
  if (given !== undefined) {
    refuseBeyondLast(id, revision, given);
    if (!fits(given)) throw tooLow(served, request, given, now);
    return { bump: given, isNew: false };
  }
  const joined = begunBy(request, served)
    .flatMap(({ bump }) => bump ?? [])
    .find(fits);
  if (joined === undefined) return { bump: bumpByClock(served, request, now), isNew: true };
  const seen = { revision: revision + joined, where: `the restore of ${id} that has begun` };
  if (isAhead(seen, now)) throw clockRefused(seen, request, joined, now);
  return { bump: joined, isNew: served.notes.every((note) => note.bump !== joined) };
}

/** The number for a new restore. */
export function bumpByClock(
  served: Served,
  request: Pick<BumpRequest, 'id' | 'revision' | 'several'>,
  now: number,
): number {
  const { id, revision } = request;
  const { newest } = served;
  const highest = highestOf([...everySeen(served), { revision, where: id }]);
  const bump = firstRevision(highest.revision, Math.max(now, newest?.time ?? 0)) - revision;
  if (newest && newest.time > now + SKEW) throw clockRefused(newest, request, bump, now);
  if (isAhead(highest, now)) throw clockRefused(highest, request, bump, now);
  return bump;
}

const isAhead = ({ revision }: Pick<SeenRevision, 'revision'>, now: number): boolean => revision > (now + AHEAD) * 1000;

/** What is known contradicts the clock. Where nothing could be believed beyond what is known, no number is named. */
function clockRefused(
  known: SeenRevision | NonNullable<Served['newest']>,
  { revision, several }: Pick<BumpRequest, 'revision' | 'several'>,
  bump: number,
  now: number,
): AgentError {
  const but =
    'time' in known
      ? `${known.id} was taken at ${timeOf(known.time)}`
      : `${known.where} has the revision ${known.revision}, which a restore at ${timeOf(known.revision / 1000)} would begin at`;
  const finding: Finding = {
    ...{ kind: 'wrongClock', several },
    bump: isPlausible(revision + bump + BUMP_STEP) ? bump : undefined,
  };
  return new AgentError(ExitCode.refused, `the clock of this machine says ${timeOf(now)}, but ${but}`, { finding });
}

const timeOf = (ms: number): string => new Date(ms).toISOString();

/** What a restore with this number must exceed. The cluster that it makes does not count while the restore is in progress. */
function past(served: Served, request: BumpRequest, bump: number): SeenRevision[] {
  const isOwn = (each: RestoreNote) => each.bump === bump && isInProgress(each, request, served);
  const noted = [...served.notes, ...served.own];
  const clusterId = noted.some(isOwn) ? request.clusterId(bump) : undefined;
  const seen = [...served.inStore, ...served.here].filter(
    (each) => clusterId === undefined || each.clusterId !== clusterId,
  );
  return [...seen, ...seenOf(noted.filter((each) => !isOwn(each)))].filter(({ revision }) => hasBeyond(revision));
}

/** The restores to join. Several nodes join what each of them can find, so not what could not be read of it. A node continues what it has prepared. */
function begunBy(request: BumpRequest, served: Served): readonly RestoreNote[] {
  if (request.several && served.unread !== undefined) return [];
  const noted = request.several ? served.notes : [];
  const prepared = served.own.filter((each) => each.isPrepared);
  return [...noted, ...prepared].filter((each) => isInProgress(each, request, served));
}

/**
 * Returns true if the note belongs to a restore that has not served yet: another node noted it, or a killed or undone run on this
 * node. One that has served may be joined only while it has a quorum and all the data that it ever had. Otherwise the new
 * member would serve the same revisions again with other data.
 */
function isInProgress(
  { id, bump, token, marksServing }: RestoreNote,
  request: BumpRequest,
  { inStore, here, own, marked = [] }: Served,
): boolean {
  if (id !== request.id || bump === undefined || token !== request.token(bump)) return false;
  const clusterId = request.clusterId(bump);
  const ofIt = <T extends { readonly clusterId?: string }>(all: readonly T[]) =>
    all.filter((each) => each.clusterId === clusterId);
  const mine = own.filter((each) => each.id === id && each.token === token);
  if (mine.some(({ hasServed }) => hasServed)) return false;
  const [stored, found] = [highestOf(ofIt(inStore)).revision, highestOf(ofIt(here)).revision];
  if (request.several && ofIt(here).some(({ hasQuorum }) => hasQuorum)) return found >= stored;
  if (mine.length === 0 && !(request.several && marksServing)) return false;
  return !marked.some((each) => each === clusterId) && Math.max(stored, found) <= request.revision + bump;
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
