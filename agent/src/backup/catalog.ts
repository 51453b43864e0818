import { AgentError, ExitCode, messageOf } from '../errors.ts';
import type { CallOptions, Store, StoredObject } from '../store/store.ts';
import { MANIFEST_SCHEMA, type Manifest, manifestSchema, type Verification, verificationSchema } from './manifest.ts';
import { isSnapshotId, splitName } from './snapshot-id.ts';

const MAX_DOCUMENT = 1024 * 1024;
const AT_ONCE = 8;

const FAMILY = MANIFEST_SCHEMA.replace(/[^/]*$/, '');
const NEWER = 'its manifest has the schema ';
/** What we write beside a payload. Under a name that is not ours anything else belongs to somebody else. */
const OWN = /^\.(json|pin|extra\.tar\.age|verify\.json|drill\.json|restored-[0-9a-f]+\.json)$/;

/** One snapshot as the store has it. */
export interface Entry {
  readonly id: string;
  readonly manifestKey: string;
  /** Left out when it cannot be read; then `problem` says why. */
  readonly manifest?: Manifest;
  readonly verification?: Verification;
  readonly pinned: boolean;
  /** The etcd cluster ids of restores from it. */
  readonly restoredAs: readonly string[];
  /** Why it is not whole: payload missing or of another size, manifest unreadable. */
  readonly problem?: string;
  /** Its manifest is of a newer agent: nothing can be said of it. */
  readonly newer?: true;
  /** Every object of this snapshot. */
  readonly objects: readonly StoredObject[];
}

/** Counts as verified: level `read` or higher, by the manifest or a later verification, and nothing speaks against it. */
export function isVerified({ manifest, verification, problem }: Entry): boolean {
  if (!manifest || problem || manifest.source.suspect?.length) return false;
  if (verification?.outcome === 'failed') return false;
  return [manifest.verified, verification?.outcome === 'verified' ? verification : undefined].some(
    (found) => found && found.level !== 'stream',
  );
}

export const pinKey = (cluster: string, id: string) => `${cluster}/${id}.pin`;
export const manifestKey = (cluster: string, id: string) => `${cluster}/${id}.json`;
export const verificationKeyOf = (manifestKey: string) => manifestKey.replace(/\.json$/, '.verify.json');
/** Says that an etcd with this cluster id was restored from the snapshot: retention's line of restores. */
export const restoreKey = (cluster: string, id: string, clusterId: string) =>
  `${cluster}/${id}.restored-${clusterId}.json`;

/** Objects under the cluster's prefix whose names are a snapshot's, by id. */
export async function groupObjects(
  store: Store,
  cluster: string,
  options: CallOptions,
): Promise<Map<string, StoredObject[]>> {
  const groups = new Map<string, StoredObject[]>();
  for await (const object of store.list(`${cluster}/`, options)) {
    const name = splitName(object.key.slice(cluster.length + 1));
    if (!name) continue;
    const group = groups.get(name.id);
    if (group) group.push(object);
    else groups.set(name.id, [object]);
  }
  return groups;
}

/** Every snapshot that has a manifest, the newest first. */
export async function readCatalog(store: Store, cluster: string, options: CallOptions = {}): Promise<Entry[]> {
  const groups = [...(await groupObjects(store, cluster, options))];
  const committed = groups.filter(([id, objects]) => objects.some(({ key }) => key === manifestKey(cluster, id)));
  const entries: (Entry | undefined)[] = [];
  for (let at = 0; at < committed.length; at += AT_ONCE) {
    const some = committed.slice(at, at + AT_ONCE);
    entries.push(...(await Promise.all(some.map(([id, objects]) => readEntry(store, cluster, id, objects, options)))));
  }
  return entries.filter((entry) => entry !== undefined).sort(newestFirst);
}

/** By the manifest's time: names only tell seconds. What has no readable manifest comes last. */
function newestFirst(a: Entry, b: Entry): number {
  const time = ({ manifest }: Entry) => (manifest ? Date.parse(manifest.createdAt) : 0);
  return time(b) - time(a) || b.id.localeCompare(a.id);
}

async function readEntry(
  store: Store,
  cluster: string,
  id: string,
  objects: readonly StoredObject[],
  options: CallOptions,
): Promise<Entry | undefined> {
  const has = (key: string) => objects.some((object) => object.key === key);
  const restored = objects.flatMap(({ key }) => /\.restored-([0-9a-f]+)\.json$/.exec(key)?.[1] ?? []);
  const common = {
    id,
    manifestKey: manifestKey(cluster, id),
    pinned: has(pinKey(cluster, id)),
    restoredAs: restored,
    objects,
  };
  const read = await readManifest(store, common.manifestKey, options);
  if (read === undefined) return undefined;
  if (typeof read === 'string') {
    if (read.startsWith(NEWER)) return { ...common, problem: read, newer: true };
    return isSnapshotId(id) ? { ...common, problem: read } : undefined;
  }
  if (read.id !== id) {
    // The manifest of an exact key without an ending.
    if (common.manifestKey === `${read.object.key}.json`) return undefined;
    return { ...common, problem: `its manifest is that of ${read.id}` };
  }
  const payload =
    objects.find(({ key }) => key === read.object.key) ?? (await elsewhere(store, cluster, read, options));
  const verificationKey = verificationKeyOf(common.manifestKey);
  const verification = has(verificationKey) ? await readVerification(store, verificationKey, options) : undefined;
  const own = objects.filter(({ key }) => isSnapshotId(id) || OWN.test(key.slice(cluster.length + 1 + id.length)));
  return {
    ...common,
    objects: payload ? [...own.filter(({ key }) => key !== payload.key), payload] : own,
    manifest: read,
    verification,
    problem: payloadProblem(read, payload?.size),
  };
}

