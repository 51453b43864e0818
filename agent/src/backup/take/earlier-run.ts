import { AgentError, ExitCode, remarkOf } from '../../lib/errors.ts';
import { type Entry, isUnread, readCatalog, silentText, type WholeEntry } from '../catalog/catalog.ts';
import { Folder } from '../catalog/folder.ts';
import { folderOf } from '../catalog/identity/folder.ts';
import { revisionOf } from '../catalog/manifest.ts';
import { whole } from '../catalog/select.ts';
import { finishKey } from './commit.ts';
import { readExactEntry } from './exact-key.ts';
import type { BackupOutcome, BackupTarget, List, RunContext, StoreRequest, TargetOutcome } from './request.ts';

type Found = WholeEntry & Pick<TargetOutcome, 'keyError'>;

/**
 * Returns the outcome of an earlier run for the same request, whose result was lost. Undefined unless every store has the
 * complete snapshot. If a store cannot be read, this run takes a snapshot and reports the error.
 */
export async function findEarlierRun(
  request: StoreRequest,
  asked: string,
  list: List,
  context: RunContext,
): Promise<BackupOutcome | undefined> {
  const found = await Promise.all(request.targets.map((target) => find(target, request, asked, list, context)));
  const entries = found.filter((entry) => entry !== undefined);
  const [first] = entries;
  if (!first || entries.length < found.length || entries.some(({ id }) => id !== first.id)) return undefined;
  const { manifest } = first;
  return {
    manifest,
    targets: entries.map((entry, index) => ({
      store: request.targets[index]!.store.url,
      key: request.key ?? entry.manifest.object.key,
      ...(entry.keyError !== undefined && { keyError: entry.keyError }),
      ...(entry.manifest.verified && { verified: entry.manifest.verified.level }),
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

async function find(
  { store }: BackupTarget,
  request: StoreRequest,
  asked: string,
  list: List,
  context: RunContext,
): Promise<Found | undefined> {
  try {
    const { key } = request;
    const { signal } = context;
    if (key) {
      const exact = await readExactEntry(store, key, { signal });
      if (exact.manifest.request !== asked || !counts(exact, request)) return undefined;
      const { manifest } = exact;
      return manifest.object.key === key
        ? exact
        : { ...exact, ...(await finishKey(store, manifest, key, request, context)) };
    }
    const folder = new Folder(store, folderOf(request), signal);
    const entries = await readCatalog(folder, { listing: await list(store), mayLackAll: true });
    const all = entries.filter((entry) => entry.manifest?.request === asked && counts(entry, request));
    const found = all.find(({ state }) => state !== 'suspect') ?? all[0];
    const silent = found ? undefined : silentText(entries);
    if (silent) context.log.warn({ store: store.url }, `cannot check whether it was taken before: ${silent}`);
    return found && (await whole(folder, found.id));
  } catch (error) {
    context.signal.throwIfAborted();
    if (error instanceof AgentError && error.exitCode === ExitCode.nothingThere) return undefined;
    const { message, finding } = remarkOf(error);
    context.log.warn({ store: store.url, finding }, `cannot check whether it was taken before: ${message}`);
    return undefined;
  }
}
