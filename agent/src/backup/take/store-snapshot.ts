import type { SnapshotStream } from '../../etcd/snapshot-stream.ts';
import { AgentError, ExitCode, remarkOf, type Warn } from '../../lib/errors.ts';
import { isTimeout } from '../../lib/limits/run-limit.ts';
import type { Log } from '../../lib/log.ts';
import { idleTimeoutFor } from '../../store/idle-timeout.ts';
import type { Store } from '../../store/store.ts';
import { type Entry, readCatalog, reservationKey, silentText, takingKey } from '../catalog/catalog.ts';
import { Folder, Listing } from '../catalog/folder.ts';
import { familyOf } from '../catalog/identity/family.ts';
import { folderOf } from '../catalog/identity/folder.ts';
import { lineageOf } from '../catalog/identity/lineage.ts';
import { MANIFEST_SCHEMA, type SnapshotManifest } from '../catalog/manifest.ts';
import { impatience } from '../catalog/silence.ts';
import { newSnapshotId } from '../catalog/snapshot-id.ts';
import { extensions } from '../payload/compression.ts';
import { ENCRYPTED } from '../payload/encryption.ts';
import { describeExtra, type PackedExtra, packExtra } from '../payload/extra.ts';
import { clockDifference } from '../retention/clock-difference.ts';
import { dated, sameEtcdSpan } from '../retention/superseded.ts';
import { sweep, sweepWaiting, type WaitingPayloads } from '../retention/sweep.ts';
import { commit } from './commit.ts';
import { discard, isAbsent } from './discard.ts';
import { findEarlierRun } from './earlier-run.ts';
import { besideKey, refuseExisting, sweepBeside } from './exact-key.ts';
import { formatFileName, freeFileName } from './file-name.ts';
import type { BackupOutcome, BackupTarget, List, Origin, RunContext, StoreRequest, WithOrigin } from './request.ts';
import { reserve, sweepReserved } from './reservation.ts';
import { warningsFor } from './same-etcd.ts';
import { markTaking, unmarkTaking } from './taking.ts';
import { checkRuns, type TargetRun, targetRuns } from './target-run.ts';
import { shareStream, type Uploaded } from './upload.ts';

