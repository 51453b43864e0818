import { stat } from 'node:fs/promises';
import * as z from 'zod/mini';
import { boltDamage } from '../../etcd/offline/bolt-check.ts';
import { TRAILER } from '../../etcd/snapshot-stream.ts';

const memberSchema = z.object({
  name: z.optional(z.string()),
  peerURLs: z.array(z.string()),
  isLearner: z.optional(z.boolean()),
});

export interface SnapshotMember {
  /** One that never started has none. */
  readonly name: string;
  /** One or several. */
  readonly peerUrls: readonly string[];
}

export interface ListedMember extends SnapshotMember {
  readonly isLearner: boolean;
}

/** As etcd writes it into its database, and answers it to its peers. */
export function memberOf(document: unknown): ListedMember {
  const { name = '', peerURLs, isLearner = false } = memberSchema.parse(document);
  return { name, peerUrls: peerURLs, isLearner };
}

/** The members that the cluster had when a plain snapshot was taken, by name. */
export async function snapshotMembers(file: string, signal?: AbortSignal): Promise<ListedMember[]> {
  const members: ListedMember[] = [];
  const { size } = await stat(file);
  const visit = (bucket: string) => (_: Buffer, value: Buffer) => {
    if (bucket === 'members') members.push(memberOf(JSON.parse(value.toString())));
  };
  await boltDamage(file, size - TRAILER, visit, signal);
  return members.sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Those that a restore makes anew. */
export const votersOf = (members: readonly ListedMember[]): SnapshotMember[] =>
  members.flatMap(({ name, peerUrls, isLearner }) => (name && !isLearner ? [{ name, peerUrls }] : []));

/** The value of `--initial-cluster`. */
export const initialClusterOf = (members: readonly SnapshotMember[]): string =>
  members.flatMap(({ name, peerUrls }) => peerUrls.map((url) => `${name}=${url}`)).join(',');

/** Of `--initial-cluster`. */
export function parseInitialCluster(text: string): SnapshotMember[] {
  const members = new Map<string, string[]>();
  for (const part of text.split(',').filter(Boolean)) {
    const at = part.indexOf('=');
    const name = part.slice(0, at);
    members.set(name, [...(members.get(name) ?? []), part.slice(at + 1)]);
  }
  return Array.from(members, ([name, peerUrls]) => ({ name, peerUrls }));
}
