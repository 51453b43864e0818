import type { MemberCluster } from '../../e2e/support/member-cluster';
import type { Manifest } from '../../synth';

export interface RunningMember {
  /** Of its pod. */
  readonly name: string;
  readonly version: string;
  readonly leads: boolean;
}

/** Returns the version that each member reports. Throws if a member does not answer. */
export async function runningMembers(cluster: MemberCluster): Promise<RunningMember[]> {
  const list = JSON.parse(await cluster.etcdctl(['member', 'list', '-w', 'json']));
  const found = JSON.parse(await cluster.etcdctl(['endpoint', 'status', '--cluster', '-w', 'json']));
  return found.map(({ Status: { header, version, leader } }: Manifest) => ({
    name: list.members.find(({ ID }: Manifest) => ID === header.member_id).name,
    version,
    leads: leader === header.member_id,
  }));
}

export const versionsOf = async (cluster: MemberCluster): Promise<string[]> =>
  (await runningMembers(cluster)).map(({ version }) => version);

export async function leaderOf(cluster: MemberCluster): Promise<string> {
  return (await runningMembers(cluster)).find(({ leads }) => leads)!.name;
}
