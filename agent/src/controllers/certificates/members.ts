import type { AgentStatus } from '../../protocol/agent-status.ts';
import { known, unknown } from '../../protocol/known.ts';
import { ordinalOfMember, podName } from '../port/names.ts';
import type { Observed } from '../port/observed.ts';
import type { EndReport, MemberReports } from './rotation.ts';

/**
 * The reports of all members and pods of a cluster about their certificates. Unknown unless all of them are known. A pod that
 * is not a member, and does not run, has read nothing yet. A member at the address of no pod reports nothing.
 */
export function memberReports({ cluster, members, pods, agents }: Observed): MemberReports {
  if (!cluster.known || !cluster.v) return unknown('the EtcdCluster was not read');
  if (!members.known) return unknown(members.why);
  if (!pods.known) return unknown(pods.why);
  const resource = cluster.v;
  const running = new Set(pods.v.filter((pod) => pod.running).map(({ ordinal }) => ordinal));
  const placed = members.v.map(({ peerUrls }) => ({ peerUrls, ordinal: ordinalOfMember(resource, peerUrls) }));
  const all = new Set([...placed.flatMap(({ ordinal }) => ordinal ?? []), ...running]);
  const own = [...all].sort().map((ordinal) => {
    const agent = agents[ordinal];
    const status = agent?.known && agent.v.etcd?.up ? agent.v : undefined;
    return {
      ...{ pod: podName(resource, ordinal), isDown: !running.has(ordinal) },
      ...{ peers: endOf(status, 'peer'), clients: endOf(status, 'client') },
    };
  });
  const foreign = placed.filter(({ ordinal }) => ordinal === undefined);
  const silent = foreign.map(({ peerUrls }) => ({ pod: `at ${peerUrls.join()}`, peers: {}, clients: {} }));
  return known([...own, ...silent]);
}

const endOf = (status: AgentStatus | undefined, end: 'peer' | 'client'): EndReport => ({
  leaf: status?.leaves?.[end],
  root: status?.roots?.[end]?.onDisk,
  loaded: status?.roots?.[end]?.loaded,
  list: status?.revocationLists?.[end],
});
