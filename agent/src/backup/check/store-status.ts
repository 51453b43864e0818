import { AgentError, ExitCode, remarkOf } from '../../lib/errors.ts';
import type { Finding } from '../../lib/finding.ts';
import type { Sample } from '../../lib/metrics/sample.ts';
import { formatAge } from '../../lib/terminal/format-age.ts';
import { formatBytes } from '../../lib/terminal/progress.ts';
import { clockOf } from '../../store/clock.ts';
import { storedAt } from '../catalog/candidate.ts';
import { type Entry, isLost, isYoung, readCatalog, silentText } from '../catalog/catalog.ts';
import type { Folder } from '../catalog/folder.ts';
import { isOf, type WantedSnapshots } from '../catalog/identity/identity.ts';
import { restoredFromIt } from '../catalog/identity/lineage.ts';
import { isOlder, isUndated, type PassedOver, passedOver, passedOverNote, timeOf } from '../catalog/passed-over.ts';
import { remedyOf } from '../catalog/remedy.ts';
import { laterOf, newestVerified, noneVerified, refusalOf, sureNewest } from '../catalog/select.ts';
import { storeSamples } from '../metrics/samples.ts';
import { clockDifference } from '../retention/clock-difference.ts';

export interface StoreStatus {
  readonly store: string;
  readonly ok: boolean;
  readonly exitCode: ExitCode;
  /** The setting that is wrong. */
  readonly at?: string | undefined;
  /** One line. */
  readonly detail: string;
  /** What can be done about it. */
  readonly findings?: readonly Finding[];
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

export interface StatusRequest extends WantedSnapshots {
  readonly folder: Folder;
  /** Milliseconds. */
  readonly maxAge: number | undefined;
}

/** Reports the age of the newest verified snapshot, by the later of our clock and the store's. */
export async function storeStatus(request: StatusRequest): Promise<StoreStatus> {
  const { folder, maxAge } = request;
  const { store, signal } = folder;
  const listing = await folder.list();
  const listed = await readCatalog(folder, { listing });
  const ours = new Date();
  const theirs = await clockOf(store, { signal });
  // The store has dated its objects itself.
  const now = theirs ?? ours;
  const dating = laterOf(ours, theirs);
  const without = listing.withoutManifest(now);
  const { entries, found } = await sureNewest(folder, listed, (all) =>
    newestVerified(all, request, store.url, { now: dating }),
  );
  const { newest, future } = found;
  const unread = unreadAmong(entries, request, newest);
  const refusal = newest && refusalOf(newest, found, request, store.url);
  const common = {
    store: store.url,
    clockSeconds: theirs && Math.round((theirs.getTime() - ours.getTime()) / 1000),
    unread,
    metrics: storeSamples(request, store.url, refusal === undefined ? found : { own: found.own }),
  };
  const difference = theirs && clockDifference(theirs, ours);
  const clock = difference === undefined ? '' : `; ${difference}`;
  if (!newest?.manifest) {
    const all = [...entries, ...without.filter(isLost), ...without.filter(isYoung)];
    const remedy = (entry: Entry) =>
      entry.state === 'writing' ? undefined : remedyOf(entry, request, { now, entries });
    const error = noneVerified(found, all, request, store.url, remedy);
    const findings = [error.finding, restoredOf(entries, request)];
    return { ...common, ok: false, exitCode: error.exitCode, ...detailed(`${error.message}${clock}`, findings) };
  }
  if (refusal)
    return {
      ...common,
      ...{ ok: false, exitCode: refusal.exitCode },
      ...detailed(`${refusal.message}${clock}`, [refusal.finding]),
    };
  const { id, createdAt, content } = newest.manifest;
  const age = Math.max(0, dating.getTime() - Date.parse(createdAt));
  const tooOld = maxAge !== undefined && age > maxAge;
  const all = [...entries, ...without.filter(isLost)];
  const passed = passedOver(all, newest, request);
  const passedNewest = all.find(({ id: one }) => one === passed.find((each) => !isOlder(each))?.id);
  const restored = tooOld ? restoredOf(entries, request) : undefined;
  const noted = new Set(passed.map((each) => each.id));
  const older = silentText(entries.filter((entry) => !noted.has(entry.id)));
  const facts = `${id}, ${formatBytes(content.sizeBytes)}, ${formatAge(age)} old`;
  return {
    ...common,
    ok: !tooOld,
    exitCode: tooOld ? ExitCode.nothingThere : ExitCode.done,
    ...detailed(
      [
        `${store.url}: ${tooOld ? 'too old: ' : ''}${facts}`,
        ...(tooOld ? [`, the limit is ${formatAge(maxAge)}`] : []),
        ...(future.length > 0
          ? [`; ${future.length} dated in the future ${future.length === 1 ? 'does' : 'do'} not count`]
          : []),
        passed.length > 0 ? `; ${passedOverNote(passed)}` : '',
        older ? `; not counted: ${older}` : '',
        tooOld && !restored && passed.every(isOlder) ? STALE : '',
        clock,
      ].join(''),
      [passedNewest && remedyOf(passedNewest, request, { now, entries }), restored],
    ),
    id,
    createdAt,
    ageSeconds: Math.round(age / 1000),
    sizeBytes: content.sizeBytes,
    passedOver: passed.length > 0 ? passed : undefined,
  };
}

/** Nothing is known of these snapshots but that they exist, so they may be newer verified ones. */
function unreadAmong(
  entries: readonly Entry[],
  wanted: WantedSnapshots,
  newest: Entry | undefined,
): string | undefined {
  const mayBeNewer = (entry: Entry) => {
    if (newest === undefined) return true;
    if (!isUndated(entry)) return timeOf(entry) >= timeOf(newest);
    // One in cold storage stays unreadable, and must not hide for good that newer ones are good.
    return entry.state === 'unreachable' || storedAt(entry) > firstStoredAt(newest);
  };
  const one = entries.find(
    (entry) =>
      ['newer', 'refused', 'unreachable'].includes(entry.state) &&
      (!entry.manifest || isOf(wanted, entry)) &&
      mayBeNewer(entry),
  );
  return one && `${one.id}: ${one.problem}`;
}

const firstStoredAt = ({ objects }: Entry): number => Math.min(...objects.map(({ modified }) => modified.getTime()));

const STALE = '; take a backup, and find out in the log of the last run why there is no newer one';

const detailed = (detail: string, findings: readonly (Finding | undefined)[]) => ({
  detail,
  findings: findings.filter((each) => each !== undefined),
});

/** The etcd that is asked for was restored. Snapshots of the restored one do not count for it. */
function restoredOf(entries: readonly Entry[], { clusterId, ...named }: StatusRequest): Finding | undefined {
  if (clusterId === undefined) return undefined;
  const own = entries.filter((entry) => isOf(named, entry));
  const [newest] = restoredFromIt(own, clusterId);
  return newest === undefined ? undefined : { kind: 'restoredAs', clusterId, newest };
}

/** Status of a store that could not be read. */
export function failedStatus(store: string, error: unknown): StoreStatus {
  const exitCode = error instanceof AgentError ? error.exitCode : ExitCode.unexpected;
  const { message, at, finding } = remarkOf(error);
  return { store, ok: false, exitCode, at, detail: message, findings: finding ? [finding] : [], metrics: [] };
}
