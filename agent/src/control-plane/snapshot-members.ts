import { stat } from 'node:fs/promises';
import * as z from 'zod/mini';
import { boltDamage } from '../etcd/bolt-check.ts';
import { TRAILER } from '../etcd/snapshot-stream.ts';

const memberSchema = z.object({
  name: z.optional(z.string()),
  peerURLs: z.array(z.string()),
  isLearner: z.optional(z.boolean()),
});

export interface SnapshotMember {
  readonly name: string;
  /** One or several. */
  readonly peerUrls: readonly string[];
}

/** The voters that the cluster had when a plain snapshot was taken, by name. One that never started has no name. */
export async function snapshotMembers(file: string, signal?: AbortSignal): Promise<SnapshotMember[]> {
  const members: SnapshotMember[] = [];
  const { size } = await stat(file);
  const visit = (bucket: string) => (_: Buffer, value: Buffer) => {
    if (bucket !== 'members') return;
    const { name, peerURLs, isLearner } = memberSchema.parse(JSON.parse(value.toString()));
    if (name && !isLearner) members.push({ name, peerUrls: peerURLs });
  };
  await boltDamage(file, size - TRAILER, visit, signal);
  return members.sort((a, b) => (a.name < b.name ? -1 : 1));
}

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
