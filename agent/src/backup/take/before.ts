import { AgentError, ExitCode, remarkOf } from '../../lib/errors.ts';
import type { Remark } from '../../lib/finding.ts';
import { above } from '../../store/place.ts';
import type { StoreSpec } from '../../store/spec.ts';
import { candidatesOf } from '../catalog/candidate.ts';
import { type Entry, readCatalog, silentText } from '../catalog/catalog.ts';
import { Listing } from '../catalog/folder.ts';
import { familyOf } from '../catalog/identity/family.ts';
import { folderOf, type NamedCluster } from '../catalog/identity/folder.ts';
import { isOf, otherEtcdAmong } from '../catalog/identity/identity.ts';
import { lineageOf } from '../catalog/identity/lineage.ts';
import { tooDeepAmong } from '../catalog/identity/misplaced.ts';
import { fallText, higherBefore, type ReachedRevision } from '../catalog/revision-fall.ts';
import { clockDifference } from '../retention/clock-difference.ts';
import { sameEtcdSpan } from '../retention/superseded.ts';
import { sweep } from '../retention/sweep.ts';
import { refuseTaken } from './export.ts';
import type { BackupTarget, Origin, StoreRequest } from './request.ts';
import type { TargetRun } from './target-run.ts';

const UNKNOWN = 'unknown';

/** Reads what a store has, and removes leftovers of dead runs. A backup does not need the right to list. */
export async function readBefore(run: TargetRun, request: StoreRequest): Promise<void> {
  const { folder, warn } = run;
  const { store } = folder;
  const listed = await listOrWarn(run, request);
  const listing = listed ?? new Listing(folder.path);
  const keepIndex = (error: unknown) => {
    const { message, finding } = remarkOf(error);
    warn(`the index of the snapshots could not be written: ${message}`, finding);
  };
  const entries = await readCatalog(folder, { listing, keepIndex, mayLackAll: true });
  await refuseTaken(folder, request);
  const silent = silentText(entries);
  if (silent) warn(`${silent}; the backup goes on without it`);
  let now = Date.now();
  const onClock = (theirs: Date) => {
    now = theirs.getTime();
    const warning = wrongDateWarning(theirs);
    if (warning) warn(warning);
  };
  const { swept, waiting } = await sweep(folder, request.sweepAge, entries, { warn, listing, onClock });
  if (swept.length > 0) run.context.log.info({ store: store.url, swept }, 'removed leftovers of dead runs');
  const gone = new Set(swept);
  const ids = [...listing.groups].filter(([, objects]) => objects.some(({ key }) => !gone.has(key))).map(([id]) => id);
  const isUnderWay = listing.isAnyUnderWay(now - request.sweepAge);
  run.before = { entries, ids, isUnderWay, isListed: listed !== undefined, waiting };
}

/** What this run cannot see, it neither sweeps nor compares with. */
async function listOrWarn(run: TargetRun, { fileName }: StoreRequest): Promise<Listing | undefined> {
  try {
    return await run.list();
  } catch (error) {
    if (!(error instanceof AgentError) || error.exitCode !== ExitCode.storeRefused || fileName) throw error;
    run.warn(
      `${error.message}; the backup goes on, without a look at the snapshots of before: leftovers stay, and retention deletes nothing; allow these credentials to list`,
    );
    return undefined;
  }
}

/** Returns a warning for a backup that may get a wrong date, because the store's clock differs from ours. */
function wrongDateWarning(theirs: Date): string | undefined {
  const ours = new Date();
  const difference = clockDifference(theirs, ours);
  if (difference === undefined) return undefined;
  const early = 'is dated too early, so that earlier ones may count as newer';
  const late = 'is dated in the future, and does not count as the newest until then';
  const what = theirs > ours ? early : late;
  return `${difference}; if ours is wrong, this snapshot ${what}; set the clock of this machine, and take another backup; until both clocks agree, leftovers of dead runs stay`;
}

/**
 * Warns of what the snapshots in the stores say against this backup, and notes what the rest of the run needs of them. Returns the
 * etcd clusters that this one was restored from. Not a part of the run itself: while that waits, V8 keeps whatever its variables
 * once led to.
 */
