import { AgentError, ExitCode, messageOf, remarkOf } from '../../lib/errors.ts';
import { type Remark, together } from '../../lib/finding.ts';
import type { CallOptions, Store } from '../../store/store.ts';
import {
  asUnusable,
  type Entry,
  exactManifestKey,
  IncompleteError,
  isAdopting,
  isValidKey,
  isVerified,
  payloadProblem,
  putJson,
  readManifest,
  readVerification,
  rewrittenProblem,
  stateOf,
  type Unusable,
  verificationKeyOf,
  type WholeEntry,
} from '../catalog/catalog.ts';
import { claim, isRefused } from '../catalog/claim.ts';
import type { SnapshotManifest } from '../catalog/manifest.ts';
import { timeOf } from '../catalog/passed-over.ts';
import { isSnapshotId } from '../catalog/snapshot-id.ts';
import { readStored } from '../payload/read-payload.ts';
import { type VerifyOptions, verifySnapshot } from '../payload/verify.ts';
import { clockForSweep } from '../retention/clock-difference.ts';
import { sinceOf, takenBy } from '../retention/superseded.ts';
import type { StoreRequest, TargetOutcome } from './request.ts';
import type { TargetRun } from './target-run.ts';

/** Reads the snapshot under an exact key. Throws unless the manifest and the payload exist. */
export async function readExactEntry(store: Store, key: string, options: CallOptions): Promise<WholeEntry> {
  const own = exactManifestKey(key);
  const read = await readManifest(store, own, options);
  const where = `${store.url}: ${key}`;
  if (read === undefined) throw new AgentError(ExitCode.nothingThere, `${where} has no manifest ${own} beside it`);
  const incomplete = async (problem: string, entry: Pick<Entry, 'manifest'> & Pick<Unusable, 'unread'>) => {
    const exitCode = entry.unread === 'refused' ? ExitCode.storeRefused : ExitCode.verificationFailed;
    const found = await Promise.all([key, own].map((each) => store.stat(each, options).catch(() => undefined)));
    const objects = found.filter((object) => object !== undefined);
    const state = stateOf({ ...entry, problem });
    const common = { id: key, manifestKey: own, pinned: false, restoredAs: [], objects, problem, state };
    return new IncompleteError(exitCode, `${where}: ${problem}`, { ...common, manifest: entry.manifest });
  };
  if ('problem' in read) throw await incomplete(read.problem, { unread: read.unread });
  const { manifest } = read;
  const { object, extra } = manifest;
  const invalid = [object.key, ...(extra ? [extra.key] : [])].find((each) => !isValidKey(each));
  if (invalid !== undefined) {
    const problem = `its manifest names ${JSON.stringify(invalid)}, which is not a valid key`;
    throw new AgentError(ExitCode.verificationFailed, `${where}: ${problem}`);
  }
  const payload = await store.stat(object.key, options);
  const about = payload && manifest.source.clusterId === 'unknown' ? [own, verificationKeyOf(own)] : [];
  const objects = (await Promise.all(about.map((each) => store.stat(each, options)))).filter(
    (each) => each !== undefined,
  );
  const found = await readVerification(store, verificationKeyOf(own), options).catch((error) => asUnusable(error));
  const verification = found && 'verification' in found ? found.verification : undefined;
  const problem =
    payloadProblem(manifest, payload?.size) ??
    rewrittenProblem({ manifestKey: own, manifest, objects, verification }, payload);
  if (problem) throw await incomplete(problem, { manifest });
  const { id } = manifest;
  // Without the right to list, a store also refuses to return objects that do not exist.
  const away = found && 'problem' in found && found.unread !== 'refused' ? found : undefined;
  const facts = { manifest, verification: verification?.id === id ? verification : undefined, problem: away?.problem };
  const state = stateOf({ ...facts, unread: away?.unread });
  return { id, manifestKey: own, ...facts, state, pinned: false, restoredAs: [], objects: [] };
}

const sinceWhen = ({ manifest: { sameEtcdSince } }: WholeEntry) => Date.parse(sameEtcdSince ?? '');

const isIncomplete = (error: unknown): boolean =>
  error instanceof IncompleteError || (error instanceof AgentError && error.exitCode === ExitCode.nothingThere);

