import { createHash } from 'node:crypto';
import { basename, dirname } from 'node:path/posix';
import { alarmsIn } from '../../etcd/offline/database-check.ts';
import { AgentError, ExitCode, type Warn } from '../../lib/errors.ts';
import type { Finding } from '../../lib/finding.ts';
import { quoted } from '../../lib/quoted.ts';
import { timeAt } from '../../store/clock.ts';
import { budgetOf, type CallOptions, type Store, type StoredObject } from '../../store/store.ts';
import {
  asideKey,
  checkManifest,
  deletingKey,
  type Entry,
  exactManifestKey,
  isValidKey,
  manifestKey,
  mayRunUntil,
  orNothing,
  putJson,
  readCatalog,
  readDocument,
  reservationKey,
  reservedBy,
  silentAmong,
  takingKey,
} from '../catalog/catalog.ts';
import { isNameOfOurs } from '../catalog/exports.ts';
import { Folder } from '../catalog/folder.ts';
import { folderOf, type NamedCluster } from '../catalog/identity/folder.ts';
import { MANIFEST_SCHEMA, type SnapshotManifest, suspectBy } from '../catalog/manifest.ts';
import {
  hasNoEnding,
  isId,
  isPackedName,
  isSnapshotId,
  isSnapshotName,
  SNAPSHOT_NAME,
  splitName,
} from '../catalog/snapshot-id.ts';
import { isRefused, isSame, withdraw } from '../catalog/withdraw.ts';
import { ENCRYPTED } from '../payload/encryption.ts';
import { formatOf, headOf, PackedError, unpackText } from '../payload/file-format.ts';
import { type InspectOptions, inspectSnapshot } from '../payload/inspect.ts';
import {
  type Became,
  type EarlierFinding,
  keepEarlier,
  readAgain,
  readEarlier,
  replaceEarlier,
  whatBecame,
} from './earlier-finding.ts';
import { type DatedFile, dateOf, hasDay, namesAreLocal, timeInName } from './name-time.ts';
import { whileMarked } from './protect.ts';
import { type JudgeOptions, judge, keepAside, refuseChanged, type Standing, type Unfit } from './unfit.ts';

export const PROOF = 'verified by its own sha256 and a trial restore, as there was no usable manifest';

/** Milliseconds that the first bytes of a file add to the time limit. */
const EACH = 1_000;

/** Why a file is left out whose name no command can be given. */
export const UNNAMEABLE = 'its name has a control character; rename it';

export interface AdoptContext extends InspectOptions, NamedCluster {
  readonly store: Store;
  readonly agentVersion: string;
  /** Also adopt a file that lies in another cluster's folder. */
  readonly forceForeign: boolean;
  /** Every snapshot of the cluster that has a manifest. For named files, some may be `unreachable`. */
  readonly entries: readonly Entry[];
  readonly warn: Warn;
  /** The user knows that no backup is running. */
  readonly backupEnded: boolean;
  /** Replace a manifest that is intact, but was written for another payload. */
  readonly replacesIntact: boolean;
}

/** A file that is not adopted. */
export interface Skipped extends Standing {
  readonly key: string;
}

/** A file that can be adopted. */
export interface AdoptableFile {
  readonly object: StoredObject;
  readonly id: string;
  readonly manifestKey: string;
  readonly createdAt: Date;
  readonly warning?: string;
  /** The manifest that is there cannot be used, and is replaced. */
  readonly replaces?: Unfit;
}

export interface Adopted {
  readonly manifest: SnapshotManifest;
  readonly revision: number;
  readonly warning?: string;
  readonly earlier?: EarlierFinding;
}

/**
 * Finds the files in the cluster's folder that look like snapshots, have no manifest, and are not leftovers of a dead
 * run of the agent.
 */
