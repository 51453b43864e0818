import { createHash } from 'node:crypto';
import { basename } from 'node:path/posix';
import { AgentError, ExitCode } from '../../lib/errors.ts';
import type { Finding } from '../../lib/finding.ts';
import { budgetOf, type CallOptions, type Store, type StoredObject } from '../../store/store.ts';
import {
  asideKey,
  asUnusable,
  exactManifestKey,
  isOfExactKey,
  payloadProblem,
  readDocument,
  readManifest,
  readVerification,
  rewrittenProblem,
  verificationKeyOf,
} from '../catalog/catalog.ts';
import type { SnapshotManifest } from '../catalog/manifest.ts';
import { isSnapshotId } from '../catalog/snapshot-id.ts';
import { isRefused } from '../catalog/withdraw.ts';

/** Bytes a millisecond that a store gives out. */
const SLOWEST = (5 * 1024 * 1024) / 1000;

/** A manifest that cannot be used, and that `adopt` replaces. */
export interface Unfit {
  readonly sha256: string;
  /** Of one that fits the file but for the time at which it was written: that of its snapshot is known. */
  readonly createdAt?: Date;
}

/** Why the manifest at a key is not replaced. */
export interface Standing {
  readonly why: string;
  readonly finding?: Finding;
  /** It is that of the file as it is, so there is nothing to do. */
  readonly isDone?: boolean;
  /** It was written for another payload, and is replaced if `adopt` is run for the file. */
  readonly isForOther?: boolean;
}

export interface JudgeOptions extends CallOptions {
  /** Also replace a manifest that is intact, but does not fit the file. */
  readonly replacesIntact: boolean;
}

/**
 * Judges the manifest at a key: why it stands, or that the file's new manifest may replace it. Undefined if there is none, or one
 * of another payload.
 */
export async function judge(
  store: Store,
  at: string,
  object: StoredObject,
  options: JudgeOptions,
): Promise<Unfit | Standing | undefined> {
  const read = await readManifest(store, at, options);
  if (read === undefined) return undefined;
  if ('manifest' in read) return judgeIntact(store, at, read.manifest, object, options);
  if (read.unread) {
    const next = read.unread === 'refused' ? '; allow the agent to read it, or move it away' : '';
    return { why: `${at} may be its manifest, but cannot be used: ${read.problem}${next}` };
  }
  if (!isSnapshotId(basename(at, '.json')) && (await isOthers(store, at, options))) {
    return { why: `${at} is a file of another program, and has the name of its manifest; rename one of them` };
  }
  return unfit(store, at, options);
}

async function judgeIntact(
  store: Store,
  at: string,
  manifest: SnapshotManifest,
  object: StoredObject,
  { replacesIntact, ...options }: JudgeOptions,
): Promise<Unfit | Standing | undefined> {
  const { key, size } = object;
  const isExact = at === exactManifestKey(key);
  const isOwn = manifest.object.key === key;
  const hasOwnId = isExact || manifest.id === basename(at, '.json') || isOfExactKey(at, manifest);
  if (!isOwn && !isExact && hasOwnId) return undefined;
  const problem = hasOwnId
    ? isOwn && (payloadProblem(manifest, size) ?? (await contentProblem(store, manifest, options)))
    : `it is a manifest of the snapshot ${manifest.id}`;
  if (!problem && isOwn && (await isRewritten(store, at, manifest, object, options))) {
    return { ...(await unfit(store, at, options)), createdAt: new Date(manifest.createdAt) };
  }
  if (!problem) return { why: `it already has a manifest: ${at}`, isDone: true };
  // A suspect source stays suspect.
  if (isOwn && manifest.source.suspect?.length) {
    return { why: `${at} stands, because its source is suspect: ${manifest.source.suspect.join(', ')}` };
  }
  if (replacesIntact) return unfit(store, at, options);
  return { why: `${at} was written for another payload: ${problem}`, isForOther: true };
}

/** Whether only the time of the file speaks against it: somebody has touched it, or copied the store. */
async function isRewritten(
  store: Store,
  at: string,
  manifest: SnapshotManifest,
  object: StoredObject,
  options: CallOptions,
): Promise<boolean> {
  const beside = await Promise.all([at, verificationKeyOf(at)].map((key) => store.stat(key, options)));
  const objects = beside.filter((one) => one !== undefined);
  const found = await readVerification(store, verificationKeyOf(at), options).catch((error) => asUnusable(error));
  const verification = found && 'verification' in found ? found.verification : undefined;
  return rewrittenProblem({ manifestKey: at, manifest, objects, verification }, object) !== undefined;
}

/** Another snapshot may have the same size: databases are preallocated. */
async function contentProblem(
  store: Store,
  { object }: SnapshotManifest,
  options: CallOptions,
): Promise<string | undefined> {
  budgetOf(store).extend(object.sizeBytes / SLOWEST);
  const hash = createHash('sha256');
  for await (const chunk of await store.get(object.key, options)) hash.update(chunk);
  return hash.digest('hex') === object.sha256 ? undefined : 'its bytes are not those that were stored (sha256 differs)';
}

/** Whether it is an intact JSON document that this agent has not written. */
async function isOthers(store: Store, at: string, options: CallOptions): Promise<boolean> {
  const document = await readDocument(store, at, options);
  return document !== undefined && !String(document?.schema).startsWith('cdk8s-etcd/');
}

async function unfit(store: Store, at: string, options: CallOptions): Promise<Unfit> {
  const hash = createHash('sha256');
  for await (const chunk of await store.get(at, options)) hash.update(chunk);
  return { sha256: hash.digest('hex') };
}

const changed = (at: string) =>
  new AgentError(ExitCode.refused, `${at} was written meanwhile by another run and is kept; run the command again`);

/** Throws if the manifest is no longer the one that was judged. */
export async function refuseChanged(store: Store, at: string, { sha256 }: Unfit, options: CallOptions): Promise<void> {
  if ((await unfit(store, at, options)).sha256 !== sha256) throw changed(at);
}

/** Copies the manifest that will be replaced, and returns the key of the copy. Throws if it is no longer the same. */
export async function keepAside(store: Store, at: string, { sha256 }: Unfit, options: CallOptions): Promise<string> {
  const aside = asideKey(at, sha256);
  const body = async function* () {
    const hash = createHash('sha256');
    for await (const chunk of await store.get(at, options)) {
      hash.update(chunk);
      yield chunk;
    }
    // The put then leaves nothing behind.
    if (hash.digest('hex') !== sha256) throw changed(at);
  };
  const isCopied = async () =>
    (await store.stat(aside, options)) !== undefined && (await unfit(store, aside, options)).sha256 === sha256;
  await store.put(aside, body(), { ...options, onlyNew: true }).catch(async (error) => {
    if (!isRefused(error) || !(await isCopied())) throw error;
  });
  return aside;
}
