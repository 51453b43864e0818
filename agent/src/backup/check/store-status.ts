import { AgentError, ExitCode, messageOf } from '../../lib/errors.ts';
import type { Sample } from '../../lib/metrics/sample.ts';
import { formatAge } from '../../lib/terminal/format-age.ts';
import { formatBytes } from '../../lib/terminal/progress.ts';
import { clockOf } from '../../store/clock.ts';
import type { CallOptions, Store } from '../../store/store.ts';
import { storedAt } from '../catalog/candidate.ts';
import { type Entry, isMarkedTaking, lostManifests, readCatalog, unfinished } from '../catalog/catalog.ts';
import { folderOf } from '../catalog/identity/folder.ts';
import { isOf, type Wanted } from '../catalog/identity/identity.ts';
import { restoredFromIt } from '../catalog/identity/lineage.ts';
import { listNames } from '../catalog/names.ts';
import { isOlder, isUndated, type PassedOver, passedOver, passedOverNote, timeOf } from '../catalog/passed-over.ts';
import { laterOf, newestVerified, noneVerified, unsureText, type WayOut } from '../catalog/select.ts';
import { silentAmong, silentText } from '../catalog/silence.ts';
import { storeSamples } from '../metrics/samples.ts';
import { clockDifference } from '../retention/clock-difference.ts';

export interface StoreStatus {
  readonly store: string;
  readonly ok: boolean;
  readonly exitCode: ExitCode;
  /** One line. */
  readonly detail: string;
  readonly id?: string;
  /** Time at which the newest verified snapshot was taken. */
  readonly createdAt?: string;
  readonly ageSeconds?: number;
  readonly sizeBytes?: number;
  /** Newer snapshots that do not count, newest first; before them, an older one with a higher revision. */
  readonly passedOver?: readonly PassedOver[];
  /** Seconds that the store's clock is ahead of ours. */
  readonly clockSeconds?: number;
  /** Problem of a snapshot that cannot be read, and that may be newer and verified. */
  readonly unread?: string;
  readonly metrics: readonly Sample[];
}

export interface StatusRequest extends Wanted {
  readonly store: Store;
  /** Milliseconds. */
  readonly maxAge: number | undefined;
  readonly wayOut?: WayOut;
}

