import { type Entry, IncompleteError, readCatalog, type WholeEntry } from '../../backup/catalog/catalog.ts';
import { readExactEntry } from '../../backup/catalog/exact-key.ts';
import { Folder, type Listing } from '../../backup/catalog/folder.ts';
import { folderOf } from '../../backup/catalog/identity/folder.ts';
import { isOf, ownerOf } from '../../backup/catalog/identity/identity.ts';
import { holderOf, locate, refuseMissing } from '../../backup/catalog/identity/locate.ts';
import type { SnapshotManifest } from '../../backup/catalog/manifest.ts';
import { type PassedOver, passedOver } from '../../backup/catalog/passed-over.ts';
import { remedyOf } from '../../backup/catalog/remedy.ts';
import { badness, selectEntry } from '../../backup/catalog/select.ts';
import { isSnapshotId, splitName } from '../../backup/catalog/snapshot-id.ts';
import type { BackupTarget } from '../../backup/take/request.ts';
import { AgentError, ExitCode, usageError } from '../../lib/errors.ts';
import type { Wait } from '../../lib/limits/budget.ts';
import { unlessAborted } from '../../lib/limits/unless-aborted.ts';
import { timeAt } from '../../store/clock.ts';
import { lazyStore, openStore } from '../../store/open.ts';
import { IDLE_TIMEOUT } from '../../store/patient-store.ts';
import type { StoreSpec } from '../../store/spec.ts';
import type { Store } from '../../store/store.ts';
import { verifyCommand } from '../advice/adopt.ts';
import { adoptableText } from '../advice/adoptable.ts';
import { advised, said, spoken, warner } from '../advice/advice.ts';
import { besideHint, elsewhere, TooDeepError } from '../advice/elsewhere.ts';
import { another } from '../advice/instead.ts';
import type { CommandContext } from '../cli/command.ts';
import type { Settings } from '../cli/settings.ts';
import { answeringOf } from './answering.ts';
import type { OpenedStore } from './opened-store.ts';
import { askedId, beforeFlag, sha256Flag } from './snapshot-flags.ts';

/** An opened store with every snapshot of the folder. */
export interface OpenedCatalog extends OpenedStore {
  readonly entries: readonly Entry[];
}

/** Opens the only store of a command, finds the cluster's folder, runs the work, and closes the store. */
export async function withStore<T>(context: CommandContext, work: (opened: OpenedStore) => Promise<T>): Promise<T> {
  const spec = context.settings.store();
  const store = await openStore(spec, context.budget);
  try {
    const found = await openedStore(store, spec, context);
    return await work(found).catch((error) => withElsewhere(error, found, context));
  } finally {
    store.close();
  }
}

/**
 * Adds to the error "nothing found" where snapshots do exist: the user may have named the wrong place. To the error of a
 * snapshot without a manifest, adds how to write one.
 */
async function withElsewhere(error: unknown, opened: OpenedStore, context: CommandContext): Promise<never> {
  const { store } = opened;
  const { signal, settings, budget } = context;
  const known = { place: opened, settings, list: context.list };
  if (error instanceof IncompleteError) {
    // The error that is reported matters more.
    const now = await timeAt(store, { signal });
    const entries = await opened.readAnswering(() => budget.wait()).catch(() => []);
    const remedy = remedyOf(error.entry, opened, { now, entries });
    if (remedy) throw new AgentError(error.exitCode, `${said(error, known)}${advised(remedy, known)}`);
  }
  if (!(error instanceof AgentError)) throw error;
  if (error.exitCode !== ExitCode.nothingThere || error instanceof TooDeepError) throw spoken(error, known);
  const { finding } = error;
  const hint = await nothingHint(error, opened, context);
  // The list of a cluster that is not meant leads nowhere.
  const isListed = hint !== '' && (finding?.kind === 'listed' || finding?.kind === 'unknownId');
  const remedy = finding?.kind === 'listed' ? finding.remedy : undefined;
  const message = isListed ? `${error.message}${advised(remedy, known)}` : said(error, known);
  throw new AgentError(error.exitCode, `${message}${hint}`);
}

/** Says where that snapshot is, or what else there is. */
async function nothingHint({ finding }: AgentError, opened: OpenedStore, context: CommandContext): Promise<string> {
  const { settings, signal } = context;
  const { store } = opened;
  const id = finding?.kind === 'unknownId' ? finding.id : undefined;
  const named = id && splitName(id.slice(id.lastIndexOf('/') + 1))?.id;
  if (named && isSnapshotId(named)) return `; this is the name of a file: pass the id ${named}`;
  const owner = id === undefined ? undefined : await holderOf(store, id, opened, { signal });
  if (owner) return advised({ kind: 'heldBy', folder: folderOf(owner), ...owner });
  const isNamed = askedId(settings) !== undefined || settings.text('objectKey') !== undefined;
  const adoptable = isNamed ? '' : await adoptableText(opened, context);
  return `${(await elsewhere(opened, context)).text}${adoptable}`;
}

