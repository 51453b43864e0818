import { createHash } from 'node:crypto';
import { basename } from 'node:path/posix';
import { AgentError, ExitCode } from '../errors.ts';
import type { CallOptions, Store, StoredObject } from '../store/store.ts';
import { type Entry, manifestKey, putJson } from './catalog.ts';
import { ENCRYPTED } from './encryption.ts';
import { exactManifestKey } from './exact-key.ts';
import { type ExamineOptions, examine } from './examine.ts';
import { MANIFEST_SCHEMA, type Manifest } from './manifest.ts';
import { timeInName } from './name-time.ts';
import { isSnapshotId, splitName } from './snapshot-id.ts';

/** Beyond this the name's time and the store's are two different things: a local time, or a file that was moved. */
const SAME_TIME = 5 * 60_000;

const SNAPSHOT_NAME = /\.(db|snap|snapshot)(\.gz|\.zst)?(\.age)?$/;

export interface AdoptContext extends ExamineOptions {
  readonly store: Store;
  readonly cluster: string;
  readonly namespace?: string;
  readonly agentVersion: string;
  /** Every snapshot of the cluster that has a manifest. */
  readonly entries: readonly Entry[];
}

/** A file that is to become a snapshot. */
export interface Found {
  readonly object: StoredObject;
  readonly id: string;
  readonly manifestKey: string;
}

export interface Adopted {
  readonly manifest: Manifest;
  readonly revision: number;
  readonly warning?: string;
}

/** The files of the cluster's folder that look like snapshots, have no manifest, and are no rest of a dead run of ours. */
export async function findForeign({ store, cluster, entries }: AdoptContext, options: CallOptions): Promise<Found[]> {
  const all: StoredObject[] = [];
  for await (const object of store.list(`${cluster}/`, options)) all.push(object);
  const keys = new Set(all.map(({ key }) => key));
  return all
    .filter(({ key }) => {
      const name = key.slice(cluster.length + 1);
      if (name.includes('/') || !SNAPSHOT_NAME.test(name) || isSnapshotId(stemOf(name))) return false;
      return !keys.has(exactManifestKey(key)) && !entries.some(({ manifest }) => manifest?.object.key === key);
    })
    .map((object) => place(object, cluster, keys))
    .sort((a, b) => a.object.key.localeCompare(b.object.key));
}

/** One file by its key; undefined when it has a manifest already. */
export async function findByKey(
  key: string,
  { store, cluster, entries }: AdoptContext,
  options: CallOptions,
): Promise<Found | undefined> {
  const object = await store.stat(key, options);
  if (!object) throw new AgentError(ExitCode.nothingThere, `${store.url} has no ${key}`);
  if (entries.some(({ manifest }) => manifest?.object.key === key)) return undefined;
  if (await store.stat(exactManifestKey(key), options)) return undefined;
  const keys = new Set<string>();
  for await (const other of store.list(`${cluster}/`, options)) keys.add(other.key);
  const found = place(object, cluster, keys);
  const stem = stemOf(basename(key));
  if (isSnapshotId(stem) && found.id !== stem && isOrdinary(key, cluster)) {
    throw new AgentError(ExitCode.refused, `${key} bears the name of the snapshot ${stem}; give it a name of its own`);
  }
  return found;
}

const isOrdinary = (key: string, cluster: string) =>
  key.startsWith(`${cluster}/`) && !key.slice(cluster.length + 1).includes('/');

const stemOf = (name: string) => name.replace(SNAPSHOT_NAME, '').replace(/(\.gz|\.zst)?(\.age)?$/, '');

/** In the cluster's folder it becomes an ordinary snapshot, anywhere else one under an exact key. */
function place(object: StoredObject, cluster: string, keys: ReadonlySet<string>): Found {
  const { key } = object;
  const name = basename(key);
  const stem = stemOf(name);
  const cleaned = stem.replaceAll(/[^A-Za-z0-9_+-]+/g, '-').replace(/^[^A-Za-z0-9]+/, '');
  const distinct = `${cleaned || 'adopted'}-${hashOf(key)}`;
  if (!isOrdinary(key, cluster)) return { object, id: distinct, manifestKey: exactManifestKey(key) };
  // A name with a dot or a colon is no id, and two files may differ in their endings only.
  const rival = [...keys].some((other) => other !== key && stemOf(other) === stemOf(key) && SNAPSHOT_NAME.test(other));
  const free = splitName(`${stem}.`)?.id === stem && !rival && !keys.has(manifestKey(cluster, stem));
  const id = free ? stem : distinct;
  return { object, id, manifestKey: manifestKey(cluster, id) };
}

const hashOf = (key: string) => createHash('sha256').update(key).digest('hex').slice(0, 6);

/** Checks a file and says what its manifest would be. */
export async function describeForeign({ object, id }: Found, context: AdoptContext): Promise<Adopted> {
  const startedAt = new Date();
  const { key } = object;
  const encoding = encodingOf(key);
  const { content, stored, revision, storageVersion } = await examine(context.store, object, encoding, context);
  const finishedAt = new Date();
  const { createdAt, warning } = dateOf(basename(key), object.modified);
  const manifest: Manifest = {
    schema: MANIFEST_SCHEMA,
    id,
    createdAt: createdAt.toISOString(),
    cluster: { name: context.cluster, namespace: context.namespace },
    source: { clusterId: 'unknown', storageVersion, alarms: [] },
    content,
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

/** Names in local time are common, and then only the store's time orders them with the others. */
export function dateOf(name: string, modified: Date): { createdAt: Date; warning?: string } {
  const named = timeInName(name);
  if (!named) return { createdAt: modified };
  if (Math.abs(named.getTime() - modified.getTime()) <= SAME_TIME) return { createdAt: named };
  const time = (date: Date) => date.toISOString().replace(/\.\d+Z$/, 'Z');
  return {
    createdAt: modified,
    warning: `its name says ${time(named)}, the store ${time(modified)}: the store's time is taken`,
  };
}
