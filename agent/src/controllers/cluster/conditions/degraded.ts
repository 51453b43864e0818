import { logFileBytes } from '../../../../../src/lib/defaults.ts';
import type { AgentStatus } from '../../../protocol/agent-status.ts';
import { type Condition, type ConditionType, is, unknown } from '../../../protocol/condition.ts';
import { type Reason, reasons } from '../../../protocol/reasons.ts';
import type { RestoreOp } from '../../../protocol/record.ts';
import { podName } from '../../port/names.ts';
import type { Pod } from '../../port/observed.ts';
import type { View } from '../engine/view.ts';
import {
  answers,
  beforeFence,
  hasLostVolume,
  isSeeded,
  learners,
  memberAt,
  nameOf,
  quorumIsReady,
  quorumLostLong,
  quorumOf,
  quorumServes,
  readyVoters,
  restoreOp,
  volumeLost,
  voters,
  wantedSize,
  whyNoneJoins,
} from '../facts/facts.ts';
import type { MemberView } from '../facts/member-view.ts';
import { agentAt, agentOf, lasts, podAt, podsOf, statefulSet } from '../facts/observations.ts';
import { doesNotRun, dueOrdinals, isSilentLong, isStarting, whyDown, whyPodsAreDown } from '../facts/why-down.ts';
import { isGoing } from '../operations/deletion.ts';
import { quorumReason } from '../operations/holds.ts';
import { spaceIsShort } from '../operations/no-space.ts';

// The first problem that a person should know about.

export function degraded(v: View): Condition {
  const kept = keptPod(v) ?? foreign(v);
  if (kept) return kept;
  if (!isSeeded(v)) return notRunning(v) ?? unformed(v);
  if (isGoing(v)) return unknown('Degraded', 'Deleting');
  if (!quorumServes(v)) return isQuorumLost(v) ? withoutQuorum(v) : quorumUnknown(v, 'Degraded');
  if (!v.o.pods.known) return unknown('Degraded', 'StateUnknown', `pods could not be listed: ${v.o.pods.why}`);
  const wrong = lostVolume(v) ?? down(v) ?? stuckLearner(v) ?? notRunning(v) ?? silent(v) ?? unready(v) ?? full(v);
  return wrong ?? short(v) ?? joining(v) ?? well();
}

const well = (): Condition => is('Degraded', false, 'AllMembersHealthy');

const unformed = (v: View): Condition =>
  unknown('Degraded', v.record.phase === 'Restoring' ? 'Restoring' : 'Bootstrapping');

export function keptPod(v: View): Condition | undefined {
  const found = podsOf(v).find(({ ordinal }) => isKept(agentAt(v, ordinal)));
  return found && refusal(v, found.ordinal);
}

/** Its agent waits for a person, or for something that does not happen without help. */
const isKept = (agent: AgentStatus | undefined): boolean =>
  agent !== undefined && (['Refused', 'Failed'].includes(agent.state) || troubles.includes(agent.reason ?? ''));

/** Reasons that an agent reports while its state continues. */
const troubles = ['VolumeBusy', 'RestoreFailed', 'SalvageFailed'];

function refusal(v: View, ordinal: number): Condition {
  const agent = agentAt(v, ordinal)!;
  const { reason = '', message } = agent;
  const own = reason in reasons ? (reason as Reason) : undefined;
  const said = reason === 'VersionMismatch' ? mismatch(v, agent) : message;
  const why = [own ? '' : reason, said ?? reasons[own ?? 'MemberBlocked']].filter(Boolean).join(': ');
  const isSame = (pod: Pod) => isKept(agentAt(v, pod.ordinal)) && agentAt(v, pod.ordinal)?.reason === agent.reason;
  const others = podsOf(v).filter((pod) => pod.ordinal !== ordinal && isSame(pod));
  const also = others.map((pod) => podName(v.cluster, pod.ordinal)).join(', ');
  const name = `pod ${podName(v.cluster, ordinal)}`;
  return is('Degraded', true, own ?? 'MemberBlocked', `${name}: ${why}${also && `; the same for ${also}`}`);
}

