import type { Effect } from '../../../src/controllers/port/effect.ts';
import type { ClusterSpec, JobKind } from '../../../src/controllers/port/observed.ts';
import type { AgentStatus } from '../../../src/protocol/agent-status.ts';
import type { RecordDoc, Schemes } from '../../../src/protocol/record.ts';
import type { AddRule, Cluster } from './etcd.ts';

/**
 * The abstract world: plain data that is never changed in place, so that a step shares everything that it does not change.
 * An id is a letter, `#` and a number wherever it occurs; `canonical` relies on that.
 *
 * Left out, each of which may hide a defect:
 * - time: a fact has just begun or has long been true;
 * - clocks: the reconciler's is right, and so is that of the API server (unit tests have others);
 * - raft below membership: a voter has all acknowledged writes or lags far behind;
 * - the agent's own steps between volumeId, permit, config and WAL, which are one step here, and its polls of the record: it
 *   always knows the newest;
 * - torn reads of more than two instants: a pass observes its first part at one instant and the rest at another, with any
 *   steps between them;
 * - a second reconciler beside the holder, except for two late calls at most, each planned on what its sender observed: a
 *   paused holder has lost the lease, so it carries out no more than one;
 * - which pods a disruption budget counts: it has room, or it refuses every eviction;
 * - images of another version than their template names, except for another patch of the same minor in the image's tag;
 * - clients of a seed before it is seeded: their Services lead to no member that is not ready;
 * - reads of the record that a gate misses, except for one per `noApi` fault;
 * - members that were added by hand, except for a learner at another address and a voter at the address of pod 1;
 * - the domain of the member names, except that it may differ between cluster and members (`renamed`);
 * - the certificates: a pod that mounts them has them, and members accept each other's. Roots are only names that a pod reads
 *   when it is created, and no restart of etcd alone loads them; every `ca.crt` changes at once;
 * - a member that can call another which cannot call it: the two count as cut off from each other;
 * - clients that use one scheme only, and what authentication does;
 * - backups that the reconciler does not take, except that a defragmentation waits for them; how long a call takes;
 * - how old a mark of a member is: it is of now. What a volume loses that is newer than its mark is not noticed, so storage
 *   sets a volume back only behind its mark, and only where `marks` is set are there any;
 * - the status of a request, which outlives the record;
 * - downgrades, and sizes other than "room" and "no room".
 */
export interface World {
  /** Number of the next id. */
  readonly seq: number;
  readonly spec?: Spec;
  /** The epoch in the status of the EtcdCluster, which outlives the record. */
  readonly statusEpoch?: number;
  /** The list beside it is never old once this release has written it: EtcdRestores do not change it here. */
  readonly record?: { readonly doc: RecordDoc; readonly rv: string; readonly isListOld?: true };
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
  /** Calls of paused old holders that may still arrive, in any order. */
  readonly late?: readonly Effect[];
  /** What the pass in flight has observed so far; it observes the rest later. */
  readonly glance?: Omit<World, 'glance' | 'truth' | 'budget'>;
  /** The roots in every `ca.crt`, once they were replaced. */
  readonly roots?: string;
  /** The pod disruption budget refuses every eviction. */
  readonly noEviction?: true;
  /** The reconciler's Deployment, or the namespace, is being deleted. */
  readonly going?: true;
  /** Volumes have no room for a second copy of the data. */
  readonly tight?: true;
  /** The store refuses every backup. */
  readonly refusing?: true;
  /** A volume that was detached and may be attached again. */
  readonly shelf?: { readonly ordinal: number; readonly volume: Volume };
  /** The pods have another DNS domain than the one under which the members were added. */
  readonly renamed?: true;
  /** An old record was put back: the agents have read a newer one. */
  readonly putBack?: true;
  /** What the agents have cached of the lost record. */
  readonly read?: Pick<RecordDoc, 'epoch'> & NonNullable<AgentStatus['recordPast']>;
  /** etcd has users, and its authentication is on. */
  readonly users?: true;
  /** A scheduled backup is being taken. */
  readonly backup?: true;
  /** The members' progress is looked at. */
  readonly marks?: true;
  readonly budget: Budget;
  readonly truth: Truth;
}

/** Memory of the reconciler, lost with its process. */
export interface Memory {
  /** The process, not the name of its pod. */
  readonly self: string;
  /** The last comparison of HashKV and its result. */
  readonly hash?: { readonly of: string; readonly equal: boolean };
  /** Keys of effects that succeeded under the present op. */
  readonly done: readonly string[];
  /** Keys of effects that failed under the present op. */
  readonly failed?: readonly string[];
  /** An eviction was refused recently. */
  readonly refused?: true;
}

