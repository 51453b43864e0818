import { type EtcdAccess, EtcdMember, type EtcdMemberEntry } from '../../../etcd/etcd-member.ts';
import { alarmsIn, type MemberAlarm } from '../../../etcd/maintenance.ts';
import { AgentError, ExitCode, remarkOf } from '../../../lib/errors.ts';
import type { Log } from '../../../lib/log.ts';
import type { ObservedMember } from './rank-sources.ts';

export interface ReachedMember extends ObservedMember {
  readonly member: EtcdMember;
}

/** The members that answered, without duplicates. Disposing closes their connections. */
export class ObservedCluster {
  readonly members: readonly ReachedMember[];
  /** Every member, whether it answered or not. Undefined if no member list could be read. */
  readonly listed: readonly EtcdMemberEntry[] | undefined;

  constructor(members: readonly ReachedMember[], listed: readonly EtcdMemberEntry[] | undefined) {
    this.members = members;
    this.listed = listed;
  }

  /** What any of the members says. */
  get alarms(): readonly MemberAlarm[] {
    return distinct(this.members.flatMap(({ status }) => alarmsIn(status)));
  }

  /** Number of voters in the cluster. Undefined if no member list could be read. */
  get voters(): number | undefined {
    return this.listed?.filter(({ isLearner }) => !isLearner).length;
  }

  [Symbol.dispose](): void {
    for (const { member } of this.members) member.close();
  }
}

/** Reads the status of the given endpoints, and then of all other voters in the member list. */
export async function observeCluster(access: EtcdAccess, log: Log, signal?: AbortSignal): Promise<ObservedCluster> {
  const reached = new Map<string, ReachedMember>();
  const failures: unknown[] = [];
  const reach = async (endpoint: string, check?: (found: ReachedMember) => void) => {
    try {
      const found = await reachMember(endpoint, access, signal);
      check?.(found);
      const known = reached.get(found.status.memberId);
      if (known) found.member.close();
      else reached.set(found.status.memberId, found);
    } catch (error) {
      signal?.throwIfAborted();
      failures.push(error);
      const { message, at, finding } = remarkOf(error);
      log.warn({ endpoint, at, finding }, message);
    }
  };
  try {
    await Promise.all(access.endpoints.map((endpoint) => reach(endpoint)));
    const [first] = reached.values();
    if (!first) throw worst(failures);
    // A learner refuses to list members. In some versions, so does a member without quorum.
    const lists = [...reached.values()].filter(({ status }) => !status.isLearner);
    const members = await firstAnswer(
      lists.map(
        ({ member }) =>
          () =>
            member.members(),
      ),
    );
    const unknown = (members ?? []).filter(({ id, isLearner }) => !isLearner && !reached.has(id));
    const { clusterId } = (lists[0] ?? first).status;
    // Nobody named these addresses: some members advertise one at which another etcd answers, such as localhost.
    const isOther = (name: string) => (found: ReachedMember) => {
      if (found.status.clusterId === clusterId) return;
      found.member.close();
      throw new AgentError(
        ExitCode.etcdUnavailable,
        `member ${name} advertises ${found.endpoint}, where an etcd of another cluster (${found.status.clusterId}) answers`,
        { finding: { kind: 'foreignAddress' } },
      );
    };
    await Promise.all(
      unknown.flatMap(({ name, clientUrls }) => clientUrls.slice(0, 1).map((url) => reach(url, isOther(name)))),
    );
    return new ObservedCluster([...reached.values()], members);
  } catch (error) {
    for (const { member } of reached.values()) member.close();
    throw error;
  }
}

const distinct = (alarms: readonly MemberAlarm[]): MemberAlarm[] => [
  ...new Map(alarms.map((alarm) => [`${alarm.memberId} ${alarm.type}`, alarm])).values(),
];

export async function reachMember(endpoint: string, access: EtcdAccess, signal?: AbortSignal): Promise<ReachedMember> {
  const member = await EtcdMember.connect(endpoint, access, signal);
  try {
    return { endpoint, member, status: await member.status(signal) };
  } catch (error) {
    member.close();
    throw error;
  }
}

async function firstAnswer<T>(asks: readonly (() => Promise<T>)[]): Promise<T | undefined> {
  let failure: unknown;
  for (const ask of asks) {
    try {
      return await ask();
    } catch (error) {
      failure = error;
    }
  }
  if (failure instanceof AgentError && failure.exitCode === ExitCode.usage) throw failure;
  return undefined;
}

/** Returns the error to report: a mistake that the user must fix comes before an endpoint that is unreachable. */
function worst(failures: readonly unknown[]): unknown {
  return failures.find((error) => error instanceof AgentError && error.exitCode === ExitCode.usage) ?? failures[0];
}
