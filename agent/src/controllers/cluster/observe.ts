import { randomUUID } from 'node:crypto';
import type { AgentStatus } from '../../protocol/agent-status.ts';
import { type Known, known, Unreadable, unknown } from '../../protocol/known.ts';
import type {
  Fresh,
  HashResult,
  Job,
  Look,
  MemberStatus,
  Observed,
  Pod,
  RefusalTimes,
  Since,
} from '../port/observed.ts';
import type { Port } from '../port/port.ts';
import type { ReconcilerSettings } from '../port/settings.ts';
import { View } from './engine/view.ts';
import { allVotersHealthy, answers, lagOf, learners, quorumServes, voters } from './facts/facts.ts';
import { listed } from './facts/member-view.ts';
import { agentOf } from './facts/observations.ts';
import { lookAt } from './facts/reached.ts';
import { changedSince } from './facts/up-to-date.ts';
import { dueOrdinals } from './facts/why-down.ts';

/** Memory of this process between two passes. Losing it only makes the reconciler wait again. */
export interface Memory {
  since: Since;
  /** The evidence behind each time in `since.evidence`. */
  evidence: Record<number, string>;
  /** The failure behind `since.failure`. */
  failure?: string;
  hash?: HashResult;
  done: string[];
  failed: Record<string, string>;
  readonly self: string;
  /** The key of the long effect that was announced. */
  told?: string;
  /** The op to which `done` and `failed` belong. */
  op?: string;
  failures: number;
  error?: string;
  /** The newest look at the members that is kept, and the one before. */
  look?: Look;
  reached?: Look;
  refused?: RefusalTimes;
}

/** The part that plan() sees. */
export const recalled = ({ since, hash, done, failed, self, failures, error, reached, refused }: Memory): Recalled => ({
  ...{ since, done, failed, self, failures },
  reached,
  hash,
  error,
  refused,
});

type Recalled = Pick<
  Observed,
  'since' | 'hash' | 'done' | 'failed' | 'self' | 'failures' | 'error' | 'reached' | 'refused'
>;

export const emptyMemory = (holderSince: number): Memory => ({
  since: { healthy: {}, down: {}, evidence: {}, inSync: {}, jobFailed: {}, holder: holderSince },
  evidence: {},
  done: [],
  failed: {},
  self: randomUUID(),
  failures: 0,
});

/** Observes everything once. The record is read first, so that nothing is older than it. */
export async function read(
  port: Port,
  holder: string,
  fresh: Fresh,
  memory: Memory,
  settings: ReconcilerSettings,
): Promise<Observed> {
  const look = <T>(what: Promise<T>): Promise<Known<T>> => within(settings.observeRpc, what);
  const record = await look(port.records.read());
  const { clusters, workload, jobs, membership, maintenance } = port;
  const [firstSight, statefulSet, pods, claims, members, alarms, jobList, restores] = await Promise.all([
    look(clusters.cluster()),
    look(workload.statefulSet()),
    look(workload.pods()),
    look(workload.claims()),
    look(membership.members()),
    look(maintenance.alarms()),
    look(jobs.jobs()),
    look(clusters.restores()),
  ]);
  // The StatefulSet, which was read in parallel, may name the domain.
  const isAbsent = statefulSet.known && statefulSet.v === undefined;
  const cluster = named(!isAbsent && isNameless(firstSight) ? await look(clusters.cluster()) : firstSight, statefulSet);
  const ours = ownMembers(members, record.known ? record.v?.doc.clusterId : undefined);
  const [agents, status] = await Promise.all([
    agentsOf(pods, (pod) => look(workload.agent(pod))),
    statusOf(ours, record, (id) => look(maintenance.status(id))),
  ]);
  return {
    ...{ cluster, record, statefulSet, pods, claims, agents, members: ours, status, alarms },
    ...{ jobs: jobList, restores, holder, fresh, date: Date.now() },
    ...recalled(memory),
  };
}

const isNameless = (cluster: Observed['cluster']): boolean =>
  cluster.known && cluster.v !== undefined && cluster.v.domain === undefined && cluster.v.peerUrls === undefined;

/** Without the domain no member's name is known, and a wrong name would add a member. */
export const named = (cluster: Observed['cluster'], statefulSet: Observed['statefulSet']): Observed['cluster'] =>
  isNameless(cluster) && !(statefulSet.known && statefulSet.v === undefined)
    ? unknown('the StatefulSet, which names the domain of the members, was not read yet')
    : cluster;

/** Members of another cluster at these addresses do not count: they are of an old epoch, or of an existing etcd cluster. */
function ownMembers(
  members: Known<Awaited<ReturnType<Port['membership']['members']>>>,
  clusterId: string | undefined,
): Observed['members'] {
  if (!members.known) return members;
  if (clusterId !== undefined && members.v.clusterId !== clusterId) {
    return unknown(`cluster ${members.v.clusterId} answers, not ${clusterId}`);
  }
  return known(members.v.members);
}

async function agentsOf(
  pods: Known<Pod[]>,
  ask: (pod: Pod) => Promise<Known<AgentStatus>>,
): Promise<Observed['agents']> {
  if (!pods.known) return {};
  return Object.fromEntries(await Promise.all(pods.v.map(async (pod) => [pod.ordinal, await ask(pod)] as const)));
}

/** Without quorum the record names the members to ask. A survivor that still answers can be backed up. */
async function statusOf(
  members: Observed['members'],
  record: Observed['record'],
  ask: (id: string) => Promise<Known<MemberStatus>>,
): Promise<Observed['status']> {
  const recorded = record.known && record.v ? Object.values(record.v.doc.members).map(({ memberId }) => memberId) : [];
  const ids = members.known ? members.v.map(({ id }) => id) : recorded;
  return Object.fromEntries(await Promise.all(ids.map(async (id) => [id, await ask(id)] as const)));
}

