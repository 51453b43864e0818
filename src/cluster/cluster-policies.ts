import type { EtcdClusterSpec } from '../resource/types';
import * as types from '../validation/property-types';
import { buildIfValid, list, shape } from '../validation/type-checks';

/** Decides what happens to a volume that is no longer needed. */
export enum DeletionPolicy {
  /** Keeps the volume, which causes costs until you delete its claim. */
  RETAIN = 'Retain',
  /** Deletes the volume, together with its data. */
  DELETE = 'Delete',
}

/** Decides what happens when a database has reached its quota, so that etcd refuses writes (the alarm NOSPACE). */
export enum NoSpacePolicy {
  /** Reports the alarm, and does nothing else. */
  REPORT = 'Report',
  /**
   * Drops all but the last 1,000 revisions, defragments one member after the other, and clears the alarm when every
   * database is below 90 % of the quota. No current value is lost.
   */
  COMPACT_DEFRAG_DISARM = 'CompactDefragDisarm',
}

/** Requests the replacement of one member, for example because its node will never come back. */
export interface ReplaceRequest {
  /** Selects the member by its ordinal, the number at the end of its pod's name. */
  readonly ordinal: number;
  /**
   * Identifies the member by its hexadecimal id, as shown by `etcdctl member list` and by the EtcdCluster's status. A
   * request with an id that no longer exists does nothing, so it can stay in the code.
   */
  readonly memberId: string;
  /**
   * Deletes the member's volume too. This is required if the volume is on a disk of the lost node: otherwise the pod
   * cannot start on another node.
   * @default false
   */
  readonly discardVolume?: boolean;
}

/**
 * Decides when the reconciler replaces a member. It never does so without quorum, or only because a pod or a node is
 * down.
 */
export class ReplacePolicy {
  /**
   * Replaces a member whose pod starts with an empty volume, and the requested members.
   *
   * @param force The members to replace, whatever their state.
   */
  static onVolumeLoss(...force: ReplaceRequest[]): ReplacePolicy {
    return ReplacePolicy.of('OnVolumeLoss', force);
  }

  /**
   * Replaces only the requested members.
   *
   * @param force The members to replace.
   */
  static manual(...force: ReplaceRequest[]): ReplacePolicy {
    return ReplacePolicy.of('Manual', force);
  }

  private static of(policy: ReplaceSpec['policy'], force: readonly ReplaceRequest[]): ReplacePolicy {
    return buildIfValid(
      ReplacePolicy.prototype,
      { force },
      { force: list(shape(types.ReplaceRequest)) },
      () => new ReplacePolicy(policy, force),
    );
  }

  private constructor(
    private readonly policy: ReplaceSpec['policy'],
    private readonly force: readonly ReplaceRequest[],
  ) {}

  /** @internal */
  _spec(): ReplaceSpec {
    // With its default: Argo CD's client-side diff does not know the defaults inside of lists.
    const force = this.force.map(({ ordinal, memberId, discardVolume = false }) => ({
      ordinal,
      memberId,
      discardVolume,
    }));
    return { policy: this.policy, force: force.length > 0 ? force : undefined };
  }
}

type ReplaceSpec = NonNullable<EtcdClusterSpec['replace']>;
