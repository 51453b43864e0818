import type { EtcdMember } from '../../../etcd/etcd-member.ts';
import { AgentError, ExitCode, remarkOf } from '../../../lib/errors.ts';
import { type Finding, type Remark, together } from '../../../lib/finding.ts';
import { Budget } from '../../../lib/limits/budget.ts';
import type { HashKV } from '../../catalog/manifest.ts';
import type { ReachedMember } from './observe-cluster.ts';

export interface Comparison {
  readonly outcome: 'agree' | 'differ' | 'inconclusive';
  /** HashKV of the source. Undefined if the source did not return it. */
  readonly hashKV?: HashKV;
  readonly detail: string;
  /** What can be done about a member that did not answer. */
  readonly finding?: Finding | undefined;
}

const ATTEMPTS = 3;
const MIB = 1024 * 1024;

/**
 * Compares HashKV of the source with that of every other voter at one revision. The hash depends on the compact revision,
 * so members that were compacted differently cannot be compared. The comparison is then repeated; after three attempts it
 * is inconclusive. A member that does not answer is not asked again. `all` is the number of other voters, reached or not.
 */
export async function compareMembers(
  source: ReachedMember,
  others: readonly ReachedMember[],
  budget = new Budget(),
  all = others.length,
): Promise<Comparison> {
  const { signal } = budget;
  const asked = [source, ...others];
  const apart = fallenBehind(await statusesOf(asked, signal), await statusesOf(asked, signal));
  if (apart !== undefined) return { outcome: 'differ', detail: `MembersInconsistent: ${apart}` };
  const silent = new Map<string, Remark>();
  for (let attempt = 1; ; attempt++) {
    const { again, ...comparison } = await compareOnce(source, others, silent, budget, all).catch((error): Attempt => {
      signal.throwIfAborted();
      if (error instanceof AgentError && error.exitCode === ExitCode.usage) throw error;
      const { message, finding } = remarkOf(error);
      return { outcome: 'inconclusive', detail: `the source did not return HashKV: ${message}`, finding };
    });
    if (!again || attempt === ATTEMPTS) return comparison;
  }
}

/** `again`: another attempt may be conclusive. */
type Attempt = Comparison & { readonly again?: boolean };

export type MemberAt = Pick<ReachedMember, 'endpoint'> & {
  readonly status: Pick<ReachedMember['status'], 'revision' | 'raftAppliedIndex'>;
};

/**
 * Describes the members whose revision is below that of another member by more than the entries of the common log that only that
 * one has applied. They were restored from other data, of which the hash cannot be compared: one does not have the revision of the
 * other. Two statuses of each, because revision and applied index of one are not of the same moment: what a member had applied
 * before is in its later revision, and what is in a revision is applied by then, but for the entry that is being applied. An entry
 * raises the revision by at most one.
 */
export function fallenBehind(before: readonly MemberAt[], after: readonly MemberAt[]): string | undefined {
  const members = before.flatMap(({ endpoint, status: first }) => {
    const last = after.find((each) => each.endpoint === endpoint)?.status;
    return last ? [{ endpoint, first, last }] : [];
  });
  const found = members.flatMap(({ endpoint, first: { raftAppliedIndex: applied }, last: { revision } }) => {
    const ahead = members.find(
      ({ first, last }) => first.revision > revision + Math.max(0, last.raftAppliedIndex - applied) + 1,
    );
    return ahead
      ? [
          `${endpoint} is at revision ${revision}, although ${ahead.endpoint}, which has not applied so much more of the log, is at ${ahead.first.revision}`,
        ]
      : [];
  });
  return found.length > 0 ? `${found.join('; ')}: they hold different data` : undefined;
}

/** Reads how far members are now. Leaves out those that do not answer. */
export async function statusesOf(members: readonly ReachedMember[], signal?: AbortSignal): Promise<MemberAt[]> {
  const read = members.map(({ endpoint, member }) =>
    member.status(signal).then(
      (status) => [{ endpoint, status }],
      () => [],
    ),
  );
  const all = (await Promise.all(read)).flat();
  signal?.throwIfAborted();
  return all;
}

/** `silent`: why members did not answer an earlier attempt, by their endpoints. Those of this one are added. */
async function compareOnce(
  source: ReachedMember,
  others: readonly ReachedMember[],
  silent: Map<string, Remark>,
  budget: Budget,
  all: number,
): Promise<Attempt> {
  const { signal } = budget;
  const { revision, dbSize } = await source.member.status(signal);
  const ask = <T>(work: (deadline: number) => Promise<T>): Promise<T> => {
    const deadline = budget.patience(60_000 + Math.ceil(dbSize / MIB) * 200);
    return budget.apart(deadline, () => work(deadline));
  };
  const own = await ask((deadline) => source.member.hashKV(revision, deadline, signal));
  // At the compact revision itself, etcd 3.5+ uses the previous compact revision: nobody can reproduce that hash.
  if (await source.member.isCompacted(revision - 1)) {
    return {
      outcome: 'inconclusive',
      detail: `revision ${revision} is the compact revision; there are no newer keys to hash`,
    };
  }
  let agreeing = 0;
  const differing: string[] = [];
  const compacted: string[] = [];
  const answers = await ask((deadline) =>
    Promise.all(
      others.map(async ({ endpoint, member }) => ({
        endpoint,
        other: silent.get(endpoint) ?? (await hashOrReason(member, revision, deadline, signal)),
      })),
    ),
  );
  for (const { endpoint, other } of answers) {
    if ('message' in other) silent.set(endpoint, other);
    else if (other.compactRevision !== own.compactRevision) compacted.push(endpoint);
    else if (other.hash === own.hash) agreeing++;
    else differing.push(endpoint);
  }
  const hashKV = { revision, ...own, membersAgreeing: agreeing };
  if (differing.length > 0) {
    return {
      outcome: 'differ',
      hashKV,
      detail: `MembersInconsistent: at revision ${revision}, the data of ${differing.join(', ')} differ from those of ${source.endpoint}`,
    };
  }
  const unknown = [
    ...[...silent].map(([endpoint, { message }]) => (message.includes(endpoint) ? message : `${endpoint}: ${message}`)),
    ...compacted.map((endpoint) => `${endpoint}: compacted at another revision`),
  ];
  if (unknown.length > 0) {
    const finding = together(...[...silent.values()].map((each) => each.finding));
    return { outcome: 'inconclusive', hashKV, detail: unknown.join('; '), finding, again: compacted.length > 0 };
  }
  return { outcome: 'agree', hashKV, detail: agreement(agreeing, all, revision) };
}

function agreement(agreeing: number, all: number, revision: number): string {
  if (agreeing === 0) return `no other member to compare with at revision ${revision}`;
  if (agreeing < all) {
    const verb = agreeing === 1 ? 'agrees' : 'agree';
    return `${agreeing} of ${all} other members ${verb} at revision ${revision}; the rest could not be compared`;
  }
  return `${agreeing} other ${agreeing === 1 ? 'member agrees' : 'members agree'} at revision ${revision}`;
}

async function hashOrReason(member: EtcdMember, revision: number, deadline: number, signal?: AbortSignal) {
  for (let attempt = 1; ; attempt++) {
    try {
      return await member.hashKV(revision, deadline, signal);
    } catch (error) {
      signal?.throwIfAborted();
      const reason = remarkOf(error);
      // The member has not applied this revision yet.
      if (!/future revision/.test(reason.message) || attempt === 30) return reason;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}