/** Reports the age of the newest verified snapshot, by the later of our clock and the store's. */
export async function storeStatus(request: StatusRequest, options: CallOptions): Promise<StoreStatus> {
  const { store, maxAge } = request;
  const folder = folderOf(request);
  const names = await listNames(store, folder, options);
  const entries = await readCatalog(store, folder, { ...options, names });
  const ours = new Date();
  const theirs = await clockOf(store, options);
  // The store has dated its objects itself.
  const now = theirs ?? ours;
  const dating = laterOf(ours, theirs);
  const found = newestVerified(entries, request, store.url, { now: dating });
  const { newest, future } = found;
  const unread = unreadAmong(entries, request, newest);
  const unsure = newest && unsureText(newest, found.unsure, store.url);
  const common = {
    store: store.url,
    ...(theirs && { clockSeconds: Math.round((theirs.getTime() - ours.getTime()) / 1000) }),
    ...(unread !== undefined && { unread }),
    metrics: storeSamples(request, store.url, unsure === undefined ? found : { own: found.own }),
  };
  const difference = theirs && clockDifference(theirs, ours);
  const clock = difference === undefined ? '' : `; ${difference}`;
  if (!newest?.manifest) {
    const young = unfinished(folder, names, now);
    const all = [...entries, ...lostManifests(folder, names, now), ...young];
    const isRunning = (entry: Entry) => young.includes(entry) && isMarkedTaking(entry);
    const wayOut = (entry: Entry) => (isRunning(entry) ? '' : (request.wayOut?.(entry, { now, entries }) ?? ''));
    const { exitCode, message } = noneVerified(found, all, request, store.url, wayOut);
    return { ...common, ok: false, exitCode, detail: `${message}${restoredText(entries, request)}${clock}` };
  }
  if (unsure !== undefined) return { ...common, ok: false, exitCode: ExitCode.refused, detail: `${unsure}${clock}` };
  const { id, createdAt, content } = newest.manifest;
  const age = Math.max(0, dating.getTime() - Date.parse(createdAt));
  const tooOld = maxAge !== undefined && age > maxAge;
  const all = [...entries, ...lostManifests(folder, names, now)];
  const passed = passedOver(all, newest, request);
  const wayOut = (id: string) => {
    const entry = all.find((each) => each.id === id);
    return (entry && request.wayOut?.(entry, { now, entries })) ?? '';
  };
  const noted = new Set(passed.map((each) => each.id));
  const older = silentText(silentAmong(entries).filter((entry) => !noted.has(entry.id)));
  const facts = `${id}, ${formatBytes(content.sizeBytes)}, ${formatAge(age)} old`;
  return {
    ...common,
    ok: !tooOld,
    exitCode: tooOld ? ExitCode.nothingThere : ExitCode.done,
    detail: [
      `${store.url}: ${tooOld ? 'too old: ' : ''}${facts}`,
      ...(tooOld ? [`, the limit is ${formatAge(maxAge)}`] : []),
      ...(future.length > 0
        ? [`; ${future.length} dated in the future ${future.length === 1 ? 'does' : 'do'} not count`]
        : []),
      passed.length > 0 ? `; ${passedOverNote(passed, wayOut)}` : '',
      older ? `; not counted: ${older}` : '',
      tooOld ? staleText(entries, request, passed) : '',
      clock,
    ].join(''),
    id,
    createdAt,
    ageSeconds: Math.round(age / 1000),
    sizeBytes: content.sizeBytes,
    ...(passed.length > 0 && { passedOver: passed }),
  };
}

/** Nothing is known of these snapshots but that they exist, so they may be newer verified ones. */
function unreadAmong(entries: readonly Entry[], wanted: Wanted, newest: Entry | undefined): string | undefined {
  const mayBeNewer = (entry: Entry) => {
    if (newest === undefined) return true;
    if (!isUndated(entry)) return timeOf(entry) >= timeOf(newest);
    // One in cold storage stays unreadable, and must not hide for good that newer ones are good.
    return entry.unread === 'unreachable' || storedAt(entry) > firstStoredAt(newest);
  };
  const one = entries.find(
    (entry) =>
      ['newer', 'refused', 'unreachable'].includes(entry.unread ?? '') &&
      (!entry.manifest || isOf(wanted, entry)) &&
      mayBeNewer(entry),
  );
  return one && `${one.id}: ${one.problem}`;
}

const firstStoredAt = ({ objects }: Entry): number => Math.min(...objects.map(({ modified }) => modified.getTime()));

/** Says what to do if no snapshot is new enough. */
const staleText = (entries: readonly Entry[], request: StatusRequest, passed: readonly PassedOver[]): string =>
  restoredText(entries, request) ||
  (passed.every(isOlder) ? '; take a backup, and find out in the log of the last run why there is no newer one' : '');

/** Says that the etcd of `--cluster-id` was restored. Snapshots of the restored one do not count for it. */
function restoredText(entries: readonly Entry[], { clusterId, ...named }: StatusRequest): string {
  if (clusterId === undefined) return '';
  const own = entries.filter((entry) => isOf(named, entry));
  const [newest] = restoredFromIt(own, clusterId);
  if (newest === undefined) return '';
  return `; ${clusterId} was restored as ${newest}, whose snapshots do not count here: if that etcd is the one that runs now, pass --cluster-id=${newest}`;
}

/** Status of a store that could not be read. */
export function failedStatus(store: string, error: unknown): StoreStatus {
  const exitCode = error instanceof AgentError ? error.exitCode : ExitCode.unexpected;
  return { store, ok: false, exitCode, detail: messageOf(error), metrics: [] };
}