/** Finds the cluster's folder in a store. For commands that only read. */
export async function openedStore(
  store: Store,
  spec: StoreSpec,
  { settings, log, signal }: CommandContext,
): Promise<OpenedStore> {
  const asked = settings.wanted();
  await refuseMissing(store, { signal }).catch(async (error) => {
    if (!(error instanceof AgentError) || error.exitCode !== ExitCode.nothingThere) throw error;
    throw new AgentError(error.exitCode, `${said(error)}${await besideHint(spec, asked)}`);
  });
  const wanted = await locate(store, asked, { signal, warn: warner(log) });
  const folder = new Folder(store, folderOf(wanted), signal);
  let listing: Promise<Listing> | undefined;
  let waiting: Wait | undefined;
  const list = () => {
    listing ??= folder.list({ until: () => waiting });
    return listing;
  };
  let entries: Promise<readonly Entry[]> | undefined;
  const readAll = () => {
    entries ??= list().then((listed) => readCatalog(folder, { listing: listed }));
    return entries;
  };
  let answering: Promise<readonly Entry[]> | undefined;
  // What did not answer in time is not waited for twice.
  const readAnswering = (limit: () => Wait) => {
    answering ??= listedUntil(limit()).then((options) => readCatalog(folder, options));
    return answering;
  };
  const listedUntil = async (until: Wait) => {
    waiting ??= until;
    const listed = await unlessAborted(list(), until.signal).catch((error) => {
      signal.throwIfAborted();
      if (!(error instanceof AgentError) || error !== until.signal.reason) throw error;
      throw new AgentError(error.exitCode, `${store.url}: list ${folder.path}/: ${error.message}`, { cause: error });
    });
    return { until, listing: listed };
  };
  return { ...wanted, spec, store, folder, list, readAll, readAnswering };
}

export const withCatalog = <T>(context: CommandContext, work: (opened: OpenedCatalog) => Promise<T>): Promise<T> =>
  withStore(context, async (store) => work({ ...store, entries: await store.readAll() }));

/** As `withCatalog`, but does without the manifests that the store does not give out in time. */
export const withAnswering = <T>(context: CommandContext, work: (opened: OpenedCatalog) => Promise<T>): Promise<T> =>
  withStore(context, async (store) => work({ ...store, entries: await answeringOf(store, context) }));

/** Stores that receive a snapshot. Each is opened when it is needed. The caller closes them. */
export function openTargets(specs: readonly StoreSpec[], { budget }: Pick<CommandContext, 'budget'>): BackupTarget[] {
  const share = () => budget.share(specs.length);
  return specs.map((spec) => {
    // A command store has its own idleTimeout, which recognizes more signs of life.
    const idle = spec.command ? share : () => Math.min(IDLE_TIMEOUT, share());
    return { store: lazyStore(spec, budget, idle), retention: spec.retention, spec };
  });
}

/**
 * Finds the snapshot that a command is about: at `--object-key`, by its id, or the newest verified one. Checks
 * `--sha256`.
 */
export async function askedFor(opened: OpenedStore, context: CommandContext): Promise<WholeEntry> {
  const entry = await find(opened, context);
  warnOfOthers(entry, context);
  refuseOtherContent(entry.manifest, context.settings);
  return entry;
}

function refuseOtherContent({ id, content }: SnapshotManifest, settings: Settings): void {
  const sha256 = sha256Flag(settings);
  if (sha256 === undefined || content.sha256 === sha256) return;
  throw new AgentError(
    ExitCode.verificationFailed,
    `${id}: its sha256 is ${content.sha256}, not the expected ${sha256}`,
  );
}

/** Warns about a snapshot of another cluster. A snapshot that the user has named is used all the same. */
function warnOfOthers(entry: WholeEntry, { settings, log }: CommandContext): void {
  const { cluster, namespace = entry.manifest.cluster.namespace } = settings.wanted();
  const asked = { cluster, namespace: namespace || undefined };
  if (!isOf(asked, entry)) log.warn(`${entry.id} is a snapshot of ${ownerOf(entry)}, not of ${folderOf(asked)}`);
}

async function find(opened: OpenedStore, context: CommandContext): Promise<WholeEntry> {
  const { store } = opened;
  const { settings, signal, log } = context;
  const key = (await behindLink(settings.text('objectKey'), store, context))?.replace(/^\/+/, '');
  const adopt = settings.flag('adopt');
  if (adopt && !key) throw usageError('--adopt: name the file with --object-key');
  if (key && adopt) {
    const { adoptKey } = await import('./adopt-key.ts');
    const accept = (manifest: SnapshotManifest) => {
      checkId(manifest, key, opened, askedId(settings));
      refuseOtherContent(manifest, settings);
    };
    const adopted = await adoptKey(key, opened, context, { accept });
    if (adopted) return checkId(adopted, key, opened, askedId(settings));
  }
  const id = settings.args[0] ?? settings.text('snapshot');
  const before = beforeFlag(settings);
  if (before !== undefined && (id || key)) {
    throw usageError('--latest-verified-before: cannot be used with an id or --object-key; remove one of them');
  }
  if (key) return checkId(await readExactEntry(store, key, { signal }), key, opened, askedId(settings));
  const { cluster, namespace, clusterId } = opened;
  const asked = {
    ...{ cluster, namespace, clusterId, id },
    before,
  };
  return selectEntry(opened.folder, asked, {
    readAnswering: () => answeringOf(opened, context),
    list: opened.list,
    warn: warner(log, { place: opened, settings }),
  });
}

