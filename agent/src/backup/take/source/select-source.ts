import type { EtcdAccess, EtcdMemberEntry } from '../../../etcd/etcd-member.ts';
import { alarmsIn, type MemberAlarm } from '../../../etcd/maintenance.ts';
import { AgentError, ExitCode, messageOf, remarkOf } from '../../../lib/errors.ts';
import { together } from '../../../lib/finding.ts';
import { type HashKV, suspectBy } from '../../catalog/manifest.ts';
import type { Origin, RunContext } from '../request.ts';
import { compareMembers } from './compare-members.ts';
import { type ObservedCluster, observeCluster, type ReachedMember, reachMember } from './observe-cluster.ts';
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

/** Where the snapshot of a member comes from. */
export interface MemberRequest {
  readonly access: EtcdAccess;
  /** Endpoint of one member whose data are saved without quorum and without a comparison. */
  readonly survivor?: string;
  /** Milliseconds without a new byte after which the snapshot stream is aborted. */
  readonly idleTimeout: number;
}

/** Selects the member to take the snapshot from, and stays connected to it. */
export async function connectMember(
  { access, survivor, idleTimeout }: MemberRequest,
  context: RunContext,
): Promise<Origin> {
  context.progress.phase('connect', 'reading the status of the members');
  using open = new DisposableStack();
  const observed = survivor ? undefined : open.use(await observeCluster(access, context.log, context.signal));
  // Report the size before the members are compared: HashKV reads the whole database, which takes time.
  if (observed) context.onSize?.(Math.max(...observed.members.map(({ status }) => status.dbSize)));
  const source = observed
    ? await selectSource(observed, context)
    : await survivorSource(survivor ?? '', access, context);
  const { member, status } = source.reached;
  open.defer(() => member.close());
  context.onSize?.(status.dbSize);
  const connection = open.move();
  return {
    source: describeSource(source),
    members: observed?.listed?.map(describeMember),
    hashKV: source.hashKV,
    comparison: source.comparison,
    revision: source.hashKV?.revision ?? status.revision,
    open: () => member.snapshot(idleTimeout, context.signal),
    [Symbol.dispose]: () => connection.dispose(),
  };
}

function describeSource({ reached: { endpoint, status }, role, alarms, suspect }: SelectedMember): Origin['source'] {
  const { clusterId, memberId, version, dbSize, dbSizeInUse } = status;
  return {
    clusterId,
    memberId,
    endpoint,
    role,
    version,
    alarms: [...alarms],
    dbSize,
    dbSizeInUse,
    suspect: suspect.length > 0 ? [...suspect] : undefined,
  };
}

function describeMember({
  id,
  name,
  peerUrls,
  clientUrls,
  isLearner,
}: EtcdMemberEntry): NonNullable<Origin['members']>[number] {
  return { id, name, peerUrls: [...peerUrls], clientUrls: [...clientUrls], isLearner: isLearner || undefined };
}
