import { AgentError, ExitCode, remarkOf } from '../../lib/errors.ts';
import { type Entry, isUnread, readCatalog, silentText, type WholeEntry } from '../catalog/catalog.ts';
import { exportKeys } from '../catalog/exports.ts';
import { revisionOf } from '../catalog/manifest.ts';
import { whole } from '../catalog/select.ts';
import { exportSnapshot } from './export.ts';
import type { BackupOutcome, StoreRequest, TargetOutcome } from './request.ts';
import type { TargetRun } from './target-run.ts';

type Found = WholeEntry & { readonly exported?: Pick<TargetOutcome, 'key' | 'keyError'> };

/**
 * Returns the outcome of an earlier run for the same request, whose result was lost. Undefined unless every store has the
 * complete snapshot. If a store cannot be read, this run takes a snapshot and reports the error.
 */
export async function findEarlierRun(
  request: StoreRequest,
  runs: readonly TargetRun[],
): Promise<BackupOutcome | undefined> {
  if (request.request === undefined) return undefined;
  const found = await Promise.all(runs.map((run) => find(run, request)));
  const entries = found.filter((entry) => entry !== undefined);
  const [first] = entries;
  if (!first || entries.length < found.length || entries.some(({ id }) => id !== first.id)) return undefined;
  const { manifest } = first;
  return {
    manifest,
    targets: entries.map((entry, index) => ({
      store: runs[index]!.target.store.url,
      ...(entry.exported ?? { key: entry.manifest.object.key }),
      verified: entry.manifest.verified?.level,
    })),
    degraded: manifest.source.alarms.filter((alarm) => alarm === 'NOSPACE'),
    comparison: 'taken before for the same request',
    revision: revisionOf(manifest),
  };
}

/**
 * A snapshot that a later verification found bad does not count. Nor does an old one, unless it is suspect: no retry stores a
 * suspect source again.
 */
function counts(entry: Entry, { requestAge = Number.POSITIVE_INFINITY }: StoreRequest): boolean {
  const { state } = entry;
  if (state === 'broken' || state === 'failed' || isUnread(entry)) return false;
  return state === 'suspect' || Date.now() - Date.parse(entry.manifest?.createdAt ?? '') < requestAge;
}

async function find(run: TargetRun, request: StoreRequest): Promise<Found | undefined> {
  const { folder, warn } = run;
  const { signal } = run.context;
  try {
    const { request: asked } = request;
    const entries = await readCatalog(folder, { listing: await run.list(), mayLackAll: true });
    const all = entries.filter((entry) => entry.manifest?.request === asked && counts(entry, request));
    const found = all.find(({ state }) => state !== 'suspect') ?? all[0];
    const silent = found ? undefined : silentText(entries);
    if (silent) warn(`cannot check whether it was taken before: ${silent}`);
    if (!found) return undefined;
    const entry = await whole(folder, found.id);
    // That run may have been killed before its export, and this one reads no database that would say how long that takes.
    if (exportKeys(entry.manifest).length > 0) run.context.onSize?.(entry.manifest.content.sizeBytes);
    return entry.state === 'suspect'
      ? entry
      : { ...entry, exported: await exportSnapshot(run, entry.manifest, request) };
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof AgentError && error.exitCode === ExitCode.nothingThere) return undefined;
    const { message, finding } = remarkOf(error);
    warn(`cannot check whether it was taken before: ${message}`, finding);
    return undefined;
  }
}
