import type { Effect } from '../../src/reconcile/effect.ts';
import type { JobKind } from '../../src/reconcile/observed.ts';
import type { RecordDoc } from '../../src/reconcile/record.ts';
import type { AddRule, Cluster } from './etcd.ts';

/**
 * The abstract world: plain data, never changed in place, so that a step shares all that it leaves alone.
 * An id is a letter, `#` and a number, wherever it stands: `canonical` counts on it.
 *
 * Left out: time (a fact has just begun or is long true), raft below membership (a voter has all acknowledged writes
 * or lags far behind), the agent's own steps between nonce, permit, config and WAL (one step), TLS, auth, sizes other
 * than "room" and "no room", downgrades, and two of our reconcilers that both think they hold the lease for longer
 * than one call.
 */
export interface World {
  /** Number of the next id. */
  readonly seq: number;
  readonly spec?: Spec;
  /** What the CR's status says of the epoch: it outlives the record. */
  readonly statusEpoch?: number;
  readonly record?: { readonly doc: RecordDoc; readonly rv: string };
  readonly sts?: StatefulSet;
  readonly pods: readonly (Pod | null)[];
  readonly claims: readonly (Claim | null)[];
  readonly volumes: readonly (Volume | null)[];
  readonly clusters: readonly Cluster[];
  readonly jobs: readonly Job[];
  /** Snapshots that a restore can name. */
  readonly store: readonly Snapshot[];
  readonly restores: readonly Restore[];
  /** The reconciler that holds the lease, and what it keeps in memory. */
  readonly holder: string;
  readonly memory: Memory;
  /** The one call of a paused old holder that is still to come. */
  readonly late?: Effect;
  /** The reconciler's Deployment, or the namespace, is being deleted. */
  readonly going?: true;
  /** Volumes have no room for a second copy of the data. */
  readonly tight?: true;
  /** A volume that somebody detached and may attach again. */
  readonly shelf?: { readonly ordinal: number; readonly volume: Volume };
  readonly budget: Budget;
  readonly truth: Truth;
}

/** Lost with the process. */
export interface Memory {
  /** What HashKV compared last, and whether it was equal. */
  readonly hash?: { readonly of: string; readonly equal: boolean };
  /** Keys of effects that succeeded under the present op. */
  readonly done: readonly string[];
}

/** The EtcdCluster resource. */
export interface Spec {
  readonly uid: string;
  readonly rv: string;
  readonly size: number;
  readonly version: string;
  readonly paused?: true;
  readonly ephemeral?: true;
  readonly manual?: true;
  readonly force: readonly { ordinal: number; memberId: string; discardVolume?: boolean }[];
  readonly origin?: Snapshot;
  readonly recovery?: { id: string; acceptDataLoss: boolean; survivor?: number };
  readonly schedule: boolean;
  readonly requiredForUpgrade?: true;
  readonly onShrink?: 'Delete';
  readonly onDelete?: 'Delete';
  readonly finalBackup?: true;
  /** onNoSpace is Report. */
  readonly report?: true;
  readonly finalizer?: true;
  readonly deleting?: true;
  /** Another finalizer than ours keeps it. */
  readonly foreground?: true;
}

export interface StatefulSet {
  readonly replicas: number;
  readonly rv: string;
  /** The template: image version, a counter for any other change of it, and the annotation that the reconciler owns. */
  readonly version: string;
  readonly change: number;
  readonly floor: number;
  /** The annotation as the StatefulSet controller knows it: new pods get this one. */
  readonly seenFloor: number;
}

export interface Pod {
  readonly uid: string;
  readonly version: string;
  readonly change: number;
  readonly floor: number;
  /** `new`: before the gate's first look. `down`: the container etcd exits and is started again, with no way forward. */
  readonly state: 'new' | 'wait' | 'run' | 'stopped' | 'refused' | 'down';
  readonly reason?: string;
  readonly terminating?: true;
  /** etcd was started without a quorum and answers nobody until there is one. */
  readonly mute?: true;
  /** Its node is off: nothing runs, nobody answers, the API knows no more than before. */
  readonly cut?: true;
}

export interface Claim {
  readonly uid: string;
  readonly rv: string;
  readonly clusterUid?: string;
  readonly epoch?: number;
  readonly deleting?: true;
  /** On a node that is off for good: a pod that needs it stays Pending. */
  readonly dead?: true;
  /** Its volume was made on the node that holds the one of this ordinal. Default: each has a node. */
  readonly on?: number;
}

export interface Identity {
  readonly clusterUid: string;
  readonly epoch: number;
  readonly nonce: string;
  readonly permitId: string;
  readonly token: string;
  readonly mode: 'new' | 'existing' | 'restore';
  readonly memberId: string;
  readonly clusterId: string;
  readonly restoreId?: string;
  readonly version: string;
}

export interface Volume {
  readonly nonce?: string;
  readonly identity?: Identity;
  readonly wal?: Wal;
}

export interface Wal {
  readonly cluster: string;
  readonly member: string;
  /** Acknowledged writes that it has. */
  readonly at: number;
  /** Raft index of the newest snapshot. */
  readonly snapIndex: number;
}

export interface Job {
  readonly kind: JobKind;
  readonly uid: string;
  readonly op: string;
  readonly state: 'Running' | 'Succeeded' | 'Failed';
  readonly deleting?: true;
  /** Whose copy recovery and salvage take. */
  readonly survivor?: number;
  /** A snapshot in the store; for a restore Job, the one that it serves or is to serve. */
  readonly snapshot?: Snapshot;
  readonly serving?: true;
}

export interface Snapshot {
  readonly id: string;
  /** Acknowledged writes in it. */
  readonly writes: number;
  readonly bad?: true;
  /** Not taken by a Job of ours. */
  readonly foreign?: true;
  /** Other bytes under the same name. */
  readonly replaced?: true;
}

/** An EtcdRestore. */
export interface Restore {
  readonly name: string;
  readonly uid: string;
  readonly hash: string;
  readonly snapshot: Snapshot;
  readonly safetyBackup: boolean;
  readonly ignoreUnreachablePods: boolean;
  readonly phase?: 'Completed' | 'Failed';
}

/** What may still happen. Every kind of event takes one. */
export interface Budget {
  readonly faults: number;
  readonly edits: number;
  readonly writes: number;
  readonly late: number;
}

/** What the invariants need to know of the past. Nobody in the world reads it. */
export interface Truth {
  readonly rule: AddRule;
  /** Epochs in which a cluster began, each with the uid of its record. */
  readonly began: readonly string[];
  /** Clusters that a record ever called seeded: clients may have written to them. */
  readonly seeded: readonly string[];
  /** Broken by a step: found at once. */
  readonly violation?: string;
}
