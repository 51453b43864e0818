import { AgentError, ExitCode, messageOf } from '../errors.ts';
import type { Etcdutl } from '../etcd/etcdutl.ts';
import type { SnapshotStream } from '../etcd/snapshot-stream.ts';
import type { Log } from '../log.ts';
import type { Progress } from '../progress.ts';
import type { Store } from '../store/store.ts';
import { type Entry, readCatalog } from './catalog.ts';
import { commit } from './commit.ts';
import { extensions } from './compression.ts';
import { discard } from './discard.ts';
import { ENCRYPTED } from './encryption.ts';
import { refuseExisting } from './exact-key.ts';
import { describeExtra, type ExtraRequest, type PackedExtra, packExtra } from './extra.ts';
import { formatFileName, freeFileName } from './file-name.ts';
import { lineageOf } from './lineage.ts';
import { type HashKV, type Host, type Level, MANIFEST_SCHEMA, type Manifest } from './manifest.ts';
import type { RetentionSpec } from './retention-spec.ts';
import { newSnapshotId } from './snapshot-id.ts';
import { sweep } from './sweep.ts';
import { takenAlready } from './taken-already.ts';
import { type Encoding, type Uploaded, upload } from './upload.ts';

export interface Target {
  readonly store: Store;
  readonly retention?: RetentionSpec;
}

/** Where a snapshot is stored, and how. */
export interface StoreRequest extends Encoding {
  readonly cluster: string;
  readonly namespace?: string;
  readonly targets: readonly Target[];
  /** age identities, only for level `open` of what is encrypted. */
  readonly identities?: readonly string[];
  /** A strftime pattern for names of the caller's own. */
  readonly fileName?: string;
  /** An IANA name. */
  readonly fileNameTimeZone: string;
  /** Store it under just this key, out of retention's reach. */
  readonly key?: string;
  /** Replace what is under `key`, once the new one is whole. */
  readonly overwrite: boolean;
  /** How far what was stored is verified before the manifest is written. */
  readonly level: Level;
  readonly trigger: string;
  /** Files of this machine, stored beside the snapshot. */
  readonly extra?: ExtraRequest;
  /** What is known of this machine. */
  readonly host?: Host;
  /** A snapshot that was stored for the same request is the outcome: none is taken again. */
  readonly request?: string;
  readonly restoredFrom: readonly string[];
  /** Lifts the limit of deletions a run. */
  readonly force: boolean;
  /** Milliseconds after which the rests of dead runs are removed. */
  readonly sweepAge: number;
  readonly scratch: string;
  readonly etcdutl: Etcdutl;
  readonly agentVersion: string;
}

export interface RunContext {
  readonly log: Log;
  readonly progress: Progress;
  readonly signal: AbortSignal;
  /** Called once the database's size in bytes is known. */
  readonly onSize?: (dbSize: number) => void;
}

export interface TargetOutcome {
  readonly store: string;
  readonly key?: string;
  readonly verified?: Level;
  readonly error?: AgentError;
  readonly deleted?: readonly string[];
  readonly retained?: readonly string[];
  readonly deferred?: number;
  /** How many snapshots the store has now; only where retention ran. */
  readonly kept?: number;
  /** Why retention could delete nothing at all. */
  readonly veto?: string;
  /** Why the snapshot is kept although retention failed. */
  readonly retentionError?: string;
}

/** A snapshot to be stored, and what its manifest says of where it is from. */
export interface Origin {
  readonly source: Manifest['source'];
  readonly members?: Manifest['members'];
  readonly hashKV?: HashKV;
  readonly comparison: string;
  /** Of the data when they were asked for; the snapshot may hold more. */
  readonly revision: number;
  readonly open: () => Promise<SnapshotStream>;
}

/** Finds the origin, and keeps it open while it is used. */
export type WithOrigin = <T>(use: (origin: Origin) => Promise<T>) => Promise<T>;

export interface BackupOutcome {
  readonly manifest: Manifest;
  readonly targets: readonly TargetOutcome[];
  readonly degraded: readonly string[];
  readonly comparison: string;
  /** Not known of every snapshot that was taken before. */
  readonly revision: number | undefined;
}