export async function findAdoptable(
  context: AdoptContext,
  options: CallOptions,
): Promise<{ readonly found: AdoptableFile[]; readonly skipped: Skipped[] }> {
  const { store, entries } = context;
  const known = new Set(entries.flatMap(({ manifest }) => (manifest ? [manifest.object.key] : [])));
  const folder = await readFolder(store, folderOf(context), options);
  const foreign = folder.objects
    .filter(({ key }) => {
      const name = key.slice(folder.path.length + 1);
      if (name.includes('/') || !isSnapshotName(name) || isSnapshotId(stemOf(name))) return false;
      return !folder.keys.has(exactManifestKey(key)) && !known.has(key);
    })
    .sort((a, b) => a.key.localeCompare(b.key));
  const whyNot = async (object: StoredObject) => {
    const { key } = object;
    if (!isValidKey(key)) return UNNAMEABLE;
    if (hasNoEnding(basename(key))) {
      const why = await whyUnread(store, key, `its content is not that of a snapshot; ${adoptsNamed(key)}`, options);
      if (why !== undefined) return why;
    }
    if (folder.keys.has(reservationBeside(key))) {
      const reservation = folder.objects.find((each) => each.key === reservationBeside(key))!;
      return reservedBy(reservation, await timeAt(store, options));
    }
    if (isMarkedBy(takingKey, key, folder)) return `a copy is writing it, or was killed meanwhile; ${adoptsNamed(key)}`;
    if (isMarkedBy(deletingKey, key, folder))
      return `retention is deleting it, or was killed meanwhile; ${adoptsNamed(key)}`;
    const distinct = manifestKey(folder.path, distinctId(key));
    for (const at of [...(mayOwn(key, entries) ? [manifestBeside(key)] : []), distinct]) {
      const judged = folder.keys.has(at) && (await judge(store, at, object, { ...options, replacesIntact: false }));
      if (!judged) continue;
      const why = 'why' in judged ? judged.why : `${at} may be its manifest, but is damaged`;
      return 'why' in judged && !judged.isForOther ? why : `${why}; ${replacesNamed(key)}`;
    }
    return undefined;
  };
  const judged: { readonly object: StoredObject; readonly why: string | undefined }[] = [];
  for (const object of foreign) judged.push({ object, why: await whyNot(object) });
  return {
    found: judged.filter(({ why }) => why === undefined).map(({ object }) => place(object, folder)),
    skipped: [
      ...judged.flatMap(({ object: { key }, why }) => (why === undefined ? [] : [{ key, why }])),
      ...(await otherFiles(context, folder, known, options)),
      ...(await linksIn(context, folder, options)),
    ],
  };
}

/** The files that may be snapshots, and that only their names make one, or nothing before they are unpacked. */
async function otherFiles(
  { store }: AdoptContext,
  { path, objects, keys }: Files,
  known: ReadonlySet<string>,
  options: CallOptions,
): Promise<Skipped[]> {
  const skipped: Skipped[] = [];
  for (const { key } of objects) {
    const name = key.slice(path.length + 1);
    const isOurs = isSnapshotId(stemOf(basename(key))) || keys.has(exactManifestKey(key)) || known.has(key);
    if (isOurs || /(^|\/)\./.test(name) || !isValidKey(key)) continue;
    const isBelow = name.includes('/');
    if (isBelow && isSnapshotName(basename(key)) && !keys.has(manifestBeside(key))) {
      skipped.push({ key, why: `it lies in a folder below; ${adoptsNamed(key)}` });
    }
    if (isBelow || !isPackedName(name)) continue;
    const unknown = `its name is not that of a snapshot; ${adoptsNamed(key)}`;
    skipped.push({ key, why: (await whyUnread(store, key, unknown, options)) ?? unknown });
  }
  return skipped;
}

