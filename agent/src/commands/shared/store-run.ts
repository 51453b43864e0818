import * as z from 'zod/mini';
import { type Entry, lostManifests, readCatalog, type WholeEntry } from '../../backup/catalog/catalog.ts';
import { folderOf } from '../../backup/catalog/folder.ts';
import { isOf, ownerOf, type Wanted } from '../../backup/catalog/identity.ts';
import { locate, otherFoldersHint, refuseMissing } from '../../backup/catalog/locate.ts';
import { listNames, type Names } from '../../backup/catalog/names.ts';
import { type PassedOver, passedOver } from '../../backup/catalog/passed-over.ts';
import { badness, selectEntry } from '../../backup/catalog/select.ts';
import { readExactEntry } from '../../backup/take/exact-key.ts';
import type { Target } from '../../backup/take/request.ts';
import { AgentError, ExitCode } from '../../lib/errors.ts';
import { namingStore } from '../../lib/run-limit.ts';
import { IDLE_TIMEOUT, IdleTimeoutStore, idleTimeoutFor } from '../../store/idle-timeout.ts';
import { openStore } from '../../store/open.ts';
import type { StoreSpec } from '../../store/spec.ts';
import type { Store } from '../../store/store.ts';
import { storeUrl } from '../../store/url.ts';
import type { CommandContext } from '../cli/command.ts';
import type { Settings } from '../cli/settings.ts';
import { askedId } from './one-snapshot.ts';
import { sha256Flag } from './sha256-flag.ts';

/** The store of a command, and whose snapshots in it are meant. */
export interface OpenedStore extends Wanted {
  readonly spec: StoreSpec;
  readonly store: Store;
  /** Every snapshot of the cluster's folder, the newest first. */
  readonly readAll: () => Promise<readonly Entry[]>;
  /** Those in it that have lost their manifest. */
  readonly readLost: (now: Date) => Promise<readonly Entry[]>;
}

/** With every snapshot of the folder. */
export interface OpenedCatalog extends OpenedStore {
  readonly entries: readonly Entry[];
}

/** Opens the one store of a command, finds the cluster's folder, and closes it in the end. */
export async function withStore<T>(context: CommandContext, work: (opened: OpenedStore) => Promise<T>): Promise<T> {
  const spec = context.settings.store();
  const store = await openStore(spec);
  try {
    const found = await namingStore(store, () => opened(store, spec, context));
    return await work(found).catch((error) => withElsewhere(error, found, context));
  } finally {
    store.close();
  }
}

/** Whoever finds nothing may have asked in the wrong place. */
async function withElsewhere(
  error: unknown,
  { store, ...wanted }: OpenedStore,
  { signal }: CommandContext,
): Promise<never> {
  if (!(error instanceof AgentError) || error.exitCode !== ExitCode.nothingThere) throw error;
  throw new AgentError(error.exitCode, `${error.message}${await otherFoldersHint(store, wanted, { signal })}`);
}

async function opened(store: Store, spec: StoreSpec, { settings, log, signal }: CommandContext): Promise<OpenedStore> {
  const asked = settings.wanted();
  await refuseMissing(store, { signal });
  const wanted = await locate(store, asked, { signal, warn: (message) => log.warn(message) });
  const folder = folderOf(wanted);
  let names: Promise<Names> | undefined;
  const list = () => {
    names ??= listNames(store, folder, { signal });
    return names;
  };
  let entries: Promise<readonly Entry[]> | undefined;
  const readAll = () => {
    entries ??= namingStore(store, async () => readCatalog(store, folder, { signal, names: await list() }));
    return entries;
  };
  const readLost = async (now: Date) => lostManifests(folder, await list(), now);
  return { ...wanted, spec, store, readAll, readLost };
}

export const withCatalog = <T>(context: CommandContext, work: (opened: OpenedCatalog) => Promise<T>): Promise<T> =>
  withStore(context, async (store) => work({ ...store, entries: await store.readAll() }));

/** The stores that a snapshot goes to, each opened by itself when it is needed; the caller closes them. */
export function openTargets(specs: readonly StoreSpec[], limit: () => number): Target[] {
  const patience = () => idleTimeoutFor(specs.length, limit());
  return specs.map((spec) => {
    // Commands have an idleTimeout of their own, which knows more signs of life.
    const own = spec.command ? patience : () => Math.min(IDLE_TIMEOUT, patience());
    return { store: new IdleTimeoutStore(storeUrl(spec), () => openStore(spec), own), retention: spec.retention };
  });
}

