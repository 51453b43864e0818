import { createHash } from 'node:crypto';
import { basename, dirname } from 'node:path/posix';
import { AgentError, ExitCode } from '../../lib/errors.ts';
import type { CallOptions, Store, StoredObject } from '../../store/store.ts';
import { type Entry, exactManifestKey, manifestKey, putJson, readCatalog } from '../catalog/catalog.ts';
import { folderOf, type NamedCluster } from '../catalog/folder.ts';
import { MANIFEST_SCHEMA, type Manifest } from '../catalog/manifest.ts';
import { isSnapshotId, splitName } from '../catalog/snapshot-id.ts';
import { ENCRYPTED } from '../payload/encryption.ts';
import { type InspectOptions, inspectSnapshot } from '../payload/inspect.ts';
import { type DatedFile, dateOf, namesAreLocal } from './name-time.ts';

const SNAPSHOT_NAME = /\.(db|snap|snapshot)(\.gz|\.zst)?(\.age)?$/;

export interface AdoptContext extends InspectOptions, NamedCluster {
  readonly store: Store;
  readonly agentVersion: string;
  /** Adopt also what lies in another cluster's folder. */
  readonly forceForeign: boolean;
  /** Every snapshot of the cluster that has a manifest. */
  readonly entries: readonly Entry[];
}

/** A file that stays as it is. */
export interface PassedBy {
  readonly key: string;
  readonly why: string;
}

/** A file that is to become a snapshot. */
export interface Found {
  readonly object: StoredObject;
  readonly id: string;
  readonly manifestKey: string;
  readonly createdAt: Date;
  readonly warning?: string;
}

export interface Adopted {
  readonly manifest: Manifest;
  readonly revision: number;
  readonly warning?: string;
}

/** The files of the cluster's folder that look like snapshots, have no manifest, and are no rest of a dead run of ours. */
export async function findForeign(
  context: AdoptContext,
  options: CallOptions,
): Promise<{ readonly found: Found[]; readonly passedBy: PassedBy[] }> {
  const { store, entries } = context;
  const folder = await readFolder(store, folderOf(context), options);
  const foreign = folder.objects
    .filter(({ key }) => {
      const name = key.slice(folder.path.length + 1);
      if (name.includes('/') || !SNAPSHOT_NAME.test(name) || isSnapshotId(stemOf(name))) return false;
      return !folder.keys.has(exactManifestKey(key)) && !entries.some(({ manifest }) => manifest?.object.key === key);
    })
    .sort((a, b) => a.key.localeCompare(b.key));
  const isOwned = ({ key }: StoredObject) => folder.keys.has(manifestBeside(key)) && mayOwn(key, entries);
  return {
    found: foreign.filter((object) => !isOwned(object)).map((object) => place(object, folder)),
    passedBy: foreign.filter(isOwned).map(({ key }) => ({ key, why: ownedBy(key) })),
  };
}

/** One file by its key, or why it is not for us to adopt. */
export async function findByKey(key: string, context: AdoptContext, options: CallOptions): Promise<Found | PassedBy> {
  const { store, entries } = context;
  const folder = folderOf(context);
  const object = await store.stat(key, options);
  if (!object) throw new AgentError(ExitCode.nothingThere, `${store.url} has no ${key}`);
  const hasOne =
    entries.some(({ manifest }) => manifest?.object.key === key) || (await store.stat(exactManifestKey(key), options));
  if (hasOne) return { key, why: 'it has a manifest already' };
  const there = isOrdinary(key, folder) ? entries : await readOther(key, context, options);
  if ((await store.stat(manifestBeside(key), options)) && mayOwn(key, there)) return { key, why: ownedBy(key) };
  const found = place(object, await readFolder(store, folder, options));
  const stem = stemOf(basename(key));
  if (isSnapshotId(stem) && found.id !== stem && isOrdinary(key, folder)) {
    throw new AgentError(ExitCode.refused, `${key} bears the name of the snapshot ${stem}; give it a name of its own`);
  }
  return found;
}

/** The snapshots of the folder that a key of another one is in. Retention deletes there as if nobody else knew of its files. */
async function readOther(
  key: string,
  { store, forceForeign }: AdoptContext,
  options: CallOptions,
): Promise<readonly Entry[]> {
  const folder = dirname(key);
  if (folder === '.') return [];
  const entries = await readCatalog(store, folder, options);
  const [first] = entries;
  if (!first || forceForeign) return entries;
  throw new AgentError(
    ExitCode.refused,
    `${key} lies among the snapshots of ${folder}, such as ${first.id}; name that cluster with --cluster and --namespace, or give --force-foreign`,
  );
}

/** Where the manifest of a file with an ordinary name would be. */
const manifestBeside = (key: string) => manifestKey(dirname(key), stemOf(basename(key)));

/** Unless it says itself that it is another file's. */
function mayOwn(key: string, entries: readonly Entry[]): boolean {
  const entry = entries.find(({ manifestKey: each }) => each === manifestBeside(key));
  return !entry?.manifest || entry.manifest.object.key === key;
}