/** Where a snapshot lies until it is moved to its exact key. No other run uses this name. */
export const besideKey = (key: string, id: string) => `${key}.${id}`;

const taken = (store: Store, key: string) =>
  new AgentError(ExitCode.refused, `${key} exists in ${store.url}`, {
    ...{ at: 'objectKey', finding: { kind: 'keyTaken' } },
  });

export async function refuseExisting(store: Store, key: string, options: CallOptions): Promise<void> {
  for (const each of [key, exactManifestKey(key)]) if (await store.stat(each, options)) throw taken(store, each);
}

/**
 * Writes the manifest beside the exact key, and returns it. From then on, the key leads to the snapshot, wherever the payload
 * lies.
 */
export async function commitExactKey(
  store: Store,
  manifest: SnapshotManifest,
  key: string,
  { overwrite, signal }: { overwrite: boolean; signal: AbortSignal },
): Promise<SnapshotManifest> {
  if (!overwrite) {
    if (await claim(store, exactManifestKey(key), manifest, { signal })) return manifest;
    throw taken(store, key);
  }
  const since = sinceOf(manifest, await manifestAt(store, key, { signal }));
  const committed = { ...manifest, ...(since !== undefined && { sameEtcdSince: since }) };
  await putJson(store, exactManifestKey(key), committed, { signal });
  return committed;
}

export interface MoveOptions extends Pick<VerifyOptions, 'level' | 'scratch' | 'etcdutl'> {
  readonly overwrite: boolean;
  readonly signal: AbortSignal;
}

/**
 * Copies a committed snapshot to the exact key itself. The payload beside the key, and the manifest that leads there, stay
 * until the copy was read back. A kill or damage at any point therefore leaves a complete snapshot under the key.
 *
 * Several runs may replace the key at the same time. If a run finds that another one replaced the key, and its own put may
 * have overwritten the payload that the manifest names, it points the manifest at the payload that it has beside the key.
 *
 * No store can write an object only if nobody else wrote it meanwhile. One race remains: a newer snapshot loses the key if it
 * is written, read back and completed between the last check of an older run and the end of that run's put.
 */
export async function moveToKey(
  store: Store,
  beside: SnapshotManifest,
  key: string,
  options: MoveOptions,
): Promise<void> {
  const { overwrite, level, signal } = options;
  await refuseReplaced(store, beside, key, signal);
  const { etag: _, parts: __, ...object } = beside.object;
  const moved = { ...beside, object: { ...object, key } };
  let refusal: unknown;
  let hasPut = true;
  // A transfer takes long, so check again at its end: an error in the body prevents the put.
  const body = (async function* () {
    try {
      yield* readStored(store, beside, { signal });
      await refuseReplaced(store, beside, key, signal);
    } catch (error) {
      hasPut = false;
      throw error;
    }
  })();
  try {
    const put = await store
      .put(key, body, { signal, sizeHint: object.sizeBytes, onlyNew: !overwrite })
      .catch((error) => {
        if (!isRefused(error)) throw error;
        // The body itself may have thrown the refusal.
        if (!hasPut) throw error;
        refusal = error;
      });
    await verifySnapshot(store, moved, { ...options, level: level === 'stream' && put ? level : 'read' }).catch(
      (error) => {
        // An earlier attempt of the same request may have stored the same bytes, so a refusal counts only if they
        // differ.
        throw refusal ?? error;
      },
    );
    await refuseReplaced(store, beside, key, signal);
    await putJson(store, exactManifestKey(key), { ...moved, object: { ...moved.object, ...put } }, { signal });
    // Another run may have replaced the payload since: modification times are too coarse to show that.
    if (overwrite) await verifySnapshot(store, moved, { ...options, level: 'read' });
    await refuseReplaced(store, beside, key, signal);
  } catch (error) {
    await leadBeside(store, beside, key, hasPut && refusal === undefined).catch((failure) => {
      const { message, at, finding } = remarkOf(error);
      throw new AgentError(
        ExitCode.storeUnreachable,
        `${message}; the manifest of ${key} could not be pointed at ${beside.object.key}: ${messageOf(failure)}`,
        { at, finding },
      );
    });
    throw error;
  }
  await store.delete(beside.object.key, { signal });
}

