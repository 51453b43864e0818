import type { EtcdAccess } from '../../../etcd/etcd-member.ts';
import { alarmsIn, type MemberAlarm } from '../../../etcd/maintenance.ts';
import { AgentError, ExitCode, messageOf, remarkOf } from '../../../lib/errors.ts';
import { together } from '../../../lib/finding.ts';
import { type HashKV, suspectBy } from '../../catalog/manifest.ts';
import type { RunContext } from '../request.ts';
import { compareMembers } from './compare-members.ts';
import { type ObservedCluster, type ReachedMember, reachMember } from './observe-cluster.ts';
import { rankSources } from './rank-sources.ts';

export interface SelectedMember {
  readonly reached: ReachedMember;
  readonly role: 'leader' | 'follower' | 'survivor';
  readonly alarms: readonly string[];
  readonly suspect: readonly string[];
  readonly hashKV?: HashKV;
  readonly comparison: string;
}

/** Selects the member to take the snapshot from, and compares it with all other voters that answered. */
export async function selectSource(observed: ObservedCluster, context: RunContext): Promise<SelectedMember> {
  const { members } = observed;
  const corrupt = observed.alarms.filter(({ type }) => type === 'CORRUPT');
  const candidates = rankSources(members, new Set(corrupt.map(({ memberId }) => memberId)));
  let reached: ReachedMember | undefined;
  let alarms: readonly MemberAlarm[] = [];
  let failure: unknown;
  for (const candidate of candidates) {
    try {
      await candidate.member.confirmQuorum();
      // By now it has applied every alarm that was raised before.
      alarms = [...observed.alarms, ...alarmsIn(await candidate.member.status(context.signal))];
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
      `no quorum: no member could confirm a read (${messageOf(failure)})`,
      { cause: failure, finding: together(remarkOf(failure).finding, { kind: 'noQuorum' }) },
    );
  }
  context.progress.phase('compare', 'comparing the members');
  const others = members.filter((other) => other !== reached && !other.status.isLearner);
  const allOthers = Math.max(others.length, (observed.voters ?? 1) - 1);
  const comparison = await compareMembers(reached, others, context.budget, allOthers);
  if (comparison.outcome === 'differ') context.log.error(comparison.detail);
  if (comparison.outcome === 'inconclusive') context.log.warn({ finding: comparison.finding }, comparison.detail);
  const { status } = reached;
  return {
    reached,
    role: status.leader === status.memberId ? 'leader' : 'follower',
    ...judged(alarms),
    suspect: [...judged(alarms).suspect, ...(comparison.outcome === 'differ' ? ['MembersInconsistent'] : [])],
    hashKV: comparison.hashKV,
    comparison: comparison.detail,
  };
}

/** Whichever member has the alarm CORRUPT: the data of another may be the wrong ones. */
function judged(alarms: readonly MemberAlarm[]): Pick<SelectedMember, 'alarms' | 'suspect'> {
  const types = [...new Set(alarms.map(({ type }) => type))];
  return { alarms: types, suspect: suspectBy(types) };
}

/** Uses one member as it is, without quorum and without a comparison. */
export async function survivorSource(
  endpoint: string,
  access: EtcdAccess,
  context: RunContext,
): Promise<SelectedMember> {
  const reached = await reachMember(endpoint, access, context.signal);
  return {
    reached,
    role: 'survivor',
    ...judged(alarmsIn(reached.status)),
    comparison: 'not compared: it was taken from one surviving member',
  };
}