/** Why a file is not read as a snapshot, by its first bytes; `unknown` if they are of no known format. */
async function whyUnread(
  store: Store,
  key: string,
  unknown: string,
  options: CallOptions,
): Promise<string | undefined> {
  budgetOf(store).extend(EACH);
  try {
    const format = formatOf(await headOf(await store.get(key, options)));
    if (typeof format === 'object') return unpackText(format);
    return format === undefined ? unknown : undefined;
  } catch (error) {
    options.signal?.throwIfAborted();
    if (!(error instanceof AgentError)) throw error;
    return `it cannot be read: ${error.message}`;
  }
}

/** A link and its file would count as two snapshots, and retention would keep the link and delete the file. */
async function linksIn({ store }: AdoptContext, { path }: Files, options: CallOptions): Promise<Skipped[]> {
  const found: Skipped[] = [];
  for await (const { key, linkTo } of store.links?.(`${path}/`, options) ?? []) {
    if (isSnapshotName(basename(key))) found.push({ key, why: `it is a link to ${linkTo}, which counts once` });
  }
  return found;
}

/** Returns one file by its key, or why it is not adopted. */
export async function findByKey(
  key: string,
  context: AdoptContext,
  options: CallOptions,
): Promise<AdoptableFile | Skipped> {
  const { store, entries } = context;
  const folder = folderOf(context);
  const object = await store.stat(key, options);
  if (!object) {
    const example = `${folder}/${basename(key)}`;
    const relative = key === example ? '' : `; a key is relative to the store, for example ${quoted(example)}`;
    throw new AgentError(ExitCode.nothingThere, `${store.url} has no ${key}${relative}`);
  }
  if (object.linkTo !== undefined) {
    context.warn(`${key} is a link to ${object.linkTo}, which is adopted instead`);
    return findByKey(object.linkTo, context, options);
  }
  const exact = exactManifestKey(key);
  const owners = entries.filter(({ manifest }) => manifest?.object.key === key).map((entry) => entry.manifestKey);
  const judging = { ...options, replacesIntact: context.replacesIntact };
  const standing = await judgeAll(store, [...owners, exact], object, judging);
  if (standing && 'why' in standing) return { key, ...standing };
  const busy = (await mayBeRunning(object, context, options)) ?? (await mayBeGoing(object, store, options));
  if (busy) throw new AgentError(ExitCode.refused, `${key}: ${busy.why}`, { finding: busy.finding });
  const isIn = isOrdinary(key, folder);
  const there = isIn ? entries : await readOther(key, context, options);
  refuseSilent(key, there, context);
  const beside = manifestBeside(key);
  const others = isIn ? [beside, manifestKey(folder, distinctId(key))] : [];
  const judged = standing ?? (await judgeAll(store, others, object, judging));
  if (judged && 'why' in judged) return { key, ...judged };
  if (!isIn && (await store.stat(beside, options)) && mayOwn(key, there)) {
    return { key, why: `${beside} may be its manifest, but it cannot be read`, finding: { kind: 'unnamedOwner' } };
  }
  const found = place(object, await readFolder(store, folder, options));
  if (judged) {
    const { at, unfit } = judged;
    const isCounted = at !== exact || (isIn && at === beside && isId(stemOf(basename(key))));
    const dated = unfit.createdAt ? { createdAt: unfit.createdAt, warning: undefined } : {};
    return {
      ...{ ...found, ...dated },
      ...{ id: isCounted ? basename(at, '.json') : distinctId(key), manifestKey: at, replaces: unfit },
    };
  }
  const stem = stemOf(basename(key));
  if (isSnapshotId(stem) && found.id !== stem && isIn) {
    throw new AgentError(ExitCode.refused, `${key} has the name of the snapshot ${stem}; rename it`);
  }
  return found;
}

/** Judges the manifests that may be those of the file: why one of them stands, or which one may be replaced. */
async function judgeAll(
  store: Store,
  keys: readonly string[],
  object: StoredObject,
  options: JudgeOptions,
): Promise<Standing | { readonly at: string; readonly unfit: Unfit } | undefined> {
  const unfit: { readonly at: string; readonly unfit: Unfit }[] = [];
  for (const at of new Set(keys)) {
    const found = await judge(store, at, object, options);
    if (found && 'why' in found) return found;
    if (found) unfit.push({ at, unfit: found });
  }
  return unfit[0];
}