async function within<T>(ms: number, what: Promise<T>): Promise<Known<T>> {
  const { promise: late, resolve } = Promise.withResolvers<Known<T>>();
  const timer = setTimeout(() => resolve(unknown(`no answer in ${ms} ms`)), ms);
  const answer = what.then(known<T>, (error: unknown): Known<T> => {
    const why = error instanceof Error ? error.message : `${error}`;
    return error instanceof Unreadable ? { known: false, why, unreadable: true } : unknown(why);
  });
  const first = await Promise.race([answer, late]);
  clearTimeout(timer);
  return first;
}

/** Updates the memory: each time is when its fact was first observed without a break. */
export function remember(memory: Memory, observed: Observed, now: number, settings: ReconcilerSettings): Memory {
  const { record, jobs } = observed;
  // A member may have been away while nobody looked, so what it had before proves nothing.
  const unseen = { ...memory, look: undefined, reached: undefined };
  if (!observed.cluster.known || !observed.cluster.v) return unseen;
  // Whoever takes over has held nothing so far, and has seen nothing of what is its own.
  if (observed.cluster.v.followedBy !== undefined) return { ...emptyMemory(now), self: memory.self };
  const { blind, outdated, ...rest } = memory.since;
  const view = new View(observed, now, settings);
  const since = { ...rest, outdated: changedSince(view).length > 0 ? (outdated ?? now) : undefined };
  if (!record.known) return { ...unseen, since: { ...since, blind: blind ?? now } };
  if (!record.v) return { ...unseen, since: { ...since, silent: keep(since.silent ?? {}, silent(view), now) } };
  const members = listed(view).map(({ id }) => id);
  const evidence = evidenceNow(view);
  const lost = record.v.doc.seeded && !quorumServes(view);
  const failure = record.v.doc.failure && JSON.stringify(record.v.doc.failure);
  const timesOf = (before: Record<string, number>, is: (job: Job) => boolean): Record<string, number> =>
    jobs.known
      ? keep(
          before,
          jobs.v.filter(is).map(({ uid }) => uid),
          now,
        )
      : before;
  const op = record.v.doc.op?.id;
  return {
    ...memory,
    since: {
      healthy: keep(
        since.healthy,
        members.filter((id) => answers(view, id)),
        now,
      ),
      down: keep(
        since.down,
        members.filter((id) => !answers(view, id)),
        now,
      ),
      silent: keep(since.silent ?? {}, silent(view), now),
      unready: keep(since.unready ?? {}, unready(view), now),
      inSync: keep(since.inSync, inSync(view), now),
      evidence: keep(since.evidence, unchanged(evidence, memory.evidence), now, Object.keys(evidence)),
      jobFailed: timesOf(since.jobFailed, ({ state }) => state === 'Failed'),
      jobWaits: timesOf(since.jobWaits ?? {}, ({ waits }) => waits !== undefined),
      holder: since.holder,
      outdated: since.outdated,
      quorumLost: lost ? (since.quorumLost ?? now) : undefined,
      unwell: allVotersHealthy(view) ? undefined : (since.unwell ?? now),
      failure: failure ? (failure === memory.failure ? (since.failure ?? now) : now) : undefined,
    },
    evidence,
    failure,
    op,
    done: op === memory.op ? memory.done : [],
    failed: op === memory.op ? memory.failed : {},
    ...looks(memory, view),
    refused: memory.refused && now - memory.refused.at < settings.retryFailed ? memory.refused : undefined,
  };
}

function looks({ look, reached }: Memory, view: View): Pick<Memory, 'look' | 'reached'> {
  if (look && view.now - look.at < view.s.markEvery) return { look, reached };
  return { look: lookAt(view), reached: look };
}

/** Keeps the times of facts that still hold; new facts get `now`. */
function keep<K extends string | number>(
  before: Record<K, number>,
  still: readonly K[],
  now: number,
  all: readonly (K | string)[] = still,
): Record<K, number> {
  const kept = new Set<string>(still.map(String));
  return Object.fromEntries(all.map((key) => [key, kept.has(String(key)) ? (before[key as K] ?? now) : now])) as Record<
    K,
    number
  >;
}

const silent = (view: View): number[] =>
  view.o.pods.known ? dueOrdinals(view).filter((ordinal) => agentOf(view, ordinal) === undefined) : [];

/** Members that answer, by the UID of a pod that is not ready. A pod that starts, or whose node was off, is not late. */
const unready = (view: View): string[] =>
  voters(view).flatMap(({ id, pod }) => (pod?.ready === false && answers(view, id) ? [pod.uid] : []));

const inSync = (view: View): string[] =>
  learners(view)
    .map(({ id }) => id)
    .filter((id) => lagOf(view, id) <= view.s.promoteLag);

/** Evidence for a removal: the pod asks for a permit, or its gate refuses to go on. */
function evidenceNow(view: View): Record<number, string> {
  const found: Record<number, string> = {};
  for (const key of Object.keys(view.o.agents)) {
    const agent = agentOf(view, Number(key));
    if (agent?.request) found[Number(key)] = `${agent.podUid} ${agent.request.volumeId}`;
    else if (agent?.state === 'Refused') found[Number(key)] = `${agent.podUid} ${agent.reason}`;
  }
  return found;
}

const unchanged = (now: Record<number, string>, before: Record<number, string>): number[] =>
  Object.keys(now)
    .map(Number)
    .filter((ordinal) => now[ordinal] === before[ordinal]);