/** The key of the file that a link leads to: a script may keep a link to its newest snapshot. */
async function behindLink(
  key: string | undefined,
  store: Store,
  { signal, log }: Pick<CommandContext, 'signal' | 'log'>,
): Promise<string | undefined> {
  if (key === undefined || !store.links) return key;
  const found = await store.stat(key.replace(/^\/+/, ''), { signal }).catch(() => undefined);
  if (found?.linkTo === undefined) return key;
  log.warn(`${key} is a link to ${found.linkTo}`);
  return found.linkTo;
}

/** Snapshots that are newer than the found one but were not chosen. Empty if the user has named a snapshot. */
export async function passedOverFor(
  opened: OpenedStore,
  entry: WholeEntry,
  context: CommandContext,
): Promise<PassedOver[]> {
  const { settings, signal } = context;
  if (askedId(settings) !== undefined || settings.text('objectKey') !== undefined) return [];
  const now = await timeAt(opened.store, { signal });
  const without = (await opened.list()).withoutManifest(now).filter(({ state }) => state !== 'deleting');
  return passedOver([...(await answeringOf(opened, context)), ...without], entry, opened, beforeFlag(settings));
}

/** Throws if the key does not hold the named snapshot: the object at a key may have been replaced. */
function checkId<T extends { readonly id: string }>(
  entry: T,
  key: string,
  { store }: OpenedStore,
  id: string | undefined,
): T {
  if (id === undefined || id === entry.id) return entry;
  throw new AgentError(ExitCode.verificationFailed, `${store.url}: ${key} is the snapshot ${entry.id}, not ${id}`);
}

/**
 * Finds the snapshot to restore. A snapshot that is known to be bad, which only happens if it is named, needs
 * `--force-failed`.
 */
export async function askedToRestore(opened: OpenedStore, context: CommandContext): Promise<WholeEntry> {
  const entry = await askedFor(opened, context).catch((error) => withInstead(error, opened, context));
  const why = badness(entry);
  if (why === undefined) return entry;
  const message = `${entry.id}: ${why}`;
  if (context.settings.flag('forceFailed')) {
    context.log.warn(`${message}; restoring it because of --force-failed`);
    return entry;
  }
  const exitCodes = { refused: ExitCode.storeRefused, unreachable: ExitCode.storeUnreachable };
  const exitCode = exitCodes[entry.state as keyof typeof exitCodes] ?? ExitCode.verificationFailed;
  const again = entry.state === 'unreachable' ? '; try again' : '';
  const force = mayForce(entry) ? ', or use --force-failed to restore this one' : againHint(entry, opened, context);
  // Only a finding that cannot be read has a way out of its own here.
  const known = { place: opened, settings: context.settings };
  const remedy =
    entry.state === 'damaged' || entry.finding ? remedyOf(entry, opened, { now: new Date(), entries: [] }) : undefined;
  throw new AgentError(
    exitCode,
    `${message}${advised(remedy, known)}${again}; ${await another(entry, opened, context)}${force}`,
  );
}

/** Says how a snapshot counts again that was found damaged and then repaired, for example from a copy. */
function againHint({ id, verification }: WholeEntry, opened: OpenedStore, { settings }: CommandContext): string {
  if (verification?.outcome !== 'failed' || settings.text('objectKey') !== undefined) return '';
  return `; if it was repaired since, run ${verifyCommand({ place: opened, settings }, id, verification.level)} again`;
}

/** Adds to the error of a snapshot or file that cannot be restored what can be. */
async function withInstead(error: unknown, opened: OpenedStore, context: CommandContext): Promise<never> {
  const { settings, signal } = context;
  if (error instanceof IncompleteError) {
    const message = `${error.message}; ${await another(error.entry, opened, context)}`;
    throw new IncompleteError(error.exitCode, message, error.entry);
  }
  const key = settings.text('objectKey')?.replace(/^\/+/, '');
  const isMissing = error instanceof AgentError && error.exitCode === ExitCode.nothingThere;
  if (!key || !isMissing || !(await opened.store.stat(key, { signal }).catch(() => undefined))) throw error;
  throw new AgentError(error.exitCode, `${said(error)}; if another tool saved it, add --adopt`);
}

/** Whether the payload may be intact. A restore checks its bytes whatever the flags. */
export const mayForce = ({ verification, problem, state }: Entry): boolean =>
  !verification?.damaged && !(state === 'refused' && problem?.startsWith('its payload'));