/** Stores one snapshot in every target, independently of each other. Throws if no target has it in the end. */
export async function storeSnapshot(
  request: StoreRequest,
  context: RunContext,
  withOrigin: WithOrigin,
): Promise<BackupOutcome> {
  const startedAt = new Date();
  const extra = request.extra && (await packExtra(request.extra));
  context.progress.phase('sweep', 'reading the store');
  const listed = new Map<Store, Listing>();
  const list: List = async (store) => {
    const listing = listed.get(store) ?? (await new Folder(store, folderOf(request), context.signal).list());
    listed.set(store, listing);
    return listing;
  };
  const earlier =
    request.request === undefined ? undefined : await findEarlierRun(request, request.request, list, context);
  // Without --overwrite, its key stays that of the suspect snapshot.
  const keepsKey = request.key !== undefined && !request.overwrite;
  if (earlier && (keepsKey || !isSuspect(earlier.manifest))) return reused(earlier, context);
  const runs = targetRuns(request.targets, context);
  const each = async (work: (target: BackupTarget, context: RunContext) => Promise<void>) => {
    await Promise.all(runs.map((run) => run.attempt(work)));
    checkRuns(runs, context.signal);
  };
  const prepared = new Map<BackupTarget, Prepared>();
  await each(async (target, within) => void prepared.set(target, await prepare(target, request, list, within)));
  const taken = new Set(request.fileName ? [...prepared.values()].flatMap(({ ids }) => ids) : []);

  const store = async (origin: Origin) => {
    const { lineage, waiting, spans, families } = fromBefore(prepared, runs, request, origin);
    // Free the lists now: retention reads them again, and memory must not hold both.
    prepared.clear();
    listed.clear();
    const id = await nameSnapshot(request, runs, taken, startedAt);
    checkRuns(runs, context.signal);
    const key = payloadKey(request, id);
    // A payload that a killed run leaves must not look like one whose manifest was lost. Other runs see the marker before the
    // moment that the snapshot is dated at.
    if (!request.key && !request.fileName)
      await each(({ store: to }, { log, signal }) =>
        markTaking(to, folderOf(request), id, {
          ...{ signal, clusterId: origin.source.clusterId, warn: warnOf(log, to) },
        }),
      );
    const open = runs.filter(({ failure }) => !failure);

    context.progress.phase('stream', `snapshot of ${origin.source.endpoint}`);
    const release = async ({ target: { store: to }, committed, context: { log } }: TargetRun) => {
      const folder = folderOf(request);
      if (request.fileName) await discard(to, reservationKey(folder, id));
      else if (request.key) return;
      else if (committed) await unmarkTaking(to, folder, id, warnOf(log, to));
      // After a failure the store may have the payload.
      else if (await isAbsent(to, key)) await discard(to, takingKey(folder, id));
    };
    const stream = await origin.open().catch(async (error) => {
      await Promise.all(open.map(release));
      throw error;
    });
    // The stream holds no write from after its begin.
    const openedAt = new Date();
    const shared = shareStream(stream, request, open.length, {
      onBytes: (bytes) => context.progress.bytes(bytes, stream.expectedBytes),
      patience: () => idleTimeoutFor(request.targets.length, context.limit?.()),
    });
    const manifest = once(() =>
      describe(request, origin, stream, shared.uploaded(), {
        id,
        key,
        startedAt,
        openedAt,
        extra,
        lineage,
      }),
    );
    const sizeHint = stream.expectedBytes;
    const work = open.map(async (run, index) => {
      await run.attempt(async (target, within) => {
        const body = shared.bodies[index]!;
        // Stop reading the body: a store that failed before reading it would block the others.
        const put = await target.store
          .put(key, body, { signal: within.signal, sizeHint })
          .finally(() => body[Symbol.asyncIterator]().return?.());
        const { object, ...rest } = manifest();
        const cluster = { ...rest.cluster, family: families.get(target) };
        const stored = {
          manifest: { ...rest, cluster, object: { ...object, ...put }, ...spans.get(target) },
          extra: extra?.bytes,
        };
        run.outcome = await commit(target, stored, request, within, (committed) => {
          run.committed = committed;
        });
        const rests = waiting.get(target);
        const { verified } = run.outcome;
        if (rests && !request.key && verified && verified !== 'stream') {
          await sweepSuperseded(target, rests, stored.manifest, request, within);
        }
      });
      await release(run);
    });
    await Promise.all(work);
    const failure = shared.failure();
    if (failure !== undefined && !context.signal.aborted) throw failure;
    checkRuns(runs, context.signal);
    return {
      manifest: manifest(),
      targets: runs.map((run) => run.describe()),
      degraded: origin.source.alarms.filter((alarm) => alarm === 'NOSPACE'),
      comparison: origin.comparison,
      revision: origin.revision,
    };
  };
  return withOrigin(async (origin) => (earlier && isSuspect(origin) ? reused(earlier, context) : store(origin)));
}

const warnOf =
  (log: Log, { url }: Store): Warn =>
  (message, finding) =>
    log.warn({ store: url, finding }, message);

const isSuspect = ({ source }: Pick<SnapshotManifest, 'source'>): boolean => (source.suspect?.length ?? 0) > 0;

function reused(earlier: BackupOutcome, { log }: RunContext): BackupOutcome {
  log.info({ id: earlier.manifest.id }, 'an earlier run completed this request; no other snapshot is taken');
  return earlier;
}

function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

/**
 * Returns the snapshot's id. A user-defined name is reserved in every store that still takes part, so that only one of
 * several concurrent runs gets it.
 */
async function nameSnapshot(
  request: StoreRequest,
  runs: readonly TargetRun[],
  taken: Set<string>,
  now: Date,
): Promise<string> {
  const { fileName, fileNameTimeZone } = request;
  if (!fileName) return newSnapshotId(now);
  const folder = folderOf(request);
  const name = formatFileName(fileName, now, fileNameTimeZone);
  const each = (work: (target: BackupTarget, context: RunContext) => Promise<void>) =>
    Promise.all(runs.map((run) => run.attempt(work)));
  for (;;) {
    const candidate = freeFileName(name, taken);
    const got: Store[] = [];
    await each(async ({ store }, { signal }) => {
      if (await reserve(new Folder(store, folder, signal), candidate)) got.push(store);
      else taken.add(candidate);
    });
    if (!taken.has(candidate)) return candidate;
    await Promise.all(got.map((store) => discard(store, reservationKey(folder, candidate))));
  }
}

