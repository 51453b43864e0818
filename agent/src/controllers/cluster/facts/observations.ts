import type { AgentStatus } from '../../../protocol/agent-status.ts';
import type { RecordedMember } from '../../../protocol/record.ts';
import type { Claim, MemberStatus, Pod, StatefulSet } from '../../port/observed.ts';
import type { View } from '../engine/view.ts';

// Observations by ordinal or member id. What is unknown is undefined or left out; it never counts as "absent".

export const recorded = (v: View, ordinal: number): RecordedMember | undefined => v.record.members[ordinal];

export const statusOf = (v: View, memberId: string): MemberStatus | undefined => {
  const status = v.o.status[memberId];
  return status?.known ? status.v : undefined;
};

export const lasts = (v: View, since: number | undefined, howLong: number): boolean =>
  since !== undefined && v.now - since >= howLong;

export const podsOf = (v: View): Pod[] => (v.o.pods.known ? v.o.pods.v : []);

export const podAt = (v: View, ordinal: number): Pod | undefined => podsOf(v).find((pod) => pod.ordinal === ordinal);

export const claimsOf = (v: View): Claim[] => (v.o.claims.known ? v.o.claims.v : []);

export const claimAt = (v: View, ordinal: number): Claim | undefined =>
  claimsOf(v).find((claim) => claim.ordinal === ordinal);

export const statefulSet = (v: View): StatefulSet | undefined =>
  v.o.statefulSet.known ? v.o.statefulSet.v : undefined;

/** Status of the agent, if it came from the present pod. */
export const agentOf = (v: View, ordinal: number): AgentStatus | undefined => {
  const agent = v.o.agents[ordinal];
  return agent?.known && agent.v.podUid === podAt(v, ordinal)?.uid ? agent.v : undefined;
};

/** Status of the agent in the present pod, if its volume is empty or belongs to this cluster. */
export const agentAt = (v: View, ordinal: number): AgentStatus | undefined => {
  const agent = agentOf(v, ordinal);
  const owner = agent?.volume.identity?.clusterUid;
  return owner === undefined || owner === v.record.clusterUid ? agent : undefined;
};

/** Why the gate of this pod does not let etcd start, if it refuses to. */
export const refusalAt = (v: View, ordinal: number): string | undefined => {
  const agent = agentAt(v, ordinal);
  return agent?.state === 'Refused' ? agent.reason : undefined;
};

/** The volumeId with which an empty volume asks for a permit. */
export const requestOf = (v: View, ordinal: number): string | undefined => {
  const agent = agentAt(v, ordinal);
  return agent && !agent.volume.walPresent ? agent.request?.volumeId : undefined;
};