/** Puts one snapshot into every target. Throws when no target has it in the end. */
export async function storeSnapshot(
  request: StoreRequest,
  context: RunContext,
  withOrigin: WithOrigin,
): Promise<BackupOutcome> {
  const { targets } = request;
  const startedAt = new Date();
  const failures = new Map<Target, AgentError>();
  const attempt = async <T>(target: Target, work: () => Promise<T>): Promise<T | undefined> => {
    if (failures.has(target)) return undefined;
    try {
      return await work();
    } catch (error) {
      context.signal.throwIfAborted();
      failures.set(
        target,
        error instanceof AgentError ? error : new AgentError(ExitCode.unexpected, messageOf(error), { cause: error }),
      );
      context.log.error({ store: target.store.url }, messageOf(error));
      if (failures.size === targets.length) throw [...failures.values()][0];
      return undefined;
    }
  };

  const extra = request.extra && (await packExtra(request.extra));
  context.progress.phase('sweep', 'looking at the store');
  const earlier = request.request === undefined ? undefined : await takenAlready(request, request.request, context);
  if (earlier) return earlier;
  const catalogs: (Entry[] | undefined)[] = [];
  for (const target of targets) catalogs.push(await attempt(target, () => prepare(target, request, context)));

  return withOrigin(async (origin) => {
    const open = targets.filter((target) => !failures.has(target));
    const id = await nameSnapshot(request, open, startedAt, context.signal);
    const key = payloadKey(request, id);

    context.progress.phase('stream', `snapshot of ${origin.source.endpoint}`);
    const stream = await origin.open();
    const uploaded = await upload(
      stream,
      open.map(({ store }) => store),
      key,
      request,
      {
        signal: context.signal,
        onBytes: (bytes) => context.progress.bytes(bytes, stream.expectedBytes),
      },
    );

    const manifest = describe(request, origin, stream, uploaded, {
      id,
      key,
      startedAt,
      extra,
      lineage: lineageOf(catalogs.find(Boolean) ?? [], origin.source.clusterId, request.restoredFrom),
    });

    const outcomes = new Map<Target, TargetOutcome>();
    for (const [index, target] of open.entries()) {
      const put = uploaded.outcomes[index]!;
      const outcome = await attempt(target, async () => {
        if (put instanceof Error) throw put;
        return commit(target, { ...manifest, object: { ...manifest.object, ...put } }, request, context, extra?.bytes);
      }).catch(async (error) => {
        // The run is over: nobody will commit what the other stores have.
        const rest = open.filter((_, at) => at > index && !(uploaded.outcomes[at] instanceof Error));
        await Promise.all(rest.map(({ store }) => discard(store, key)));
        throw error;
      });
      if (outcome) outcomes.set(target, outcome);
    }
    return {
      manifest,
      targets: targets.map(
        (target) => outcomes.get(target) ?? { store: target.store.url, error: failures.get(target) },
      ),
      degraded: origin.source.alarms.filter((alarm) => alarm === 'NOSPACE'),
      comparison: origin.comparison,
      revision: origin.revision,
    };
  });
}

async function nameSnapshot(
  { fileName, fileNameTimeZone, cluster }: StoreRequest,
  targets: readonly Target[],
  now: Date,
  signal: AbortSignal,
): Promise<string> {
  if (!fileName) return newSnapshotId(now);
  const stores = targets.map(({ store }) => store);
  return freeFileName(formatFileName(fileName, now, fileNameTimeZone), cluster, stores, { signal });
}

function payloadKey({ cluster, compression, recipients = [], key, overwrite }: StoreRequest, id: string): string {
  if (!key) return `${cluster}/${id}${extensions[compression]}${recipients.length > 0 ? ENCRYPTED : ''}`;
  return overwrite ? `${key}.${id}` : key;
}

async function prepare({ store }: Target, request: StoreRequest, context: RunContext): Promise<Entry[]> {
  if (request.key && !request.overwrite) await refuseExisting(store, request.key, context);
  const swept = await sweep(store, request.cluster, request.sweepAge, context);
  if (swept.length > 0) context.log.info({ store: store.url, swept }, 'removed what dead runs left');
  return readCatalog(store, request.cluster, context);
}

function describe(
  request: StoreRequest,
  { source, members, hashKV }: Origin,
  stream: SnapshotStream,
  uploaded: Uploaded,
  named: { id: string; key: string; startedAt: Date; lineage: string[]; extra?: PackedExtra },
): Manifest {
  const finishedAt = new Date();
  const { id, key, startedAt, lineage, extra } = named;
  const { compression, recipients = [] } = request;
  return {
    schema: MANIFEST_SCHEMA,
    id,
    createdAt: startedAt.toISOString(),
    cluster: { name: request.cluster, namespace: request.namespace, ...(lineage.length > 0 && { lineage }) },
    source: { ...source, storageVersion: stream.storageVersion },
    members,
    host: request.host,
    extra: extra && describeExtra(extra, request.cluster, id),
    content: { ...uploaded.content, hashKV },
    object: {
      key,
      sizeBytes: uploaded.sizeBytes,
      sha256: uploaded.sha256,
      compression,
      ...(recipients.length > 0 && { encryption: { recipients: [...recipients] } }),
    },
    timing: {
      startedAt: startedAt.toISOString(),
      finishedAt: finishedAt.toISOString(),
      seconds: (finishedAt.getTime() - startedAt.getTime()) / 1000,
    },
    trigger: request.trigger,
    ...(request.request && { request: request.request }),
    agent: { version: request.agentVersion },
  };
}
