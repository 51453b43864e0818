import { AgentError, ExitCode } from '../../lib/errors.ts';
import type { EtcdNode } from '../node/node.ts';
import { parseInitialCluster, type SnapshotMember } from './snapshot-members.ts';

/** The members of the restored cluster: those of the snapshot, or those that were given; this node has to be among them. */
export function membersToRestore(
  id: string,
  ofSnapshot: readonly SnapshotMember[],
  given: string | undefined,
  { member }: Pick<EtcdNode, 'member'>,
): readonly SnapshotMember[] {
  const members = given === undefined ? ofSnapshot : parseInitialCluster(given);
  const own = members.find(({ name }) => name === member.name);
  const wrong = (what: string) =>
    given === undefined
      ? new AgentError(
          ExitCode.refused,
          `${id}: ${what}, but ${told(members)}: it is of another cluster, or the flags are another node's; for new machines give --initial-cluster`,
        )
      : new AgentError(ExitCode.usage, `--initial-cluster: ${what}, but it has ${told(members)}`);
  if (!own) throw wrong(`this node's member is ${member.name}`);
  if (!sameUrls(own.peerUrls, member.peerUrls.split(','))) {
    throw wrong(`this node's member is ${member.name}=${member.peerUrls}`);
  }
  return members;
}

const told = (members: readonly SnapshotMember[]): string =>
  members.map(({ name, peerUrls }) => `${name}=${peerUrls.join()}`).join(', ') || 'no members';

const sameUrls = (a: readonly string[], b: readonly string[]): boolean =>
  [...a].map(normal).sort().join() === [...b].map(normal).sort().join();

const normal = (url: string): string => url.replace(/\/+$/, '').toLowerCase();