export function judgeBefore(runs: readonly TargetRun[], request: StoreRequest, origin: Origin): string[] {
  const { source, hashKV, revision } = origin;
  const { clusterId } = source;
  const known = runs.flatMap(({ before }) => before?.entries ?? []);
  const lineage = lineageOf(known, clusterId, request.restoredFrom);
  const taken = { clusterId, lineage, at: new Date() };
  for (const run of runs) {
    const { entries, isListed, isUnderWay, waiting } = run.before ?? {};
    if (!entries) continue;
    for (const { message, finding } of warningsFor(entries, run.target, request, origin, lineage))
      run.warn(message, finding);
    run.past = {
      waiting,
      family: familyOf(known, taken, isListed === true),
      span: sameEtcdSpan({ source, content: { hashKV, revision } }, entries, folderOf(request), isUnderWay === true),
    };
  }
  return lineage;
}

/**
 * Returns a warning for a backup of an etcd into a folder that has snapshots of another one, unless restores connect the two.
 * `lineage`: the etcd clusters that it was restored from.
 */
function otherEtcdWarning(
  entries: readonly Entry[],
  named: NamedCluster,
  clusterId: string,
  lineage: readonly string[],
): Remark | undefined {
  if (clusterId === UNKNOWN) return undefined;
  const newest = otherEtcdAmong(entries, named, [clusterId, ...lineage]);
  if (!newest) return undefined;
  const other = newest.manifest!.source.clusterId;
  return {
    message: `${folderOf(named)} has snapshots of another etcd (cluster id ${other}, newest ${newest.id}), and this one has the cluster id ${clusterId}`,
    finding: { kind: 'otherEtcd', clusterId: other },
  };
}

/** Returns a warning for a backup that is not encrypted, in a folder that has encrypted snapshots of the agent. */
function plaintextWarning(
  entries: readonly Entry[],
  named: NamedCluster,
  recipients: readonly string[],
): Remark | undefined {
  if (recipients.length > 0) return undefined;
  // Of a file that was adopted, the recipients are not known.
  const encrypted = entries.find((entry) => isOf(named, entry) && entry.manifest?.object.encryption?.recipients.length);
  if (!encrypted) return undefined;
  return {
    message: `this backup is not encrypted, but ${folderOf(named)} has encrypted snapshots, such as ${encrypted.id}`,
    finding: { kind: 'plaintext' },
  };
}

/** Returns a warning for a backup of an etcd that had a higher revision before, under the same cluster id. */
function fallWarning(entries: readonly Entry[], named: NamedCluster, now: ReachedRevision): Remark | undefined {
  const own = entries.filter((entry) => isOf(named, entry));
  const before = higherBefore(candidatesOf(own), now);
  return before && { message: fallText(before, now, ' now') };
}

/** Returns a warning for a backup into a store that begins inside the folder of a cluster, by the snapshots in its own folder. */
function tooDeepWarning(
  entries: readonly Entry[],
  named: NamedCluster,
  spec: StoreSpec | undefined,
): Remark | undefined {
  const misplaced = tooDeepAmong(entries, named);
  // If the path of the store does not lead there, they were copied by hand. That of a store of commands is not known.
  if (!misplaced || !spec || (!above(spec, misplaced.above!) && !spec.command)) return undefined;
  return {
    message: `the store ${misplaced.isGuess ? 'may begin' : 'begins'} inside the folder of a cluster`,
    finding: { kind: 'misplaced', misplaced },
  };
}

/** Returns what the snapshots in a store say against this backup. */
function warningsFor(
  entries: readonly Entry[],
  { spec }: Pick<BackupTarget, 'spec'>,
  request: StoreRequest,
  { source: { clusterId }, revision }: Origin,
  lineage: readonly string[],
): Remark[] {
  return [
    otherEtcdWarning(entries, request, clusterId, lineage),
    plaintextWarning(entries, request, request.recipients ?? []),
    tooDeepWarning(entries, request, spec),
    fallWarning(entries, request, { clusterId, revision, createdAt: new Date() }),
  ].filter((warning) => warning !== undefined);
}