/** The snapshot that a command is about: `--object-key`, the id, or the newest verified one; with the `--sha256` it must have. */
export async function askedFor(
  opened: OpenedStore,
  context: CommandContext,
  grow?: (bytes: number) => void,
): Promise<WholeEntry> {
  const sha256 = sha256Flag(context.settings);
  const entry = await namingStore(opened.store, () => find(opened, context, grow));
  warnOfOthers(entry, context);
  const { id, manifest } = entry;
  if (sha256 === undefined || manifest.content.sha256 === sha256) return entry;
  throw new AgentError(
    ExitCode.verificationFailed,
    `${id}: its sha256 is ${manifest.content.sha256}, not the expected ${sha256}`,
  );
}

/** Who names a snapshot gets it, whosever it is. */
function warnOfOthers(entry: WholeEntry, { settings, log }: CommandContext): void {
  const { cluster, namespace = entry.manifest.cluster.namespace } = settings.wanted();
  const asked = { cluster, namespace: namespace || undefined };
  if (!isOf(asked, entry)) log.warn(`${entry.id} is a snapshot of ${ownerOf(entry)}, not of ${folderOf(asked)}`);
}

async function find(opened: OpenedStore, context: CommandContext, grow?: (bytes: number) => void): Promise<WholeEntry> {
  const { store } = opened;
  const { settings, signal, log } = context;
  const key = settings.text('objectKey');
  const adopt = settings.flag('adopt');
  if (adopt && !key) throw new AgentError(ExitCode.usage, '--adopt: name the file with --object-key');
  if (key && adopt) {
    const { adoptKey } = await import('./adopt-key.ts');
    const adopted = await adoptKey(key.replace(/^\/+/, ''), opened, context, grow);
    if (adopted) return checkId(adopted, key, opened, askedId(settings));
  }
  const id = settings.args[0] ?? settings.text('snapshot');
  const before = beforeFlag(settings);
  if (before !== undefined && (id || key)) {
    throw new AgentError(ExitCode.usage, '--latest-verified-before: an id or --object-key names another one; give one');
  }
  if (key) return checkId(await readExactEntry(store, key, { signal }), key, opened, askedId(settings));
  const { cluster, namespace, clusterId } = opened;
  const asked = {
    ...{ cluster, namespace, clusterId, id },
    ...(before !== undefined && { before }),
  };
  const { readAll, readLost } = opened;
  return selectEntry(store, asked, { signal, readAll, readLost, warn: (message) => log.warn(message) });
}

/** What is newer than the snapshot that was found, and was not taken; none where one was named. */
export async function passedOverFor(
  opened: OpenedStore,
  entry: WholeEntry,
  { settings, signal }: CommandContext,
): Promise<PassedOver[]> {
  if (askedId(settings) !== undefined || settings.text('objectKey') !== undefined) return [];
  const lost = await opened.readLost((await opened.store.now({ signal })) ?? new Date());
  return passedOver([...(await opened.readAll()), ...lost], entry, opened, beforeFlag(settings));
}

/** What lies under a key may have been replaced since somebody looked. */
function checkId(entry: WholeEntry, key: string, { store }: OpenedStore, id: string | undefined): WholeEntry {
  if (id === undefined || id === entry.id) return entry;
  throw new AgentError(ExitCode.verificationFailed, `${store.url}: ${key} holds the snapshot ${entry.id}, not ${id}`);
}

/** The same to restore from. One that is known to be bad, which only a name can bring here, has to be forced. */
export async function askedToRestore(
  opened: OpenedStore,
  context: CommandContext,
  grow?: (bytes: number) => void,
): Promise<WholeEntry> {
  const entry = await askedFor(opened, context, grow);
  const why = badness(entry);
  if (why === undefined) return entry;
  const message = `${entry.id}: ${why}`;
  if (context.settings.flag('forceFailed')) {
    context.log.warn(`${message}; it is restored all the same, as --force-failed says`);
    return entry;
  }
  const exitCode = entry.unread === 'refused' ? ExitCode.storeRefused : ExitCode.verificationFailed;
  throw new AgentError(exitCode, `${message}; name another one, or give --force-failed to restore it all the same`);
}

/** A date alone, or a time without a zone, means another moment wherever it is read. */
export function beforeFlag(settings: Settings): Date | undefined {
  const text = settings.text('latestVerifiedBefore');
  if (text === undefined) return undefined;
  const found = z.iso.datetime({ offset: true }).safeParse(text);
  if (found.success) return new Date(found.data);
  throw new AgentError(
    ExitCode.usage,
    `--latest-verified-before: '${text}' is not a time; write it like 2026-11-21T02:30:00Z`,
  );
}