/** The EtcdCluster resource. */
export interface Spec {
  readonly uid: string;
  readonly rv: string;
  readonly size: number;
  readonly version: string;
  readonly paused?: true;
  /** The pods have certificates. `disabling`: to give up TLS. */
  readonly tls?: 'on' | 'disabling';
  /** For how long clients may use http while TLS is switched on. Default: no longer. */
  readonly acceptPlaintext?: 'long';
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
  readonly maintenance?: ClusterSpec['maintenance'];
  readonly finalizer?: true;
  readonly deleting?: true;
  /** Another finalizer keeps the resource. */
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
  /** The annotation with the roots to load, which the reconciler owns, and as the StatefulSet controller knows it. */
  readonly roots?: string;
  readonly seenRoots?: string;
  /** Its image has this version, not the one that it names. */
  readonly image?: string;
  /** Its pods do not start, for example because the image does not exist. */
  readonly broken?: true;
  /** Its pods mount certificates. */
  readonly tls?: true;
}

export interface Pod {
  readonly uid: string;
  readonly version: string;
  readonly change: number;
  readonly minEpoch: number;
  /** The annotation of the template from which it was created, and the roots that its etcd has loaded. */
  readonly roots?: string;
  readonly loaded?: string;
  /** The image version of the template from which it was created. */
  readonly image?: string;
  readonly broken?: true;
  readonly tls?: true;
  /** How the gate has started its etcd. Default: http. */
  readonly speaks?: Schemes;
  /** `new`: before the gate's first pass. `down`: the etcd container exits and restarts without progress. */
  readonly state: 'new' | 'wait' | 'run' | 'stopped' | 'refused' | 'down';
  readonly reason?: string;
  readonly terminating?: true;
  /** etcd started without a quorum and does not answer until there is one. */
  readonly mute?: true;
  /** Its node is off: nothing runs or answers, and the API still shows the last known state. */
  readonly cut?: true;
}

export interface Claim {
  readonly uid: string;
  readonly rv: string;
  readonly clusterUid?: string;
  readonly epoch?: number;
  readonly deleting?: true;
  /** On a node that is off for good, so a pod that needs it stays Pending. */
  readonly dead?: true;
  /** Its volume was created on the node that holds the volume of this ordinal. Default: a node of its own. */
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
  /** As the record said when etcd was last started here: what a gate goes by that cannot read it. Default: http. */
  readonly transport?: Schemes;
}

export interface Wal {
  readonly cluster: string;
  readonly member: string;
  /** Number of acknowledged writes that it has. */
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
  /** The survivor that recovery and salvage copy. */
  readonly survivor?: number;
  /** The snapshot that it stored; for a restore Job, the one that it serves or will serve. */
  readonly snapshot?: Snapshot;
  readonly serving?: true;
  /** It succeeded, and its result is gone with its pod. */
  readonly lost?: true;
  /** Its pod does not start. */
  readonly stuck?: true;
  /** It failed for what only a person can change. Who does, deletes the Job: generations of the resource stand still here. */
  readonly refused?: true;
}

export interface Snapshot {
  readonly id: string;
  /** Number of acknowledged writes in it. */
  readonly writes: number;
  readonly bad?: true;
  /** Not taken by a Job of the cluster. */
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
  /** It was made after the cluster was restored from its origin. */
  readonly later?: true;
}

/** Events that may still happen. Each event takes one of its kind. */
export interface Budget {
  readonly faults: number;
  readonly edits: number;
  readonly writes: number;
  readonly late: number;
  readonly torn: number;
}

/** The past, as the invariants need it. Nothing in the world reads it. */
export interface Truth {
  readonly rule: AddRule;
  /** Epochs in which a cluster began, each with the uid of its record. */
  readonly began: readonly string[];
  /** Clusters that a record ever called seeded, so clients may have written to them. */
  readonly seeded: readonly string[];
  /** The uids of their records. */
  readonly served: readonly string[];
  /** Restores from which a cluster began. */
  readonly restored: readonly string[];
  /** EtcdRestores that failed before their fence, by name. */
  readonly failed?: readonly string[];
  /** The defragmentations that were asked for and done, by their keys. */
  readonly defragmented?: readonly string[];
  /** A late call has set the peer URLs of a member. */
  readonly cut?: true;
  /** An invariant that a step has broken. */
  readonly violation?: string;
}