/** The agent knows only the template of its own pod; the present template may differ. */
function mismatch(v: View, { message, etcd, etcdBinary }: AgentStatus): string | undefined {
  const now = statefulSet(v)?.version;
  if (now === undefined || now === etcdBinary) return message;
  return `etcd ${etcd?.version} runs in a pod that was created for ${etcdBinary}; the template now names ${now}`;
}

function foreign(v: View): Condition | undefined {
  const found = podsOf(v).find(({ ordinal }) => agentOf(v, ordinal) && !agentAt(v, ordinal));
  return (
    found && is('Degraded', true, 'ForeignData', `pod ${podName(v.cluster, found.ordinal)}: ${reasons.ForeignData}`)
  );
}

/** Lost for long enough, or certainly lost because the agents report a majority of volumes as gone. */
export const isQuorumLost = (v: View): boolean => quorumLostLong(v) || (!quorumServes(v) && isMajorityGone(v));

function isMajorityGone(v: View): boolean {
  const members = Object.entries(v.record.members);
  const gone = members.filter(([ordinal, { memberId }]) => volumeLost(v, Number(ordinal), memberId));
  return gone.length > members.length / 2;
}

export function withoutQuorum(v: View): Condition {
  const reason = quorumReason(v);
  const op = restoreOp(v);
  if (op) return is('Degraded', true, reason, `no quorum answers; ${reasons[restoreReason(v, op)]}`);
  const why = whyPodsAreDown(v, Object.keys(v.record.members).map(Number));
  return is('Degraded', true, reason, [reasons[reason], why].filter(Boolean).join(': '));
}

export function restoreReason(v: View, { kind }: RestoreOp): Reason {
  if (kind === 'Recover') return 'Recovering';
  // A cluster that is born from a backup does not serve meanwhile.
  return isSeeded(v) && beforeFence(v) ? 'PreparingRestore' : 'Restoring';
}

export function quorumUnknown(v: View, type: ConditionType): Condition {
  const why = v.o.members.known ? '' : `: ${v.o.members.why}`;
  const own = quorumIsReady(v)
    ? '. For Kubernetes a quorum of pods is ready, so check the network and the certificates of the reconciler itself'
    : '';
  return unknown(type, 'QuorumUnknown', `${reasons.QuorumUnknown}${why}${own}`);
}

function lostVolume(v: View): Condition | undefined {
  const isLost = (m: MemberView) => hasLostVolume(v, m);
  const lost = voters(v).find(isLost);
  if (!lost) return undefined;
  const said = quorumStays(v, isLost)
    ? reasons.VolumeLost
    : 'it lost its volume, and the voters that stay are not a quorum';
  return is('Degraded', true, 'VolumeLost', `${nameOf(v, lost)}: ${said}`);
}

/** A quorum of voters answers from pods that are not being deleted. */
function quorumStays(v: View, isLost: (m: MemberView) => boolean = () => false): boolean {
  const stays = (m: MemberView) => answers(v, m.id) && !isLost(m) && m.pod?.deleting === false;
  return voters(v).filter(stays).length >= quorumOf(voters(v).length);
}

function down(v: View): Condition | undefined {
  const away = voters(v).filter((m) => !answers(v, m.id) || losesPod(v, m));
  const [first] = away;
  if (!first) return undefined;
  const starts = (m: MemberView) =>
    !was(v, 'MemberDown') &&
    m.ordinal !== undefined &&
    isStarting(v, m.ordinal, v.o.since.down[m.id], was(v, 'Starting'));
  const bad = away.find((m) => !starts(m));
  if (!bad) {
    const said = quorumStays(v) ? reasons.Starting : 'it is being restarted, and the voters that stay are not a quorum';
    return is('Degraded', true, 'Starting', `${nameOf(v, first)}: ${said}`);
  }
  const why = whyMemberDown(v, bad);
  const said = `${nameOf(v, bad)} ${answers(v, bad.id) ? 'has no pod' : 'does not answer'}${why ? `: ${why}` : ''}`;
  return is('Degraded', true, isVolumeFull(bad.agent) ? 'DiskFull' : 'MemberDown', said);
}

const whyMemberDown = (v: View, { ordinal }: MemberView): string | undefined =>
  ordinal === undefined ? undefined : whyDown(v, ordinal);

