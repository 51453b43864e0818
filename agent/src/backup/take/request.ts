import type { Etcdutl } from '../../etcd/offline/etcdutl.ts';
import type { SnapshotStream } from '../../etcd/snapshot-stream.ts';
import type { AgentError } from '../../lib/errors.ts';
import type { Log } from '../../lib/log.ts';
import type { Progress } from '../../lib/terminal/progress.ts';
import type { RetentionSpec } from '../../store/retention-spec.ts';
import type { CallOptions, Store } from '../../store/store.ts';
import type { NamedCluster } from '../catalog/folder.ts';
import type { HashKV, Host, Level, Manifest } from '../catalog/manifest.ts';
import type { Names } from '../catalog/names.ts';
import type { ExtraRequest } from '../payload/extra.ts';
import type { Encoding } from './upload.ts';

export interface Target {
  readonly store: Store;
  readonly retention?: RetentionSpec;
}

/** Where a snapshot is stored, and how. */
export interface StoreRequest extends Encoding, NamedCluster {
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
  /** Milliseconds that the run may take in all. */
  readonly limit?: () => number;
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
  /** Why the snapshot is not under its key itself; its manifest leads to it all the same. */
  readonly keyError?: string;
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

/** What a store's folder holds: asked once a run, as the answer grows with the snapshots. */
export type List = (store: Store, options: CallOptions) => Promise<Names>;
