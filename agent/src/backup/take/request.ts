import type { Etcdutl } from '../../etcd/offline/etcdutl.ts';
import type { SnapshotStream } from '../../etcd/snapshot-stream.ts';
import type { AgentError } from '../../lib/errors.ts';
import type { Remark } from '../../lib/finding.ts';
import type { Budget } from '../../lib/limits/budget.ts';
import type { Log } from '../../lib/log.ts';
import type { Progress } from '../../lib/terminal/progress.ts';
import type { RetentionSpec } from '../../store/retention-spec.ts';
import type { StoreSpec } from '../../store/spec.ts';
import type { Store } from '../../store/store.ts';
import type { NamedCluster } from '../catalog/identity/folder.ts';
import type { HashKV, Host, Level, SnapshotManifest } from '../catalog/manifest.ts';
import type { ExtraRequest } from '../payload/extra.ts';
import type { Kept } from '../retention/retention.ts';
import type { Encoding } from './fan-out.ts';

export interface BackupTarget {
  readonly store: Store;
  readonly retention?: RetentionSpec;
  /** What the store was opened by. */
  readonly spec?: StoreSpec;
}

/** Where and how a snapshot is stored. */
export interface StoreRequest extends Encoding, NamedCluster {
  readonly targets: readonly BackupTarget[];
  /** age identities. Needed only for level `open` of an encrypted snapshot. */
  readonly identities?: readonly string[];
  /** A strftime pattern for the name of an export in the folder. */
  readonly fileName?: string;
  /** IANA name of the time zone of `fileName`. */
  readonly fileNameTimeZone: string;
  /** The key of an export, anywhere in the store. Retention keeps the newest snapshot under it. */
  readonly key?: string;
  /** Replace what is under `key` even if it is not an export. */
  readonly overwrite: boolean;
  /** How thoroughly the stored payload is verified before the manifest is written. */
  readonly level: Level;
  readonly trigger: string;
  /** Files of this machine, stored beside the snapshot. */
  readonly extra?: ExtraRequest;
  /** Description of this machine for the manifest. */
  readonly host?: Host;
  /** Id of the request. If a snapshot was already stored for it, that one is reported and none is taken. */
  readonly request?: string;
  /** Milliseconds after which a sound snapshot of the same request is not reported any more. */
  readonly requestAge?: number;
  readonly restoredFrom: readonly string[];
  /** Lifts the limit on deletions per run. */
  readonly force: boolean;
  /** Reads the ids of snapshots that retention keeps. They may change while the backup is taken. */
  readonly keep?: () => Promise<Kept | undefined>;
  /** Milliseconds after which leftovers of dead runs are deleted. */
  readonly sweepAge: number;
  readonly scratch: string;
  readonly etcdutl: Etcdutl;
  readonly agentVersion: string;
}

export interface RunContext {
  readonly log: Log;
  readonly progress: Progress;
  readonly signal: AbortSignal;
  /** Called when the size of the database, in bytes, is known. */
  readonly onSize?: (dbSize: number) => void;
  readonly budget: Budget;
}

export interface TargetOutcome {
  readonly store: string;
  readonly key?: string;
  readonly verified?: Level;
  readonly error?: AgentError;
  readonly deleted?: readonly string[];
  readonly retained?: readonly string[];
  readonly deferred?: number;
  /** Number of snapshots that the store has now. Undefined if retention did not run. */
  readonly kept?: number;
  /** Why retention could not delete anything. */
  readonly veto?: Remark | undefined;
  /** Why it could not be exported. The snapshot was stored. */
  readonly keyError?: Remark | undefined;
  /** Why retention failed. The snapshot was stored. */
  readonly retentionError?: Remark | undefined;
}

/** The source of a snapshot, as its manifest describes it. Disposing closes the connection. */
export interface Origin extends Disposable {
  readonly source: SnapshotManifest['source'];
  readonly members?: SnapshotManifest['members'];
  readonly hashKV?: HashKV;
  readonly comparison: string;
  /** Revision of the data when the snapshot was requested. The snapshot may hold newer revisions. */
  readonly revision: number;
  readonly open: () => Promise<SnapshotStream>;
}

export interface BackupOutcome {
  readonly manifest: SnapshotManifest;
  readonly targets: readonly TargetOutcome[];
  readonly degraded: readonly string[];
  readonly comparison: string;
  /** Undefined for some snapshots that an earlier run took. */
  readonly revision: number | undefined;
}
