import { formatBytes } from '../../../lib/terminal/progress.ts';
import type { RecordDoc } from '../../../protocol/record.ts';
import {
  type DefragmentedMember,
  isRequestOver,
  podOfRequest,
  type ReportedRequest,
  type RequestKind,
  requestKinds,
} from '../../../protocol/requests.ts';
import type { Effect } from '../effect.ts';
import { podName } from '../names.ts';
import { canCopy, followersFirst } from '../operations/no-space.ts';
import {
  answers,
  hasReadyPod,
  healthy,
  leaderOf,
  learners,
  memberAt,
  nameOf,
  voters,
  wantedSize,
} from '../plan/facts.ts';
import type { MemberView } from '../plan/member-view.ts';
import type { Plan } from '../plan/plan.ts';
import type { View } from '../plan/view.ts';

/** The step that a request takes next, and what the status says while it does. */
export interface Step {
  readonly report: ReportedRequest;
  readonly effect: Extract<Effect, { kind: 'MoveLeader' | 'Defrag' }>;
  readonly pod: string;
  /** Size of the database, in bytes. */
  readonly size: number;
}

export interface Decided {
  /** Of every request that the annotations contain. */
  readonly reports: readonly ReportedRequest[];
  /** At most one at a time. */
  readonly step?: Step;
}

/** What the cluster itself needs, which comes first. */
type Needed = Pick<Plan, 'effect' | 'rule' | 'hold'>;

/** Decides about the requests. Undefined: nothing is known. */
export function decideRequests(v: View, plan: Needed): Decided | undefined {
  const { cluster } = v.o;
  if (!cluster.known || !cluster.v) return undefined;
  const { requests = {}, status } = cluster.v;
  const reports: ReportedRequest[] = [];
  let step: Step | undefined;
  for (const kind of requestKinds) {
    const request = requests[kind];
    if (request === undefined) continue;
    const earlier = status.requests?.find((each) => each.kind === kind && each.request === request);
    const found = earlier && isRequestOver(earlier) ? earlier : next(v, plan, { kind, request, earlier });
    reports.push('report' in found ? found.report : found);
    if ('report' in found) step ??= found;
  }
  return { reports, ...(step && { step }) };
}

interface Asked {
  readonly kind: RequestKind;
  readonly request: string;
  readonly earlier: ReportedRequest | undefined;
}

function next(v: View, plan: Needed, { kind, request, earlier }: Asked): ReportedRequest | Step {
  const told = (phase: ReportedRequest['phase'], message: string): ReportedRequest => ({
    ...{ kind, request, phase, message },
    ...(earlier?.members && { members: earlier.members }),
  });
  const why = whyNotNow(v, plan);
  if (why !== undefined) return told('Waiting', why);
  return kind === 'defrag' ? defrag(v, request, earlier?.members ?? [], told) : moveLeader(v, request, told);
}

type Tell = (phase: ReportedRequest['phase'], message: string) => ReportedRequest;

function moveLeader(v: View, request: string, told: Tell): ReportedRequest | Step {
  const pod = podOfRequest(request);
  if (pod === undefined) return told('Failed', `'${request}' names no member; write a text and the name of its pod`);
  const target = voterOf(v, pod);
  if (!target) return told('Failed', `${pod} is not a voting member; voting members: ${podsOf(v)}`);
  const leader = leaderOf(v)!;
  if (leader === target.id) return told('Completed', `${pod} leads`);
  const effect = { kind: 'MoveLeader', leader, to: target.id } as const;
  return { report: told('Running', `moving the leader to ${pod}`), effect, pod, size: 0 };
}

function defrag(v: View, request: string, done: readonly DefragmentedMember[], told: Tell): ReportedRequest | Step {
  const only = podOfRequest(request);
  if (only !== undefined && !voterOf(v, only))
    return told('Failed', `${only} is not a voting member; voting members: ${podsOf(v)}`);
  const [member] = followersFirst(v).filter((each) => {
    const pod = podOf(v, each);
    return (only ?? pod) === pod && !done.some((one) => one.pod === pod);
  });
  if (!member) return told('Completed', sizesOf(done));
  const pod = podOf(v, member);
  if (!canCopy(member))
    return told('Failed', `the volume of ${pod} has no room for a copy of its database; make it larger`);
  const effect = { kind: 'Defrag', memberId: member.id, done: `${request} ${pod}` } as const;
  return { report: told('Running', `defragmenting ${pod}`), effect, pod, size: member.status?.dbSize ?? 0 };
}

const sizesOf = (done: readonly DefragmentedMember[]): string =>
  done.map(({ pod, before, after }) => `${pod}: ${formatBytes(before)} to ${formatBytes(after)}`).join(', ');

const podOf = (v: View, { ordinal }: MemberView): string => (ordinal === undefined ? '' : podName(v.cluster, ordinal));

const podsOf = (v: View): string =>
  voters(v)
    .map((member) => podOf(v, member))
    .sort()
    .join(', ');

const voterOf = (v: View, pod: string): MemberView | undefined => voters(v).find((member) => podOf(v, member) === pod);

/** A request never runs beside anything else, nor while a member is missing. */
function whyNotNow(v: View, { effect, rule, hold }: Needed): string | undefined {
  const { record, members } = v.o;
  if (v.cluster.deleting) return 'the EtcdCluster is being deleted';
  if (v.spec.paused) return 'the cluster is paused; kubectl etcd resume ends that';
  if (!record.known || !record.v) return 'the record of the cluster is not known';
  const { doc } = record.v;
  if (doc.op) return `operation ${doc.op.kind} is in flight`;
  if (hold !== undefined) return `the reconciler holds: ${hold}`;
  if (effect) return `${rule} comes first`;
  if (isChanging(doc) || learners(v).length > 0) return 'a member joins, or an upgrade is not complete';
  if (!members.known) return 'no quorum answers';
  return absentMember(v);
}

const isChanging = ({ seeded, phase, versions, permits }: RecordDoc): boolean =>
  !seeded || phase === 'Seeding' || versions.allowedMinors.length > 1 || Object.keys(permits).length > 0;

function absentMember(v: View): string | undefined {
  for (let ordinal = 0; ordinal < wantedSize(v); ordinal++) {
    const member = memberAt(v, ordinal);
    if (!member) return `${podName(v.cluster, ordinal)} is not a member`;
    if (!answers(v, member.id)) return `${podName(v.cluster, ordinal)} does not answer or lags behind`;
    if (!hasReadyPod(member)) return `${podName(v.cluster, ordinal)} is not ready`;
  }
  const unsteady = voters(v).find(({ id }) => !healthy(v, id));
  if (unsteady) return `${nameOf(v, unsteady)} has not been healthy for long enough`;
  return leaderOf(v) === undefined ? 'there is no leader' : undefined;
}
