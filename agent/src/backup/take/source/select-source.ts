import type { EtcdAccess } from '../../../etcd/etcd-member.ts';
import { AgentError, ExitCode, messageOf } from '../../../lib/errors.ts';
import type { HashKV } from '../../catalog/manifest.ts';
import type { RunContext } from '../request.ts';
import { compareMembers } from './compare-members.ts';
import { type ObservedCluster, type ReachedMember, reachMember } from './observe-cluster.ts';
import { rankSources } from './rank-sources.ts';

export interface Source {
  readonly reached: ReachedMember;
  readonly role: 'leader' | 'follower' | 'survivor';
  readonly alarms: readonly string[];
  readonly suspect: readonly string[];
  readonly hashKV?: HashKV;
  readonly comparison: string;
}

/** Selects the member to take the snapshot from, and compares it with all other voters that answered. */
export async function selectSource(observed: ObservedCluster, context: RunContext): Promise<Source> {
  const { members, alarms } = observed;
  const corruptAlarms = alarms.filter(({ type }) => type === 'CORRUPT');
  const candidates = rankSources(members, new Set(corruptAlarms.map(({ memberId }) => memberId)));
  let reached: ReachedMember | undefined;
  let failure: unknown;
  for (const candidate of candidates) {
    try {
      await candidate.member.confirmQuorum();
      reached = candidate;
      break;
    } catch (error) {
      failure = error;
    }
  }
  if (!reached) {
    if (failure instanceof AgentError && failure.exitCode === ExitCode.usage) throw failure;
    throw new AgentError(
      ExitCode.etcdUnavailable,
      `no quorum: no member could confirm a read (${messageOf(failure)}); to save the data of a surviving member, use --survivor ENDPOINT`,
      { cause: failure },
    );
  }
  context.progress.phase('compare', 'comparing the members');
  const others = members.filter((other) => other !== reached && !other.status.isLearner);
  const allOthers = Math.max(others.length, (observed.voters ?? 1) - 1);
  const comparison = await compareMembers(reached, others, context.signal, allOthers);
  if (comparison.outcome === 'differ') context.log.error(comparison.detail);
  if (comparison.outcome === 'inconclusive') context.log.warn(comparison.detail);
  const { status } = reached;
  return {
    reached,
    role: status.leader === status.memberId ? 'leader' : 'follower',
    alarms: [...new Set(alarms.map(({ type }) => type))],
    suspect: [
      ...(corruptAlarms.length > 0 ? ['Corrupt'] : []),
      ...(comparison.outcome === 'differ' ? ['MembersInconsistent'] : []),
    ],
    hashKV: comparison.hashKV,
    comparison: comparison.detail,
  };
}

/** Uses one member as it is, without quorum and without a comparison. */
export async function survivorSource(endpoint: string, access: EtcdAccess, context: RunContext): Promise<Source> {
  const reached = await reachMember(endpoint, access, context.signal);
  return {
    reached,
    role: 'survivor',
    alarms: [],
    suspect: [],
    comparison: 'not compared: it was taken from one surviving member',
  };
}
