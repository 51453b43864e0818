import { stat } from 'node:fs/promises';
import * as z from 'zod/mini';
import { boltDamage } from '../../etcd/offline/bolt-check.ts';
import { TRAILER } from '../../etcd/snapshot-stream.ts';
import { AgentError, ExitCode, usageError } from '../../lib/errors.ts';
import { hostOf } from '../node/local-address.ts';
import type { MemberFlags } from '../node/member-flags.ts';

const memberSchema = z.object({
  name: z.optional(z.string()),
  peerURLs: z.array(z.string()),
  isLearner: z.optional(z.boolean()),
});

export interface SnapshotMember {
  /** Empty for a member that never started. */
  readonly name: string;
  readonly peerUrls: readonly string[];
}

export interface DatabaseMember extends SnapshotMember {
  readonly isLearner: boolean;
}

/** Parses a member as etcd stores it in its database and reports it to its peers. */
export function memberOf(document: unknown): DatabaseMember {
  const { name = '', peerURLs, isLearner = false } = memberSchema.parse(document);
  return { name, peerUrls: peerURLs, isLearner };
}

/** Reads the members from a plain snapshot, sorted by name. */
export async function snapshotMembers(file: string, signal?: AbortSignal): Promise<DatabaseMember[]> {
  const members: DatabaseMember[] = [];
  const { size } = await stat(file);
  const visit = (bucket: string) => (_: Buffer, value: Buffer) => {
    if (bucket === 'members') members.push(memberIn(value));
  };
  await boltDamage(file, size - TRAILER, visit, signal);
  return members.sort((a, b) => (a.name < b.name ? -1 : 1));
}

function memberIn(value: Buffer): DatabaseMember {
  try {
    return memberOf(JSON.parse(value.toString()));
  } catch (error) {
    throw new AgentError(ExitCode.verificationFailed, 'the snapshot lists a member that cannot be read', {
      cause: error,
    });
  }
}

/** Members that a restore creates again: started voters. */
export const votersOf = (members: readonly DatabaseMember[]): SnapshotMember[] =>
  members.flatMap(({ name, peerUrls, isLearner }) => (name && !isLearner ? [{ name, peerUrls }] : []));

/** Formats the value of `--initial-cluster`. */
export const initialClusterOf = (members: readonly SnapshotMember[]): string =>
  members.flatMap(({ name, peerUrls }) => peerUrls.map((url) => `${name}=${url}`)).join(',');

/** Parses a list of members and their peer URLs. */
export function parseInitialCluster(text: string): SnapshotMember[] {
  const members = new Map<string, string[]>();
  for (const part of text.split(',').filter(Boolean)) {
    const at = part.indexOf('=');
    const name = part.slice(0, at);
    members.set(name, [...(members.get(name) ?? []), part.slice(at + 1)]);
  }
  return Array.from(members, ([name, peerUrls]) => ({ name, peerUrls }));
}

/** Members of the restored cluster: those of the snapshot or those that are given. Refuses unless this node is one of them. */
export function membersToRestore(
  id: string,
  ofSnapshot: readonly SnapshotMember[],
  given: string | undefined,
  { member }: { readonly member: Pick<MemberFlags, 'name' | 'peerUrls'> },
): readonly SnapshotMember[] {
  const members = given === undefined ? ofSnapshot : parseInitialCluster(given);
  const own = members.find(({ name }) => name === member.name);
  const wrong = (what: string) =>
    given === undefined
      ? new AgentError(
          ExitCode.refused,
          `${id}: ${what}, but the snapshot lists ${listed(members)}: it belongs to another cluster, or the flags belong to another node`,
          { finding: { kind: 'newMachines' } },
        )
      : usageError(`${what}, but the flag lists ${listed(members)}`, { at: 'initialCluster' });
  if (!own) throw wrong(`this node's member is ${member.name}`);
  if (!sameUrls(own.peerUrls, member.peerUrls.split(','))) {
    throw wrong(`this node's member is ${member.name}=${member.peerUrls}`);
  }
  return members;
}

const listed = (members: readonly SnapshotMember[]): string =>
  members.map(({ name, peerUrls }) => `${name}=${peerUrls.join()}`).join(', ') || 'no members';

const sameUrls = (a: readonly string[], b: readonly string[]): boolean =>
  [...a].map(normal).sort().join() === [...b].map(normal).sort().join();

export const sharesUrl = (one: SnapshotMember, other: SnapshotMember): boolean => {
  const urls = new Set(one.peerUrls.map(normal));
  return other.peerUrls.some((url) => urls.has(normal(url)));
};

export const titleOf = ({ name, peerUrls }: SnapshotMember): string => {
  const hosts = [...new Set(peerUrls.map(hostOf))].join(', ');
  return name ? `${name} (${hosts})` : hosts;
};

const normal = (url: string): string => url.replace(/\/+$/, '').toLowerCase();
