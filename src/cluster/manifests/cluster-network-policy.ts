import { ports } from '../../etcd/cluster-ports';
import { jobSelector, memberSelector, reconcilerSelector } from './cluster-labels';

/** NetworkPolicyPeers; `any` is everyone, none is nobody. */
export type Peers = readonly object[] | 'any';

type Port = keyof typeof ports;

/** The NetworkPolicySpec of the members. What a member itself may call is not limited. */
export function memberPolicy(cluster: string, networkAccess: Peers, metricsAccess: Peers): object {
  const jobs = podsWith(jobSelector(cluster));
  const members = podsWith(memberSelector(cluster));
  return ingressPolicy(memberSelector(cluster), [
    allow([members], 'peer', 'client', 'agent'),
    // Jobs read the database; the agent serves them what is left of a lost quorum.
    allow([jobs, podsWith(reconcilerSelector)], 'client', 'agent'),
    allow(networkAccess, 'client'),
    allow(metricsAccess, 'metrics', 'agent'),
  ]);
}

/** The NetworkPolicySpec of the cluster's Jobs: a member fetches from one what it restores. */
export function jobPolicy(cluster: string): object {
  const peers = [podsWith(memberSelector(cluster)), podsWith(reconcilerSelector)];
  return ingressPolicy(jobSelector(cluster), [allow(peers, 'agent')]);
}

function ingressPolicy(matchLabels: object, rules: readonly (object | undefined)[]): object {
  return {
    podSelector: { matchLabels },
    policyTypes: ['Ingress'],
    ingress: rules.filter((rule) => rule !== undefined),
  };
}

function podsWith(matchLabels: object): object {
  return { podSelector: { matchLabels } };
}

function allow(peers: Peers, ...names: readonly Port[]): object | undefined {
  // An empty `from` would be everyone.
  if (peers.length === 0) return undefined;
  const rule = { ports: names.map((name) => ({ port: ports[name], protocol: 'TCP' })) };
  return peers === 'any' ? rule : { from: peers, ...rule };
}