const ownedBy = (key: string) =>
  `${manifestBeside(key)} may be its manifest, which cannot be read or is of another release; see \`etcd-agent list\`, or give the file another name`;

const isOrdinary = (key: string, folder: string) =>
  key.startsWith(`${folder}/`) && !key.slice(folder.length + 1).includes('/');

const stemOf = (name: string) => name.replace(SNAPSHOT_NAME, '').replace(/(\.gz|\.zst)?(\.age)?$/, '');

const dated = ({ key, modified }: StoredObject): DatedFile => ({ name: basename(key), modified });

/** What lies in the cluster's folder, and what its snapshots' names mean. */
interface Folder {
  readonly path: string;
  readonly objects: readonly StoredObject[];
  readonly keys: ReadonlySet<string>;
  /** How many snapshots have this name, apart from its ending. */
  readonly stems: ReadonlyMap<string, number>;
  readonly namesAreLocal: boolean;
}

async function readFolder(store: Store, path: string, options: CallOptions): Promise<Folder> {
  const objects: StoredObject[] = [];
  for await (const object of store.list(`${path}/`, options)) objects.push(object);
  const snapshots = objects.filter(({ key }) => isOrdinary(key, path) && SNAPSHOT_NAME.test(key));
  const stems = new Map<string, number>();
  for (const { key } of snapshots) stems.set(stemOf(key), (stems.get(stemOf(key)) ?? 0) + 1);
  return {
    path,
    objects,
    keys: new Set(objects.map(({ key }) => key)),
    stems,
    namesAreLocal: namesAreLocal(snapshots.map(dated).filter(({ name }) => !isSnapshotId(stemOf(name)))),
  };
}

/** In the cluster's folder it becomes an ordinary snapshot, anywhere else one under an exact key. */
function place(object: StoredObject, folder: Folder): Found {
  const { key } = object;
  const stem = stemOf(basename(key));
  const cleaned = stem.replaceAll(/[^A-Za-z0-9_+-]+/g, '-').replace(/^[^A-Za-z0-9]+/, '');
  const distinct = `${cleaned || 'adopted'}-${hashOf(key)}`;
  const file = dated(object);
  if (!isOrdinary(key, folder.path)) {
    const date = dateOf(file, namesAreLocal([file]));
    return { object, id: distinct, manifestKey: exactManifestKey(key), ...date };
  }
  // A name with a dot or a colon is no id, and two files may differ in their endings only.
  const rivals = (folder.stems.get(stemOf(key)) ?? 0) - (SNAPSHOT_NAME.test(key) ? 1 : 0);
  const free = splitName(`${stem}.`)?.id === stem && rivals === 0 && !folder.keys.has(manifestKey(folder.path, stem));
  const id = free ? stem : distinct;
  return { object, id, manifestKey: manifestKey(folder.path, id), ...dateOf(file, folder.namesAreLocal) };
}

const hashOf = (key: string) => createHash('sha256').update(key).digest('hex').slice(0, 6);

/** Checks a file and says what its manifest would be. */
export async function describeForeign(
  { object, id, createdAt, warning }: Found,
  context: AdoptContext,
): Promise<Adopted> {
  const startedAt = new Date();
  const { key } = object;
  const encoding = encodingOf(key);
  const { content, stored, revision, storageVersion } = await inspectSnapshot(context.store, object, encoding, context);
  const finishedAt = new Date();
  const manifest: Manifest = {
    schema: MANIFEST_SCHEMA,
    id,
    createdAt: createdAt.toISOString(),
    cluster: { name: context.cluster, namespace: context.namespace },
    source: { clusterId: 'unknown', storageVersion, alarms: [] },
    content: { ...content, revision },
    object: { key, ...stored, ...encoding },
    timing: {
      startedAt: startedAt.toISOString(),
      finishedAt: finishedAt.toISOString(),
      seconds: (finishedAt.getTime() - startedAt.getTime()) / 1000,
    },
    trigger: 'adopted',
    verified: { level: 'open', at: finishedAt.toISOString() },
    agent: { version: context.agentVersion },
  };
  return { manifest, revision, warning };
}

export async function writeAdopted(
  found: Found,
  { manifest }: Adopted,
  { store, signal }: AdoptContext,
): Promise<void> {
  await putJson(store, found.manifestKey, manifest, { signal });
}

export const isEncrypted = (key: string) => key.endsWith(ENCRYPTED);

function encodingOf(key: string): Pick<Manifest['object'], 'compression' | 'encryption'> {
  const inner = isEncrypted(key) ? key.slice(0, -ENCRYPTED.length) : key;
  const compression = inner.endsWith('.gz') ? 'gzip' : inner.endsWith('.zst') ? 'zstd' : 'none';
  // Whom it was encrypted for, only the one who did it knows.
  return { compression, ...(inner !== key && { encryption: { recipients: [] } }) };
}
