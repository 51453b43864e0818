import type { AgentStatus } from '../../protocol/agent-status.ts';
import { known, unknown } from '../../protocol/known.ts';
import { ordinalOfMember, podName } from '../cluster/names.ts';
import type { Observed } from '../cluster/observed.ts';
import type { EndReport, MemberReports } from './rotation.ts';

/** The reports of all members and pods of a cluster about their certificates. Unknown unless all of them are known. */
export function memberReports({ cluster, members, pods, agents }: Observed): MemberReports {
  if (!cluster.known || !cluster.v) return unknown('the EtcdCluster was not read');
  if (!members.known) return unknown(members.why);
  if (!pods.known) return unknown(pods.why);
  const resource = cluster.v;
  const ordinals = members.v.map(({ peerUrls }) => ordinalOfMember(resource, peerUrls));
  if (ordinals.includes(undefined)) return unknown('a member is at the address of no pod');
  const all = new Set([...(ordinals as number[]), ...pods.v.map(({ ordinal }) => ordinal)]);
  return known(
    [...all].sort().map((ordinal) => {
      const agent = agents[ordinal];
      const status = agent?.known && agent.v.etcd?.up ? agent.v : undefined;
      return { pod: podName(resource, ordinal), peers: endOf(status, 'peer'), clients: endOf(status, 'client') };
    }),
  );
}

/** A pod does not start. */
export const podsWait = ({ pods }: Observed): boolean =>
  pods.known && pods.v.some(({ running, deleting }) => !running && !deleting);

const endOf = (status: AgentStatus | undefined, end: 'peer' | 'client'): EndReport => ({
  leaf: status?.leaves?.[end],
  root: status?.roots?.[end]?.onDisk,
  loaded: status?.roots?.[end]?.loaded,
  list: status?.revocationLists?.[end],
});
