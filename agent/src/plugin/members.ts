import type { ReportedMember } from '../protocol/cluster-status.ts';
import { Exit, PluginError } from './exit.ts';
import type { ClusterObject } from './objects.ts';

/** The member of this pod, ordinal or id. */
export function memberOf({ metadata, status = {} }: ClusterObject, wanted: string): ReportedMember {
  const members = status.members ?? [];
  const found = members.find(
    ({ pod, ordinal, memberId }) =>
      pod === wanted || String(ordinal) === wanted || (memberId === wanted && wanted.length > 1),
  );
  const known = members.map(({ pod, memberId }) => `${pod} (${memberId ?? 'not a member'})`).join(', ') || 'none';
  if (!found) throw new PluginError(Exit.notFound, `${metadata.name} has no member '${wanted}'; known: ${known}`);
  return found;
}

export function refuseWithoutQuorum({ metadata, status = {} }: ClusterObject, consequence: string): void {
  if (status.conditions?.some(({ type, status: is }) => type === 'QuorumLost' && is === 'True'))
    throw new PluginError(
      Exit.refused,
      `${metadata.name} has lost its quorum, and ${consequence}; kubectl etcd explain QuorumLost`,
    );
}

/** A member that votes and is healthy, as the status says. */
export function healthyVoterOf(cluster: ClusterObject, wanted: string): ReportedMember {
  const member = memberOf(cluster, wanted);
  if (!isVoter(member)) throw new PluginError(Exit.refused, `${member.pod} is not a voting member of etcd now`);
  if (!member.healthy)
    throw new PluginError(Exit.refused, `${member.pod} is not healthy${member.reason ? ` (${member.reason})` : ''}`);
  return member;
}

export const isVoter = ({ role }: ReportedMember): boolean => role === 'Leader' || role === 'Follower';
