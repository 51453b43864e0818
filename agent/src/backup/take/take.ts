import type { SnapshotStream } from '../../etcd/snapshot-stream.ts';
import { isTimeout } from '../../lib/limits/timed-out-error.ts';
import type { PutResult } from '../../store/store.ts';
import { folderOf } from '../catalog/identity/folder.ts';
import { MANIFEST_SCHEMA, type SnapshotManifest } from '../catalog/manifest.ts';
import { newSnapshotId } from '../catalog/snapshot-id.ts';
import { describeExtra, type PackedExtra, packExtra } from '../payload/extra.ts';
import { dated } from '../retention/superseded.ts';
import { sweepWaiting } from '../retention/sweep.ts';
import { judgeBefore, readBefore } from './before.ts';
import { applyRetention, commit } from './commit.ts';
import { findEarlierRun } from './earlier-run.ts';
import { exportSnapshot } from './export.ts';
import { shareStream, type Uploaded } from './fan-out.ts';
import { endingOf, exportsOf } from './file-name.ts';
import { markTaking, unmark } from './markers.ts';
import type { BackupOutcome, Origin, RunContext, StoreRequest, TargetOutcome } from './request.ts';
import { connectMember, type MemberRequest } from './source/select-source.ts';
import { attempt, checkRuns, type TargetRun, targetRuns } from './target-run.ts';

export type BackupRequest = StoreRequest & MemberRequest;

/** Takes one snapshot of a member, and stores it in every target. Throws if no target has it in the end. */
export const takeBackup = (request: BackupRequest, context: RunContext): Promise<BackupOutcome> =>
  takeSnapshot(request, context, () => connectMember(request, context));

/** Stores one snapshot in every target, independently of each other. Throws if no target has it in the end. */
export async function takeSnapshot(
  request: StoreRequest,
  context: RunContext,
  connect: () => Promise<Origin>,
): Promise<BackupOutcome> {
  const startedAt = new Date();
  const { progress, signal } = context;
  const extra = request.extra && (await packExtra(request.extra));
  progress.phase('sweep', 'reading the store');
  const runs = targetRuns(request, context);
  const earlier = await findEarlierRun(request, runs);
  if (earlier && !isSuspect(earlier.manifest)) return reused(earlier, context);
  await attempt(runs, (run) => readBefore(run, request));
  checkRuns(runs, signal);

  using origin = await connect();
  if (earlier && isSuspect(origin)) return reused(earlier, context);
  const exports = isSuspect(origin) ? undefined : exportsOf(request, () => takenIn(runs), startedAt);
  const lineage = judgeBefore(runs, request, origin);
  // Free the lists now: retention reads them again, and memory must not hold both.
  for (const run of runs) run.forget();
  const id = newSnapshotId(startedAt);
  const key = `${folderOf(request)}/${id}${endingOf(request)}`;
  // Other runs see the marker before the moment that the snapshot is dated at.
  await attempt(runs, (run) => markTaking(run.folder, id, { clusterId: origin.source.clusterId, warn: run.warn }));
  checkRuns(runs, signal);

  const open = runs.filter(({ failure }) => !failure);
  progress.phase('stream', `snapshot of ${origin.source.endpoint}`);
  const stream = await origin.open().catch(async (error) => {
    await Promise.all(open.map((run) => unmark(run, { id, key })));
    throw error;
  });
  // The stream holds no write from after its begin.
  const openedAt = new Date();
  const shared = shareStream(stream, request, open.length, {
    onBytes: (bytes) => progress.bytes(bytes, stream.expectedBytes),
    patience: () => context.budget.share(request.targets.length),
  });
  let described: SnapshotManifest | undefined;
  const manifest = () => {
    const named = { id, key, exports, startedAt, openedAt, extra, lineage };
    described ??= describe(request, origin, stream, shared.uploaded(), named);
    return described;
  };
  const store = async (run: TargetRun, body: AsyncIterable<Uint8Array>) => {
    // Stop reading the body: a store that failed before reading it would block the others.
    const put = await run.target.store
      .put(key, body, { signal: run.context.signal, sizeHint: stream.expectedBytes })
      .finally(() => body[Symbol.asyncIterator]().return?.());
    const committed = await commit(run, { manifest: ofStore(manifest(), run, put), extra: extra?.bytes }, request);
    run.outcome = await finish(run, committed, request);
    await sweepSuperseded(run, committed, request);
  };
  await Promise.all(
    open.map(async (run, index) => {
      await attempt([run], () => store(run, shared.bodies[index]!));
      await unmark(run, { id, key });
    }),
  );
  const failure = shared.failure();
  if (failure !== undefined && !signal.aborted) throw failure;
  checkRuns(runs, signal);
  return {
    manifest: manifest(),
    targets: runs.map((run) => run.describe()),
    degraded: origin.source.alarms.filter((alarm) => alarm === 'NOSPACE'),
    comparison: origin.comparison,
    revision: origin.revision,
  };
}