/** Throws if a manifest that the store does not give out may be that of the file, by its name. Warns of any other. */
function refuseSilent(key: string, entries: readonly Entry[], { store, warn }: AdoptContext): void {
  const silent = silentAmong(entries).filter(({ manifest }) => !manifest);
  const own = silent.find(({ id }) => idsOf(key).includes(id));
  if (own) {
    throw new AgentError(
      ExitCode.storeUnreachable,
      `${store.url}: ${own.manifestKey} may be the manifest of ${key}, but ${own.problem}; try again`,
      { finding: own.finding },
    );
  }
  const [first] = silent;
  if (!first) return;
  const count = silent.length === 1 ? '1 manifest' : `${silent.length} manifests`;
  warn(
    `${key}: ${count} of the folder cannot be read, such as that of ${first.id}: ${first.problem}; assuming that none of them names this file`,
    first.finding,
  );
}

/**
 * Reads the snapshots in the folder of a key outside the cluster's folder. The retention of that folder's cluster could
 * delete the adopted file.
 */
async function readOther(
  key: string,
  { store, forceForeign }: AdoptContext,
  options: CallOptions,
): Promise<readonly Entry[]> {
  const folder = dirname(key);
  if (folder === '.') return [];
  const entries = await readCatalog(new Folder(store, folder, options.signal), { until: budgetOf(store).answers() });
  const [first] = entries;
  if (!first || forceForeign) return entries;
  throw new AgentError(ExitCode.refused, `${key} lies among the snapshots of ${folder}, such as ${first.id}`, {
    finding: { kind: 'amongOthers' },
  });
}

/** Why a file may be in use. */
interface Busy {
  readonly why: string;
  readonly finding?: Finding;
}

/**
 * Why a running backup may be about to write the manifest of the file. A fresh file of another tool is adopted at once, so
 * the age counts only for a name that the agent has made. A backup writes its manifest last, so it is over if there is one.
 */
async function mayBeRunning(
  object: StoredObject,
  { store, backupEnded }: AdoptContext,
  options: CallOptions,
): Promise<Busy | undefined> {
  const { key } = object;
  const reservation = await store.stat(reservationBeside(key), options);
  if (reservation) return { why: reservedBy(reservation, await timeAt(store, options)) };
  if (backupEnded || (await store.stat(manifestBeside(key), options))) return undefined;
  // A copy may be writing a name of any form, and marks it.
  const [taking] = isNameOfOurs(key) ? [object] : await markersBeside(key, store, options);
  if (!taking) return undefined;
  const now = await timeAt(store, options);
  // The marker is older than the payload, which may have taken hours.
  const until = mayRunUntil(taking.modified > object.modified ? taking : object, now);
  if (until === undefined) return undefined;
  const why = `its ${isNameOfOurs(key) ? 'backup' : 'copy'} may still be running; wait until ${until}, then adopt it`;
  return { why, finding: { kind: 'mayRun', key } };
}

/** Why retention may be about to delete the file. */
async function mayBeGoing({ key }: StoredObject, store: Store, options: CallOptions): Promise<Busy | undefined> {
  for (const id of new Set(idsOf(key))) {
    const until = await new Folder(store, dirname(key), options.signal).mayBeDeletedUntil(id);
    if (until && !(await store.stat(manifestKey(dirname(key), id), options)))
      return { why: `retention is deleting it; wait until ${until}, and adopt it then if it is still there` };
  }
  return undefined;
}

async function markersBeside(key: string, store: Store, options: CallOptions): Promise<StoredObject[]> {
  const found = await Promise.all(idsOf(key).map((id) => store.stat(takingKey(dirname(key), id), options)));
  return found.filter((object) => object !== undefined);
}

