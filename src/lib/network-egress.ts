import { defaults } from '../resource/defaults';
import { valueProblems } from '../resource/prop-problems';
import type { NetworkDestinationSpec, NetworkEgressSpec, NetworkPeerSpec } from '../resource/types';
import { type NetworkPeer, peerSpec, policyPeer, policyPorts } from './network-access';

/** Selects pods or IP addresses to which pods may connect. */
export interface NetworkDestination extends NetworkPeer {
  /**
   * Lists the TCP ports.
   * @default - every port of every protocol
   */
  readonly ports?: number[];
}

/**
 * Selects the connections that the pods may open, besides those to each other. All others are refused. It takes effect
 * only if the network plugin enforces NetworkPolicies.
 */
export interface NetworkEgress {
  /**
   * Selects the API servers of Kubernetes: the addresses and ports in `kubectl get endpoints kubernetes`, because most
   * network plugins apply the rules after the address of the Service has been replaced.
   */
  readonly apiServer: NetworkDestination[];
  /**
   * Selects the DNS servers, by UDP and TCP. Their `ports` are 53 by default.
   * @default - the pods `k8s-app: kube-dns` in the namespace `kube-system`
   */
  readonly dns?: NetworkDestination[];
  /**
   * Selects the backup stores, and what they need, such as a proxy or a token service. Only the Jobs of a cluster
   * connect to them.
   * @default - none: backups to anything other than a volume fail
   */
  readonly stores?: NetworkDestination[];
}

/** The destinations as the resource has them. */
export function egressSpec({ apiServer, dns, stores }: NetworkEgress): NetworkEgressSpec {
  return { apiServer: apiServer.map(peerSpec), dns: dns?.map(peerSpec), stores: stores?.map(peerSpec) };
}

const usualDns = defaults.NetworkEgressSpec.dns;

/** Returns the egress rules for DNS. */
export function dnsRules({ dns = usualDns }: NetworkEgressSpec): object[] {
  return dns.map(({ ports = usualDns[0].ports, ...peer }: NetworkDestinationSpec) =>
    destination(peer, [...policyPorts(ports, 'UDP'), ...policyPorts(ports)]),
  );
}

/** Returns the egress rules for these destinations. */
export function destinationRules(destinations: readonly NetworkDestinationSpec[] = []): object[] {
  return destinations.map(({ ports, ...peer }) => destination(peer, ports && policyPorts(ports)));
}

/** Problems with the destinations, each with its remedy. */
export const egressProblems = (egress: NetworkEgressSpec): string[] => valueProblems('egress', 'spec.egress', egress);

function destination(peer: NetworkPeerSpec, ports: object[] | undefined): object {
  return { to: [policyPeer(peer)], ports };
}