/** The names in the folders of the stores. */
const takenIn = (runs: readonly TargetRun[]) => new Set(runs.flatMap(({ before }) => before?.ids ?? []));

/** What the manifest in one store says beside what all have in common. */
function ofStore(manifest: SnapshotManifest, { past }: TargetRun, put: PutResult): SnapshotManifest {
  const { object, cluster } = manifest;
  return {
    ...manifest,
    cluster: { ...cluster, family: past?.family },
    object: { ...object, ...put },
    ...past?.span,
  };
}

/** Exports a committed snapshot, and applies retention in its favor. If that fails, the snapshot stays. */
async function finish(run: TargetRun, committed: SnapshotManifest, request: StoreRequest): Promise<TargetOutcome> {
  const { target, context } = run;
  const exported = await exportSnapshot(run, committed, request);
  const outcome = { store: target.store.url, ...exported, verified: committed.verified?.level };
  if (!target.retention) return outcome;
  context.progress.phase('retention', 'applying retention');
  try {
    return { ...outcome, ...(await applyRetention(run, target.retention, committed, request)) };
  } catch (error) {
    return { ...outcome, retentionError: run.failureAfter('retention', error) };
  }
}

/** Deletes what waited for the verified snapshot that this run has stored. */
async function sweepSuperseded(
  { past, folder, warn, context: { log, signal } }: TargetRun,
  committed: SnapshotManifest,
  { sweepAge }: StoreRequest,
): Promise<void> {
  const { verified } = committed;
  if (!past?.waiting || !verified || verified.level === 'stream') return;
  const swept = await sweepWaiting(folder, sweepAge, past.waiting, dated(committed, true), { warn }).catch(() => {
    // The snapshot is stored, so a time-out is not a failure.
    if (!isTimeout(signal)) signal.throwIfAborted();
    return [];
  });
  if (swept.length > 0) log.info({ store: folder.store.url, swept }, 'removed leftovers of dead runs');
}

const isSuspect = ({ source }: Pick<SnapshotManifest, 'source'>): boolean => (source.suspect?.length ?? 0) > 0;

function reused(earlier: BackupOutcome, { log }: RunContext): BackupOutcome {
  log.info({ id: earlier.manifest.id }, 'an earlier run completed this request; no other snapshot is taken');
  return earlier;
}

function describe(
  request: StoreRequest,
  { source, members, hashKV, revision }: Origin,
  stream: SnapshotStream,
  uploaded: Uploaded,
  named: Pick<SnapshotManifest, 'id' | 'exports'> & {
    key: string;
    startedAt: Date;
    openedAt: Date;
    lineage: string[];
    extra?: PackedExtra;
  },
): SnapshotManifest {
  const finishedAt = new Date();
  const { id, key, exports, startedAt, openedAt, lineage, extra } = named;
  const { compression, recipients = [] } = request;
  return {
    schema: MANIFEST_SCHEMA,
    id,
    createdAt: openedAt.toISOString(),
    cluster: { name: request.cluster, namespace: request.namespace, lineage: lineage.length > 0 ? lineage : undefined },
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
      encryption: recipients.length > 0 ? { recipients: [...recipients] } : undefined,
    },
    exports,
    timing: {
      startedAt: startedAt.toISOString(),
      finishedAt: finishedAt.toISOString(),
      seconds: (finishedAt.getTime() - startedAt.getTime()) / 1000,
    },
    trigger: request.trigger,
    request: request.request || undefined,
    agent: { version: request.agentVersion },
  };
}
