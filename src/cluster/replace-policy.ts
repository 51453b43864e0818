import { ordinalProblem } from '../etcd/ordinals';
import { built } from '../validation/kinds';
import { problemsOf } from '../validation/names';
import { replaceKinds } from '../validation/property-kinds';

/** Asks for one member to be replaced, say because its node will never come back. */
export interface ReplaceRequest {
  /** The number at the end of its pod's name. */
  readonly ordinal: number;
  /**
   * Its member id, hexadecimal, as `etcdctl member list` and the EtcdCluster's status show it. A request for an id that
   * is gone does nothing, so it may stay in the code.
   */
  readonly memberId: string;
  /**
   * Deletes its volume too, which a pod needs to start on another node when the volume is on the lost node's own disk.
   * @default false
   */
  readonly discardVolume?: boolean;
}

/** When the reconciler replaces a member. Never without quorum, and never because a pod or node is merely down. */
export class ReplacePolicy {
  /** A member whose volume came up empty is replaced, and so are those that are asked for. */
  static onVolumeLoss(...force: ReplaceRequest[]): ReplacePolicy {
    return ReplacePolicy.of('OnVolumeLoss', force);
  }

  /** Only those that are asked for. */
  static manual(...force: ReplaceRequest[]): ReplacePolicy {
    return ReplacePolicy.of('Manual', force);
  }

  private static of(policy: string, force: readonly ReplaceRequest[]): ReplacePolicy {
    return built(ReplacePolicy.prototype, { force }, replaceKinds, () => new ReplacePolicy(policy, force));
  }

  private constructor(
    private readonly policy: string,
    private readonly force: readonly ReplaceRequest[],
  ) {}

  /** @internal */
  _spec(): { readonly policy: string; readonly force?: readonly ReplaceRequest[] } {
    const force = this.force.map(({ ordinal, memberId, discardVolume }) => ({ ordinal, memberId, discardVolume }));
    return { policy: this.policy, force: force.length > 0 ? force : undefined };
  }

  /** @internal */
  _problems(): string[] {
    return this.force.flatMap(({ ordinal, memberId }, index) =>
      problemsOf(
        ordinalProblem('replace: ordinal', ordinal),
        memberIdProblem(memberId),
        this.force.findIndex((other) => other.ordinal === ordinal) < index
          ? `replace: ordinal ${ordinal} is asked for twice; remove one`
          : undefined,
      ),
    );
  }
}

function memberIdProblem(memberId: string): string | undefined {
  if (/^[0-9a-f]{1,16}$/.test(memberId)) return undefined;
  return `replace: memberId: '${memberId}' is no member id; write it as etcdctl member list does, such as 8e9e05c52164694d`;
}