/** This was reported. After MemberDown, the start of the pod is the end of that, not a new event. */
const was = (v: View, wanted: Reason): boolean =>
  v.cluster.status.conditions?.some(
    ({ type, reason, status }) => type === 'Degraded' && reason === wanted && status === 'True',
  ) ?? false;

/** It still answers, but its pod is being deleted or no longer exists. */
function losesPod(v: View, member: MemberView): boolean {
  const ordinal = member.ordinal;
  return ordinal !== undefined && podAt(v, ordinal)?.deleting !== false;
}

function isVolumeFull(agent: AgentStatus | undefined): boolean {
  const { freeBytes = 0, totalBytes = 0 } = agent?.volume ?? {};
  return agent?.reason === 'DiskFull' || (totalBytes > 0 && freeBytes < logFileBytes);
}

function stuckLearner(v: View): Condition | undefined {
  const stuck = learners(v).find(({ id }) => lasts(v, v.o.since.down[id], v.s.learnerStuck));
  if (!stuck) return undefined;
  const why = whyMemberDown(v, stuck);
  return is('Degraded', true, 'LearnerStuck', `${nameOf(v, stuck)} does not catch up${why ? `: ${why}` : ''}`);
}

/** Why a pod that should exist does not run, if its member does not answer. */
export function notRunning(v: View): Condition | undefined {
  const hasRecord = v.o.record.known && v.o.record.v !== undefined;
  const isUp = (ordinal: number) => hasRecord && answers(v, memberAt(v, ordinal)?.id ?? '');
  const found = dueOrdinals(v).find((ordinal) => !isUp(ordinal) && doesNotRun(v, ordinal));
  if (found === undefined) return undefined;
  return is('Degraded', true, 'PodNotRunning', whyDown(v, found) ?? reasons.PodNotRunning);
}

function silent(v: View): Condition | undefined {
  const found = podsOf(v).find(({ ordinal }) => agentOf(v, ordinal) === undefined && isSilentLong(v, ordinal));
  if (!found) return undefined;
  const agent = v.o.agents[found.ordinal];
  const why = agent?.known === false ? agent.why : undefined;
  return is(
    'Degraded',
    true,
    'AgentUnreachable',
    `pod ${podName(v.cluster, found.ordinal)}: ${why ?? reasons.AgentUnreachable}`,
  );
}

/** Clients reach it through no Service, although etcd answers. */
function unready(v: View): Condition | undefined {
  const found = voters(v).find(
    ({ pod }) => pod?.ready === false && lasts(v, v.o.since.unready?.[pod.uid], v.s.unreachable),
  );
  if (found?.ordinal === undefined) return undefined;
  const node = found.pod?.node === undefined ? '' : ` on ${found.pod.node}`;
  const why = found.pod?.problem ?? reasons.PodNotReady;
  // Then nobody can use the cluster, and Available has this reason: one cause raises one alert.
  const reason = readyVoters(v).length === 0 ? 'NoReadyPod' : 'PodNotReady';
  return is('Degraded', true, reason, `pod ${podName(v.cluster, found.ordinal)}${node}: ${why}`);
}

const pressure = 0.1;

function full(v: View): Condition | undefined {
  const found = podsOf(v).find(({ ordinal }) => {
    const { freeBytes, totalBytes } = agentAt(v, ordinal)?.volume ?? { freeBytes: 0, totalBytes: 0 };
    return freeBytes < pressure * totalBytes;
  });
  return (
    found && is('Degraded', true, 'DiskPressure', `pod ${podName(v.cluster, found.ordinal)}: ${reasons.DiskPressure}`)
  );
}

function short(v: View): Condition | undefined {
  const message = spaceIsShort(v);
  return message === undefined ? undefined : is('Degraded', true, 'SpaceShort', message);
}

function joining(v: View): Condition | undefined {
  const [there, wanted] = [voters(v).length, wantedSize(v)];
  if (there >= wanted) return undefined;
  return is(
    'Degraded',
    false,
    'Joining',
    `${there} of ${wanted} voters exist and are healthy; ${whyNoneJoins(v) ?? 'the others will join'}`,
  );
}