function payloadKey(request: StoreRequest, id: string): string {
  const { compression, recipients = [], key } = request;
  if (!key) return `${folderOf(request)}/${id}${extensions[compression]}${recipients.length > 0 ? ENCRYPTED : ''}`;
  return besideKey(key, id);
}

/** What the manifest says of the snapshots before it. */
function spanOf(
  { entries, isUnderWay }: Prepared,
  request: StoreRequest,
  origin: Origin,
): ReturnType<typeof sameEtcdSpan> {
  if (request.key) return {};
  const { source, hashKV, revision } = origin;
  return sameEtcdSpan({ source, content: { hashKV, revision } }, entries, folderOf(request), isUnderWay);
}

/**
 * Warns of what the snapshots in the stores say against this backup, and returns what the rest of the run needs of them. Not a
 * part of the run itself: while that waits, V8 keeps whatever its variables once led to.
 */
function fromBefore(
  prepared: ReadonlyMap<BackupTarget, Prepared>,
  runs: readonly TargetRun[],
  request: StoreRequest,
  origin: Origin,
) {
  const known = [...prepared.values()].flatMap(({ entries }) => entries);
  const lineage = lineageOf(known, origin.source.clusterId, request.restoredFrom);
  for (const { target, context } of runs) {
    const { entries = [] } = prepared.get(target) ?? {};
    for (const { message, finding } of warningsFor(entries, target, request, origin, lineage))
      context.log.warn({ store: target.store.url, finding }, message);
  }
  const { clusterId } = origin.source;
  const taken = { clusterId, lineage, at: new Date() };
  // No listing contains the snapshot of an exact key.
  const recorded = request.key ? [] : [...prepared];
  return {
    lineage,
    families: new Map(recorded.map(([target, { isListed }]) => [target, familyOf(known, taken, isListed)])),
    waiting: new Map([...prepared].map(([target, one]) => [target, one.waiting])),
    spans: new Map([...prepared].map(([target, one]) => [target, spanOf(one, request, origin)])),
  };
}

interface Prepared {
  readonly entries: readonly Entry[];
  /** Ids that are already in use. */
  readonly ids: readonly string[];
  readonly waiting: WaitingPayloads | undefined;
  /** Another run may be writing a snapshot. */
  readonly isUnderWay: boolean;
  /** Whether the store lists its snapshots to this run. */
  readonly isListed: boolean;
}

async function prepare(
  { store }: BackupTarget,
  request: StoreRequest,
  list: List,
  context: RunContext,
): Promise<Prepared> {
  if (request.key && !request.overwrite) await refuseExisting(store, request.key, context);
  const { log, signal } = context;
  const warn = warnOf(log, store);
  const listed = await listOrWarn(store, request, list, context);
  const folder = new Folder(store, folderOf(request), signal);
  const listing = listed ?? new Listing(folder.path);
  const keepIndex = (error: unknown) => {
    const { message, finding } = remarkOf(error);
    warn(`the index of the snapshots could not be written: ${message}`, finding);
  };
  const entries = await readCatalog(folder, { listing, keepIndex, mayLackAll: true });
  const silent = silentText(entries);
  if (silent) warn(`${silent}; the backup goes on without it`);
  let now = Date.now();
  const onClock = (theirs: Date) => {
    now = theirs.getTime();
    const warning = wrongDateWarning(theirs, request);
    if (warning) warn(warning);
  };
  const options = { warn, listing, onClock };
  const { swept, waiting } = await sweep(folder, request.sweepAge, entries, options);
  await sweepOwnNames(folder.within((await impatience(store, signal))()), request, listing, entries).then(
    (more) => swept.push(...more),
    (error) => {
      signal.throwIfAborted();
      const { message, finding } = remarkOf(error);
      warn(`leftovers of dead runs could not be removed: ${message}`, finding);
    },
  );
  if (swept.length > 0) log.info({ store: store.url, swept }, 'removed leftovers of dead runs');
  const gone = new Set(swept);
  const ids = [...listing.groups].filter(([, objects]) => objects.some(({ key }) => !gone.has(key))).map(([id]) => id);
  const isUnderWay = listing.isAnyUnderWay(now - request.sweepAge);
  return { entries, ids, isUnderWay, isListed: listed !== undefined, waiting };
}