const reservationBeside = (key: string) => reservationKey(dirname(key), stemOf(basename(key)));

/** Key of the manifest that a file with an ordinary name would have. */
const manifestBeside = (key: string) => manifestKey(dirname(key), stemOf(basename(key)));

/**
 * Whether the manifest beside the file may be that of the file: true unless it is readable and names another payload.
 */
function mayOwn(key: string, entries: readonly Entry[]): boolean {
  const entry = entries.find(({ manifestKey: each }) => each === manifestBeside(key));
  return !entry?.manifest || entry.manifest.object.key === key;
}

/** Whether a run has marked a file that has no manifest: with what it wrote first, or what it deletes last. */
const isMarkedBy = (keyOf: typeof takingKey, key: string, { path, keys }: Files): boolean =>
  idsOf(key).some((id) => keys.has(keyOf(path, id)) && !keys.has(manifestKey(path, id)));

const adoptsNamed = (key: string) => `\`adopt\` takes it when you name the file: ${quoted(key)}`;

const replacesNamed = (key: string) => `\`adopt\` replaces it when you name the file: ${quoted(key)}`;

const isOrdinary = (key: string, folder: string) =>
  key.startsWith(`${folder}/`) && !key.slice(folder.length + 1).includes('/');

const stemOf = (name: string) => name.replace(SNAPSHOT_NAME, '').replace(/(\.gz|\.zst)?(\.age)?$/, '');

/** A file of which only the folders above it, below that of the cluster, name a time is dated by the nearest of them. */
function dated({ key, modified }: StoredObject, folder: string): DatedFile {
  const below = key.startsWith(`${folder}/`) ? key.slice(folder.length + 1) : key;
  const names = below.split('/').reverse();
  const name = names.find((each) => timeInName(each)) ?? names.find((each) => hasDay(each)) ?? basename(key);
  return { name, modified };
}

/** The objects in the cluster's folder, and how to read the names of its snapshots. */
interface Files {
  readonly path: string;
  readonly objects: readonly StoredObject[];
  readonly keys: ReadonlySet<string>;
  /** Number of snapshots that have this name, not counting the extension. */
  readonly stems: ReadonlyMap<string, number>;
  readonly namesAreLocal: boolean;
}

async function readFolder(store: Store, path: string, options: CallOptions): Promise<Files> {
  const objects: StoredObject[] = [];
  for await (const object of store.list(`${path}/`, options)) objects.push(object);
  const snapshots = objects.filter(({ key }) => isOrdinary(key, path) && isSnapshotName(basename(key)));
  const stems = new Map<string, number>();
  for (const { key } of snapshots) stems.set(stemOf(key), (stems.get(stemOf(key)) ?? 0) + 1);
  return {
    path,
    objects,
    keys: new Set(objects.map(({ key }) => key)),
    stems,
    namesAreLocal: namesAreLocal(
      snapshots.map((each) => dated(each, path)).filter(({ name }) => !isSnapshotId(stemOf(name))),
    ),
  };
}

/**
 * Chooses the id, the manifest's key and the time of a file. In the cluster's folder it becomes an ordinary snapshot,
 * elsewhere one under an exact key.
 */
function place(object: StoredObject, folder: Files): AdoptableFile {
  const { key } = object;
  const stem = stemOf(basename(key));
  const distinct = distinctId(key);
  const file = dated(object, folder.path);
  if (!isOrdinary(key, folder.path)) {
    const date = dateOf(file, namesAreLocal([file]));
    return { object, id: distinct, manifestKey: exactManifestKey(key), ...date };
  }
  // A name with a dot or a colon cannot be an id, and two names may differ only in their extension.
  const rivals = (folder.stems.get(stemOf(key)) ?? 0) - (isSnapshotName(basename(key)) ? 1 : 0);
  const own = manifestKey(folder.path, stem);
  // Of a name without a dot, it would be taken for one of an exact key, which retention keeps the payload of.
  const isExact = own === exactManifestKey(key);
  const free = splitName(`${stem}.`)?.id === stem && rivals === 0 && !isExact && !folder.keys.has(own);
  const id = free ? stem : distinct;
  return { object, id, manifestKey: manifestKey(folder.path, id), ...dateOf(file, folder.namesAreLocal) };
}

