import type { AgentStatus } from '../../../protocol/agent-status.ts';
import type { Permit, RecordedMember } from '../../../protocol/record.ts';
import { ordinalOfMember } from '../../port/names.ts';
import type { Claim, Member, MemberStatus, Pod } from '../../port/observed.ts';
import type { View } from '../engine/view.ts';
import { agentAt, agentOf, claimAt, podAt, recorded, requestOf, statusOf } from './observations.ts';

/** A member of etcd's list, with everything that is observed and recorded of it. */
export class MemberView implements Member {
  readonly id: string;
  readonly name: string;
  readonly peerUrls: readonly string[];
  readonly isLearner: boolean;
  /** Ordinal of the pod at whose address it is; undefined: it is at the address of no pod, so nothing else is known of it. */
  readonly ordinal: number | undefined;
  readonly #view: View;

  constructor(view: View, { id, name, peerUrls, isLearner }: Member, ordinal: number | undefined) {
    this.#view = view;
    this.id = id;
    this.name = name;
    this.peerUrls = peerUrls;
    this.isLearner = isLearner;
    this.ordinal = ordinal;
  }

  get status(): MemberStatus | undefined {
    return statusOf(this.#view, this.id);
  }

  get pod(): Pod | undefined {
    return this.#at(podAt);
  }

  get claim(): Claim | undefined {
    return this.#at(claimAt);
  }

  /** Status of the agent in its pod, if the volume is empty or belongs to this cluster. */
  get agent(): AgentStatus | undefined {
    return this.#at(agentAt);
  }

  /** The volumeId with which its pod, on an empty volume, asks for a permit. */
  get request(): string | undefined {
    return this.#at(requestOf);
  }

  /** The record's entry of its ordinal, which may name another member. */
  get recorded(): RecordedMember | undefined {
    return this.#at(recorded);
  }

  /** The permit of its ordinal, which may name another member. */
  get permit(): Permit | undefined {
    return this.#at((view, ordinal) => view.record.permits[ordinal]);
  }

  #at<T>(find: (view: View, ordinal: number) => T): T | undefined {
    return this.ordinal === undefined ? undefined : find(this.#view, this.ordinal);
  }
}

/** A member at the address of a pod. */
export type PlacedMember = MemberView & { readonly ordinal: number };

export const isPlaced = (member: MemberView): member is PlacedMember => member.ordinal !== undefined;

const known = new WeakMap<View, readonly MemberView[]>();

/** The members that a linearizable read listed; empty while the list is unknown. */
export function listed(view: View): readonly MemberView[] {
  const { members } = view.o;
  const found = known.get(view) ?? (members.known ? withOrdinals(view, members.v) : []);
  known.set(view, found);
  return found;
}

/**
 * A pod is one voter. Another that was added at its address by hand, such as with http instead of https, counts as one at the
 * address of no pod.
 */
function withOrdinals(view: View, members: readonly Member[]): MemberView[] {
  const at = members.map(({ peerUrls }) => ordinalOfMember(view.cluster, peerUrls));
  return members.map((member, i) => {
    const ordinal = at[i];
    const isAlone = ordinal === undefined || at.indexOf(ordinal) === at.lastIndexOf(ordinal);
    return new MemberView(
      view,
      member,
      isAlone || member.isLearner || runsAt(view, ordinal, member) ? ordinal : undefined,
    );
  });
}

/** Also without a record, which is then rebuilt from such members. */
const runsAt = (view: View, ordinal: number, { id }: Member): boolean => {
  const { record } = view.o;
  const doc = record.known ? record.v?.doc : undefined;
  const runs = agentOf(view, ordinal)?.volume.identity?.memberId;
  return [doc?.members[ordinal]?.memberId, doc?.permits[ordinal]?.memberId, runs].includes(id);
};
