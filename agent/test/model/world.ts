import type { Effect } from '../../src/controllers/cluster/effect.ts';
import type { JobKind } from '../../src/controllers/cluster/observed.ts';
import type { RecordDoc } from '../../src/protocol/record.ts';
import type { AddRule, Cluster } from './etcd.ts';

/**
 * The abstract world: plain data, never changed in place, so that a step shares all that it leaves alone.
 * An id is a letter, `#` and a number, wherever it stands: `canonical` counts on it.
 *
 * Left out, each of which may hide something:
 * - time: a fact has just begun or is long true;
 * - raft below membership: a voter has all acknowledged writes or lags far behind;
 * - the agent's own steps between volumeId, permit, config and WAL, which are one, and its polls of the record: it knows the newest;
 * - torn reads of more than two instants: what a pass saw first is of one, the rest of another, with any steps between them;
 * - a second reconciler beside the holder but for its late calls, each planned on what it saw, two at most: one that wakes
 *   carries out no more than one, as it has lost the lease;
 * - which pods a disruption budget counts: it has room, or it refuses whatever it is asked;
 * - images of another version than their template says, but for another patch of the same minor whose tag says so;
 * - clients of a seed that is not seeded: none of the Services that they use leads to a member that is not ready;
 * - a gate's misses of the record at any other look than those that `noApi` spoils, one for each fault;
 * - the domain of the member names, but for that a cluster's may be another than its members' (`renamed`);
 * - TLS, auth, downgrades, sizes other than "room" and "no room".
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
  /** Calls of paused old holders that are still to come, in any order. */
  readonly late?: readonly Effect[];
  /** What the pass in flight has seen so far, of which the rest is of now. */
  readonly glance?: Omit<World, 'glance' | 'truth' | 'budget'>;
  /** The pod disruption budget refuses every eviction. */
  readonly noEviction?: true;
  /** The reconciler's Deployment, or the namespace, is being deleted. */
  readonly going?: true;
  /** Volumes have no room for a second copy of the data. */
  readonly tight?: true;
  /** The store refuses every backup. */
  readonly refusing?: true;
  /** A volume that somebody detached and may attach again. */
  readonly shelf?: { readonly ordinal: number; readonly volume: Volume };
  /** The pods have another DNS domain than that under which the members were added. */
  readonly renamed?: true;
  /** An old record was put back: the agents have read a newer one. */
  readonly putBack?: true;
  /** What the agents have kept of the record that is lost. */
  readonly read?: { readonly epoch: number; readonly restores: readonly string[] };
  /** Whatever is cleared is filled again at once. */
  readonly greedy?: true;
  readonly budget: Budget;
  readonly truth: Truth;
}

/** Lost with the process. */
export interface Memory {
  /** What HashKV compared last, and whether it was equal. */
  readonly hash?: { readonly of: string; readonly equal: boolean };
  /** Keys of effects that succeeded under the present op. */
  readonly done: readonly string[];
  /** An eviction was refused not long ago. */
  readonly refused?: true;
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
  /** The annotation that skips the final backup. */
  readonly skipFinalBackup?: true;
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
  readonly minEpoch: number;
  /** The annotation as the StatefulSet controller knows it: new pods get this one. */
  readonly seenMinEpoch: number;
  /** Its image is of this version, not of the one that it says. */
  readonly image?: string;
  /** Its pods do not start: no node has what they ask for, or there is no such image. */
  readonly broken?: true;
}

export interface Pod {
  readonly uid: string;
  readonly version: string;
  readonly change: number;
  readonly minEpoch: number;
  /** Of the template from which it was made. */
  readonly image?: string;
  readonly broken?: true;
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
  readonly volumeId: string;
  readonly permitId: string;
  readonly token: string;
  readonly mode: 'new' | 'existing' | 'restore';
  readonly memberId: string;
  readonly clusterId: string;
  readonly restoreId?: string;
  readonly version: string;
}

export interface Volume {
  readonly volumeId?: string;
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
  /** It succeeded, and its pod is gone with what it said. */
  readonly lost?: true;
  /** Its pod does not start. */
  readonly stuck?: true;
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
  readonly torn: number;
}

/** What the invariants need to know of the past. Nobody in the world reads it. */
export interface Truth {
  readonly rule: AddRule;
  /** Epochs in which a cluster began, each with the uid of its record. */
  readonly began: readonly string[];
  /** Clusters that a record ever called seeded: clients may have written to them. */
  readonly seeded: readonly string[];
  /** The uids of their records. */
  readonly served: readonly string[];
  /** Restores from which a cluster began. */
  readonly restored: readonly string[];
  /** Broken by a step: found at once. */
  readonly violation?: string;
}