/** The ids that the snapshot in a file may have. */
const idsOf = (key: string): string[] => [stemOf(basename(key)), distinctId(key)];

/** The id for a file whose name is not a free id. */
function distinctId(key: string): string {
  const cleaned = stemOf(basename(key))
    .replaceAll(/[^A-Za-z0-9_+-]+/g, '-')
    .replace(/^[^A-Za-z0-9]+/, '');
  return `${cleaned || 'adopted'}-${hashOf(key)}`;
}

const hashOf = (key: string) => createHash('sha256').update(key).digest('hex').slice(0, 6);

/** Checks a file and returns the manifest for it. */
async function describeAdoptable(found: AdoptableFile, context: AdoptContext): Promise<Adopted> {
  const { object, id, createdAt, warning } = found;
  const startedAt = new Date();
  const { key } = object;
  // Before the payload is read: what `verify` finds meanwhile stands.
  const earlier = await readEarlier(context.store, found.manifestKey, id, context);
  const inspected = await inspectSnapshot(context.store, object, context);
  const { content, stored, encoding, revision, storageVersion, members } = inspected;
  const alarms = alarmsIn(inspected);
  const suspect = suspectBy(alarms);
  const isSuspect = suspect.length > 0;
  const finishedAt = new Date();
  const manifest: SnapshotManifest = {
    schema: MANIFEST_SCHEMA,
    id,
    createdAt: createdAt.toISOString(),
    cluster: { name: context.cluster, namespace: context.namespace },
    source: { clusterId: 'unknown', storageVersion, alarms, suspect: isSuspect ? suspect : undefined },
    members: [...members],
    content: { ...content, revision },
    object: { key, ...stored, ...encoding, modified: object.modified.toISOString() },
    timing: {
      startedAt: startedAt.toISOString(),
      finishedAt: finishedAt.toISOString(),
      seconds: (finishedAt.getTime() - startedAt.getTime()) / 1000,
    },
    trigger: 'adopted',
    verified: isSuspect ? undefined : { level: 'open' as const, at: finishedAt.toISOString() },
    agent: { version: context.agentVersion },
  };
  return { manifest, revision, warning, earlier };
}

/** Adds to the error of a file that fails a check what to do, for no command can make it a snapshot. */
function withWayOut(error: unknown, { object: { key }, manifestKey, replaces }: AdoptableFile): never {
  if (!(error instanceof AgentError) || error.exitCode !== ExitCode.verificationFailed) throw error;
  if (error instanceof PackedError) throw error;
  const files = replaces ? `${key} and ${manifestKey}` : key;
  throw new AgentError(
    error.exitCode,
    `${error.message}; use another snapshot, and replace the file with a good copy, or move ${files} away`,
    { cause: error },
  );
}

export interface AdoptOptions {
  /** Write nothing. */
  readonly dryRun?: boolean;
  /** Throws if the caller does not want this snapshot. Called before anything is written. */
  readonly accept?: (manifest: SnapshotManifest) => void;
  /** Called instead of a failure if the store refuses the manifest. */
  readonly onRefused?: (error: AgentError) => void;
}

