import type { Observed } from '../../../src/controllers/port/observed.ts';
import { unknown } from '../../../src/protocol/known.ts';
import { see } from './see.ts';
import type { Step } from './steps.ts';
import type { World } from './world.ts';

// A pass takes seconds: it reads the record, then Kubernetes and etcd's lists in parallel, then each agent and member.

/** A pass begins to observe. What it has not read by then, it reads later. */
export function glances(world: World): Step[] {
  const { glance, truth: _, budget, ...first } = world;
  if (budget.torn <= 0 || glance) return [];
  const next = { ...world, glance: first, budget: { ...budget, torn: budget.torn - 1 } };
  return [{ text: 'the reconciler begins to look', next }];
}

/** Observations of which one part is of the first instant and the rest of the second. */
export function tornSights(first: World, second: World): [string, Observed][] {
  const [then, now] = [see(first), see(second)];
  const { record, cluster, statefulSet, pods, claims, jobs, restores, members, alarms } = then;
  const kubernetes = { cluster, statefulSet, pods, claims, jobs, restores };
  const etcd = { members, alarms };
  const early: [string, Partial<Observed>][] = [
    [' after the record', { record }],
    [' after the record and Kubernetes', { record, ...kubernetes }],
    [' after the record and the member list', { record, ...etcd }],
    [' after all but agents and members', { record, ...kubernetes, ...etcd }],
  ];
  return early.map(([how, part]) => [
    `${how}, which are older`,
    asked({ ...now, ...part, since: since(then, now, part) }),
  ]);
}

/** Limits agents and members to the pods and the member list that were observed. */
function asked(observed: Observed): Observed {
  const { pods, members, record } = observed;
  const ordinals = pods.known ? pods.v.map(({ ordinal }) => ordinal) : [];
  const recorded = record.known ? Object.values(record.v?.doc.members ?? {}).map(({ memberId }) => memberId) : [];
  const ids = members.known ? members.v.map(({ id }) => id) : recorded;
  const none = unknown('no answer');
  return {
    ...observed,
    agents: Object.fromEntries(ordinals.map((ordinal) => [ordinal, observed.agents[ordinal] ?? none])),
    status: Object.fromEntries(ids.map((id) => [id, observed.status[id] ?? none])),
  };
}

/** A fact has long been true only if it holds at both instants. */
function since(then: Observed, now: Observed, { jobs }: Partial<Observed>): Observed['since'] {
  const [old, young] = [then.since, now.since];
  const both = <T extends Record<string, number>>(a: Record<string, number>, b: T): T =>
    Object.fromEntries(Object.entries(b).filter(([key]) => key in a)) as T;
  const says = ({ agents }: Observed, ordinal: string): string => {
    const agent = agents[Number(ordinal)];
    return agent?.known ? `${agent.v.podUid} ${agent.v.request?.volumeId} ${agent.v.reason}` : '';
  };
  const evidence = Object.entries(young.evidence).filter(([ordinal]) => says(then, ordinal) === says(now, ordinal));
  return {
    ...young,
    healthy: both(old.healthy, young.healthy),
    down: both(old.down, young.down),
    inSync: both(old.inSync, young.inSync),
    silent: both(old.silent ?? {}, young.silent ?? {}),
    evidence: Object.fromEntries(evidence),
    quorumLost: old.quorumLost === undefined ? undefined : young.quorumLost,
    ...(jobs && { jobFailed: old.jobFailed, jobWaits: old.jobWaits }),
  };
}