/** A backup does not need the right to list: what it cannot see, it neither sweeps nor compares with. */
async function listOrWarn(
  store: Store,
  request: StoreRequest,
  list: List,
  { log }: Pick<RunContext, 'log'>,
): Promise<Listing | undefined> {
  try {
    return await list(store);
  } catch (error) {
    if (!(error instanceof AgentError) || error.exitCode !== ExitCode.storeRefused || request.fileName) throw error;
    log.warn(
      { store: store.url },
      `${error.message}; the backup goes on, without a look at the snapshots of before: leftovers stay, and retention deletes nothing; allow these credentials to list`,
    );
    return undefined;
  }
}

/** Returns a warning for a backup that may get a wrong date, because the store's clock differs from ours. */
function wrongDateWarning(theirs: Date, { key }: StoreRequest): string | undefined {
  const ours = new Date();
  const difference = clockDifference(theirs, ours);
  if (difference === undefined) return undefined;
  const early = 'is dated too early, so that earlier ones may count as newer';
  const late = 'is dated in the future, and does not count as the newest until then';
  // No listing contains the snapshot of an exact key.
  const what = key ? 'has a wrong date' : theirs > ours ? early : late;
  return `${difference}; if ours is wrong, this snapshot ${what}; set the clock of this machine, and take another backup; until both clocks agree, leftovers of dead runs stay`;
}

/** Deletes what waited for the verified snapshot that this run has stored. */
async function sweepSuperseded(
  { store }: BackupTarget,
  waiting: WaitingPayloads,
  manifest: SnapshotManifest,
  request: StoreRequest,
  { log, signal }: RunContext,
): Promise<void> {
  const warn = warnOf(log, store);
  const own = dated(manifest, true);
  const folder = new Folder(store, folderOf(request), signal);
  const swept = await sweepWaiting(folder, request.sweepAge, waiting, own, { warn }).catch(() => {
    // The snapshot is stored, so a time-out is not a failure.
    if (!isTimeout(signal)) signal.throwIfAborted();
    return [];
  });
  if (swept.length > 0) log.info({ store: store.url, swept }, 'removed leftovers of dead runs');
}

/** Deletes leftovers of dead runs under user-defined names and exact keys. */
async function sweepOwnNames(
  folder: Folder,
  { key, sweepAge }: StoreRequest,
  listing: Listing,
  entries: readonly Entry[],
): Promise<string[]> {
  const { store, signal } = folder;
  if (key) return sweepBeside(store, key, sweepAge, listing.namedPayloads(entries), { signal });
  return sweepReserved(folder, listing, sweepAge, entries);
}

function describe(
  request: StoreRequest,
  { source, members, hashKV, revision }: Origin,
  stream: SnapshotStream,
  uploaded: Uploaded,
  named: { id: string; key: string; startedAt: Date; openedAt: Date; lineage: string[]; extra?: PackedExtra },
): SnapshotManifest {
  const finishedAt = new Date();
  const { id, key, startedAt, openedAt, lineage, extra } = named;
  const { compression, recipients = [] } = request;
  return {
    schema: MANIFEST_SCHEMA,
    id,
    createdAt: openedAt.toISOString(),
    cluster: { name: request.cluster, namespace: request.namespace, ...(lineage.length > 0 && { lineage }) },
    source: { ...source, storageVersion: stream.storageVersion },
    members,
    host: request.host,
    extra: extra && describeExtra(extra, folderOf(request), id),
    content: { ...uploaded.content, hashKV, revision },
    object: {
      key,
      sizeBytes: uploaded.sizeBytes,
      sha256: uploaded.sha256,
      compression,
      ...(recipients.length > 0 && { encryption: { recipients: [...recipients] } }),
    },
    timing: {
      startedAt: startedAt.toISOString(),
      finishedAt: finishedAt.toISOString(),
      seconds: (finishedAt.getTime() - startedAt.getTime()) / 1000,
    },
    trigger: request.trigger,
    ...(request.request && { request: request.request }),
    agent: { version: request.agentVersion },
  };
}