/** An adopted file keeps its name, which need not begin with the id. */
async function elsewhere(
  store: Store,
  cluster: string,
  { object }: Manifest,
  options: CallOptions,
): Promise<StoredObject | undefined> {
  const name = object.key.slice(cluster.length + 1);
  if (!object.key.startsWith(`${cluster}/`) || name.includes('/')) return undefined;
  return store.stat(object.key, options);
}

export function payloadProblem(manifest: Manifest, size: number | undefined): string | undefined {
  if (size === undefined) return `its payload ${manifest.object.key} is missing`;
  const { sizeBytes } = manifest.object;
  return size === sizeBytes ? undefined : `its payload has ${size} bytes, not ${sizeBytes}`;
}

/** The manifest, or why it cannot be used, or undefined when it has gone meanwhile. */
export async function readManifest(
  store: Store,
  key: string,
  options: CallOptions,
): Promise<Manifest | string | undefined> {
  let text: string;
  try {
    text = await readText(store, key, options);
  } catch (error) {
    if (error instanceof AgentError && error.exitCode === ExitCode.nothingThere) return undefined;
    throw error;
  }
  const parsed = manifestSchema.safeParse(tryJson(text));
  const schema = (tryJson(text) as { schema?: unknown } | undefined)?.schema;
  if (typeof schema === 'string' && schema.startsWith(FAMILY) && schema !== MANIFEST_SCHEMA) {
    return `${NEWER}'${schema}'; this agent reads ${MANIFEST_SCHEMA}, use a newer one`;
  }
  return parsed.success && schema === MANIFEST_SCHEMA ? parsed.data : 'its manifest cannot be read';
}

/** A manifest as it was written, with the fields that a newer agent may have added. */
export async function readDocument(
  store: Store,
  key: string,
  options: CallOptions,
): Promise<Record<string, unknown> | undefined> {
  const document = tryJson(await readText(store, key, options));
  return typeof document === 'object' ? (document as Record<string, unknown>) : undefined;
}

async function readVerification(store: Store, key: string, options: CallOptions): Promise<Verification | undefined> {
  try {
    return verificationSchema.safeParse(tryJson(await readText(store, key, options))).data;
  } catch (error) {
    if (error instanceof AgentError && error.exitCode === ExitCode.nothingThere) return undefined;
    throw error;
  }
}

async function readText(store: Store, key: string, options: CallOptions): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of await store.get(key, options)) {
    length += chunk.length;
    if (length > MAX_DOCUMENT) return '';
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function tryJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Writes a small JSON document. */
export async function putJson(store: Store, key: string, document: unknown, options: CallOptions): Promise<void> {
  const bytes = Buffer.from(`${JSON.stringify(document, null, 2)}\n`);
  await store.put(
    key,
    (async function* () {
      yield bytes;
    })(),
    { ...options, sizeHint: bytes.length },
  );
}

/** The snapshot that is asked for: by id, or `latest`, the newest verified one. */
export function selectEntry(
  entries: readonly Entry[],
  id: string | undefined,
  where: string,
): Entry & { manifest: Manifest } {
  const nothing = (message: string) => new AgentError(ExitCode.nothingThere, message);
  const latest = !id || id === 'latest';
  const entry = latest ? entries.find(isVerified) : entries.find((candidate) => candidate.id === id);
  if (!entry)
    throw nothing(latest ? `${where} holds no verified snapshot` : `${where} holds no snapshot ${id}; see \`list\``);
  const { manifest } = entry;
  if (!manifest || entry.problem) {
    throw new AgentError(ExitCode.verificationFailed, `${entry.id}: ${entry.problem ?? messageOf('unreadable')}`);
  }
  return { ...entry, manifest };
}

/** The newest verified snapshot that was taken before a moment. */
export function selectBefore(entries: readonly Entry[], moment: Date, where: string): Entry & { manifest: Manifest } {
  const older = entries.filter(({ manifest }) => manifest && Date.parse(manifest.createdAt) < moment.getTime());
  const entry = older.find(isVerified);
  if (!entry?.manifest) {
    throw new AgentError(
      ExitCode.nothingThere,
      `${where} holds no verified snapshot from before ${moment.toISOString()}; see \`list\``,
    );
  }
  return { ...entry, manifest: entry.manifest };
}