/** Moves a committed snapshot to its exact key, or returns why it stays beside the key. */
export async function finishKey(
  run: TargetRun,
  beside: SnapshotManifest,
  key: string,
  request: StoreRequest,
): Promise<Pick<TargetOutcome, 'keyError'>> {
  const { store } = run.target;
  try {
    await moveToKey(store, beside, key, { ...request, signal: run.context.signal });
    return {};
  } catch (error) {
    const { message, at, finding } = run.failureAfter(key, error);
    const there = await whereItIs(store, beside, key);
    return { keyError: { message: `${message}; ${there.message}`, at, finding: together(there.finding, finding) } };
  }
}

/** Milliseconds. The run may have ended because of its own signal, so that is not used. */
const DEADLINE = 10_000;

/**
 * Points the manifest of the key at the payload beside it. With `hasPut`, also if the manifest is that of another run: it may
 * lead to the payload that this run overwrote.
 */
async function leadBeside(store: Store, beside: SnapshotManifest, key: string, hasPut: boolean): Promise<void> {
  const options = { signal: AbortSignal.timeout(DEADLINE) };
  const there = await manifestAt(store, key, options);
  const isOurs = there?.id === beside.id;
  const isElsewhere = there !== undefined && there.object.key !== key;
  if (isOurs ? there.object.key !== beside.object.key : hasPut && !isElsewhere) {
    await putJson(store, exactManifestKey(key), beside, options);
  }
}

/** Describes where a snapshot is that could not be moved to its key. */
export async function whereItIs(store: Store, beside: SnapshotManifest, key: string): Promise<Remark> {
  const options = { signal: AbortSignal.timeout(DEADLINE) };
  const there = await manifestAt(store, key, options).catch(() => undefined);
  if (there?.id === beside.id) {
    return { message: `the snapshot stays at ${there.object.key}`, finding: { kind: 'keyFinds' } };
  }
  if (!there) return { message: `the snapshot stays at ${beside.object.key}` };
  return {
    message: `the snapshot of another run is under the key; this one is at ${beside.object.key}, until a later run finds it superseded`,
  };
}

async function manifestAt(store: Store, key: string, options: CallOptions): Promise<SnapshotManifest | undefined> {
  const read = await readManifest(store, exactManifestKey(key), options);
  return read && 'manifest' in read ? read.manifest : undefined;
}

async function refuseReplaced(store: Store, { id }: SnapshotManifest, key: string, signal: AbortSignal): Promise<void> {
  if ((await manifestAt(store, key, { signal }))?.id === id) return;
  throw new AgentError(
    ExitCode.refused,
    `another run replaced ${key} in ${store.url} at the same time; start the backup again`,
    { at: 'objectKey' },
  );
}

/**
 * Deletes payloads that killed runs left beside a key, and that are older than `age` milliseconds. Any of them may be good, so
 * one is deleted only if the key leads to a newer verified snapshot, and has led to those of the same etcd since before; and if
 * no manifest in `named` or of its own needs it.
 */
export async function sweepBeside(
  store: Store,
  key: string,
  age: number,
  named: ReadonlySet<string> | undefined,
  options: CallOptions,
): Promise<string[]> {
  const swept: string[] = [];
  // `sweep` has warned of a clock that cannot be read, or differs.
  const now = await clockForSweep({ store, signal: options.signal });
  if (!now || !named) return swept;
  for await (const object of store.list(`${key}.`, options)) {
    const id = object.key.slice(key.length + 1);
    if (!isSnapshotId(id) || named.has(object.key)) continue;
    if (!(now.getTime() - object.modified.getTime() >= age)) continue;
    const leading = await readExactEntry(store, key, options).catch((error) => {
      if (!isIncomplete(error)) throw error;
    });
    if (!leading || leading.manifest.object.key === object.key) continue;
    const takenAt = takenBy({ id, objects: [object] });
    if (!isVerified(leading) || !(sinceWhen(leading) <= takenAt && takenAt < timeOf(leading))) continue;
    if (await store.stat(exactManifestKey(object.key), options)) continue;
    if (await isAdopting(store, [object], now.getTime(), options)) continue;
    if ((await store.delete(object.key, options)) === 'deleted') swept.push(object.key);
  }
  return swept;
}
