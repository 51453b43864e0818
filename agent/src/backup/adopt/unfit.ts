import { createHash } from 'node:crypto';
import { basename } from 'node:path/posix';
import { AgentError, ExitCode } from '../../lib/errors.ts';
import type { CallOptions, Store, StoredObject } from '../../store/store.ts';
import { asideKey, exactManifestKey, payloadProblem, readDocument, readManifest } from '../catalog/catalog.ts';
import { isRefused } from '../catalog/claim.ts';
import { isSnapshotId } from '../catalog/snapshot-id.ts';

/** A manifest that cannot be used, and that `adopt` replaces. */
export interface Unfit {
  readonly sha256: string;
}

/**
 * Judges the manifest at a key: why it stands, or that the file's new manifest may replace it, as it is damaged or was written
 * for a payload of another size. Undefined if there is none, or one of another payload.
 */
export async function judge(
  store: Store,
  at: string,
  { key, size }: StoredObject,
  options: CallOptions,
): Promise<Unfit | { readonly why: string } | undefined> {
  const read = await readManifest(store, at, options);
  if (read === undefined) return undefined;
  if ('manifest' in read) {
    const { manifest } = read;
    const isOwn = manifest.object.key === key;
    if (!isOwn && at !== exactManifestKey(key)) return undefined;
    // A suspect source stays suspect.
    const stands = !isOwn || payloadProblem(manifest, size) === undefined || manifest.source.suspect?.length;
    return stands ? { why: `it already has a manifest: ${at}` } : unfit(store, at, options);
  }
  if (read.unread) return { why: `${at} may be its manifest, but cannot be used: ${read.problem}` };
  if (!isSnapshotId(basename(at, '.json')) && (await isOthers(store, at, options))) {
    return { why: `${at} is a file of another program, and has the name of its manifest; rename one of them` };
  }
  return unfit(store, at, options);
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