/** Checks a file and writes its manifest. No other run deletes it as a leftover meanwhile. */
export function adoptFile(
  found: AdoptableFile,
  context: AdoptContext,
  { dryRun = false, accept, onRefused }: AdoptOptions = {},
): Promise<Adopted & AdoptedFile> {
  const { key } = found.object;
  const work = async () => {
    const adopted = await describeAdoptable(found, context).catch((error) => withWayOut(error, found));
    checkManifest(adopted.manifest);
    accept?.(adopted.manifest);
    if (dryRun) return { ...adopted, ...foreseen(found, adopted) };
    const written = await writeAdopted(found, adopted, context).catch((error) => {
      context.signal?.throwIfAborted();
      if (!onRefused || !(error instanceof AgentError) || error.exitCode !== ExitCode.storeRefused) throw error;
      onRefused(error);
    });
    return { ...adopted, ...written };
  };
  return dryRun || found.replaces || !isNameOfOurs(key) ? work() : whileMarked(key, context, work);
}

/** What became of that which was there before. */
export interface AdoptedFile {
  readonly earlier?: EarlierFinding | undefined;
  /** What became of the finding of an earlier `verify`. */
  readonly became?: Became;
  /** Where the manifest is that was replaced. */
  readonly aside?: string;
}

/** Says what became of the manifest that could not be used. */
export const replacedText = (aside: string) =>
  `its manifest could not be used and is replaced; the old one is kept as ${aside}`;

function foreseen({ manifestKey: key, replaces }: AdoptableFile, { manifest, earlier }: Adopted): AdoptedFile {
  return {
    became: earlier && whatBecame(earlier, manifest, key, { dryRun: true }),
    aside: replaces && asideKey(key, replaces.sha256),
  };
}

/** Writes the manifest, and then replaces the finding of an earlier `verify` that was about the old one. */
async function writeAdopted(
  found: AdoptableFile,
  { manifest, earlier }: Adopted,
  context: AdoptContext,
): Promise<AdoptedFile> {
  const { store, signal } = context;
  const { manifestKey: key, replaces } = found;
  const options = { signal };
  const before = await readAgain(store, key, manifest.id, earlier, options);
  if (before) await keepEarlier(store, key, before, options);
  const aside = replaces && (await keepAside(store, key, replaces, options));
  if (replaces === undefined) await putNew(store, key, manifest, options);
  else {
    // No store can replace an object only if it is still the same, so the question comes last.
    await refuseChanged(store, key, replaces, options);
    await putJson(store, key, manifest, options);
  }
  await refuseGone(found, manifest, context);
  // A killed deletion of the snapshot that it was before no longer counts.
  await new Folder(store, dirname(key), signal).dropDeleting(manifest.id);
  const last = await readAgain(store, key, manifest.id, before?.isReplaced ? before : undefined, options);
  const failure = last?.isReplaced ? await replaceEarlier(store, key, manifest, PROOF, options) : undefined;
  return {
    earlier: last,
    became: last && whatBecame(last, manifest, key, { failure }),
    aside,
  };
}

/** A manifest without its payload would report a snapshot that does not exist. */
async function refuseGone(
  { object: { key, size }, manifestKey: own }: AdoptableFile,
  manifest: SnapshotManifest,
  { store, signal }: AdoptContext,
): Promise<void> {
  const there = await store.stat(key, { signal });
  if (there?.size === size) return;
  await withdraw(store, own, manifest, { signal });
  const what = there ? 'was replaced' : 'was deleted';
  throw new AgentError(
    ExitCode.verificationFailed,
    `${key} ${what} while it was being checked, and is not adopted; run the command again`,
  );
}

/** Writes the manifest, unless there is one by now: that of a backup says more. */
async function putNew(store: Store, key: string, manifest: SnapshotManifest, options: CallOptions): Promise<void> {
  await putJson(store, key, manifest, { ...options, onlyNew: true }).catch(async (error) => {
    if (!isRefused(error)) throw error;
    // The response to a put that was repeated may have been lost.
    if (isSame(await orNothing(readDocument(store, key, options)), manifest)) return;
    throw new AgentError(
      ExitCode.refused,
      `${manifest.object.key}: ${key} was written meanwhile by another run and is kept; run the command again`,
    );
  });
}

export const isEncrypted = (key: string) => key.endsWith(ENCRYPTED);
