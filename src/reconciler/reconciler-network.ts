import { ports } from '../etcd/cluster-ports';
import { policyPorts } from '../lib/network-access';
import { destinationRules, dnsRules } from '../lib/network-egress';
import type { NetworkEgressSpec } from '../resource/types';

/** Returns the egress rules of a reconciler. It reaches the members and Jobs of every cluster of its namespace. */
export function reconcilerEgress(egress: NetworkEgressSpec): object[] {
  return [
    pods('etcd', ports.client, ports.agent),
    pods('etcd-backup', ports.agent),
    ...destinationRules(egress.apiServer),
    ...dnsRules(egress),
  ];
}

function pods(name: string, ...numbers: readonly number[]): object {
  return {
    to: [{ podSelector: { matchLabels: { 'app.kubernetes.io/name': name } } }],
    ports: policyPorts(numbers),
  };
}
