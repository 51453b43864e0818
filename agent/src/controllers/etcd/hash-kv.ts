import { setTimeout as sleep } from 'node:timers/promises';
import type { HashKVAnswer } from '../../etcd/maintenance.ts';
import { messageOf } from '../../lib/errors.ts';

/** A member to compare with others. */
export interface Hashed {
  readonly id: string;
  revision(): Promise<number>;
  hashAt(revision: number): Promise<HashKVAnswer>;
  /** Returns true if the compact revision is at least this one. */
  compactedAt(revision: number): Promise<boolean>;
}

export interface HashComparison {
  equal: boolean;
  /** Members that differ from the majority. Empty without a majority. */
  minority: string[];
  /** Why nothing could be compared. `equal` is then true, because no difference was found. */
  inconclusive?: string;
}

type Answers = readonly (HashKVAnswer & { readonly id: string })[];
type Outcome = HashComparison | 'moving' | 'compacted';

const attempts = 5;
const pause = 200;

/**
 * Compares HashKV of all members at one revision. The hash depends on the compact revision, which a compaction changes on one
 * member before another; then the comparison is repeated. At the compact revision itself etcd returns an older hash, or refuses.
 */
export async function compareHashes(members: readonly Hashed[]): Promise<HashComparison> {
  let last: Outcome = 'moving';
  let differed = false;
  for (let attempt = 0; attempt < attempts; attempt++) {
    if (attempt > 0) await sleep(pause);
    last = await compareOnce(members);
    if (typeof last === 'string') continue;
    // A difference stops all operations, so it must be found twice.
    if (last.equal || differed) return last;
    differed = true;
  }
  if (last === 'compacted') {
    return { equal: true, minority: [], inconclusive: 'the newest revision is compacted: nothing to compare above it' };
  }
  throw new Error('the members cannot be compared: they are compacted at different revisions');
}

async function compareOnce(members: readonly Hashed[]): Promise<Outcome> {
  const revision = Math.max(...(await Promise.all(members.map((member) => member.revision()))));
  const answers = await Promise.all(members.map((member) => hashOf(member, revision)));
  const found = answers.filter((answer) => answer !== undefined);
  if (found.length < members.length) return 'compacted';
  if (allSame(found, ({ hash, compactRevision }) => `${hash} ${compactRevision}`)) return { equal: true, minority: [] };
  const compacted = await Promise.all(members.map((member) => member.compactedAt(revision)));
  if (compacted.includes(true)) return 'compacted';
  if (!allSame(found, ({ compactRevision }) => compactRevision)) return 'moving';
  return { equal: false, minority: minorityOf(found) };
}

/** Returns undefined if the revision has been compacted. */
async function hashOf(member: Hashed, revision: number): Promise<Answers[number] | undefined> {
  for (let attempt = 0; ; attempt++) {
    try {
      return { id: member.id, ...(await member.hashAt(revision)) };
    } catch (error) {
      if (/has been compacted/.test(messageOf(error))) return undefined;
      // The member has not applied this revision yet, or has not applied its promotion.
      if (!/future revision|not supported for learner/.test(messageOf(error)) || attempt === 20) throw error;
      await sleep(100);
    }
  }
}

const allSame = <T>(values: readonly T[], key: (value: T) => unknown): boolean => new Set(values.map(key)).size <= 1;

function minorityOf(answers: Answers): string[] {
  const groups = [...Map.groupBy(answers, ({ hash }) => hash).values()];
  const majority = groups.find((group) => group.length > answers.length / 2);
  return majority ? answers.filter((answer) => !majority.includes(answer)).map(({ id }) => id) : [];
}
