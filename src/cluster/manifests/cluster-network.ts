import { ports } from '../../etcd/cluster-ports';
import { accessPeers, policyPorts } from '../../lib/network-access';
import { destinationRules, dnsRules } from '../../lib/network-egress';
import type { NetworkEgressSpec } from '../../resource/types';
import type { TlsBinding } from '../../tls/tls-binding';
import type { ResolvedCluster } from '../resolved-cluster';
import { jobSelector, memberSelector, reconcilerSelector } from './cluster-labels';

/**
 * Returns the ServiceSpec for the DNS names of members, ready or not: members must find each other before they are
 * ready.
 */
export function peerService({ name, tls }: ResolvedCluster): object {
  return {
    clusterIP: 'None',
    publishNotReadyAddresses: true,
    selector: memberSelector(name),
    ports: [port('peer'), port('client'), ...backupPorts(tls).map(port), port('agent'), port('metrics')],
  };
}

/** Returns the ServiceSpec for clients, with the ready members. */
export function clientService({ name, service = {} }: ResolvedCluster): object {
  const { labels: _, annotations: __, nodePort, ...fields } = service;
  return { ...fields, selector: memberSelector(name), ports: [{ ...port('client'), nodePort }] };
}

/** Returns the ServiceSpec for clients outside of Kubernetes, with one member while it is ready. */
export function externalService({ name, externalServices }: ResolvedCluster, pod: string, nodePort?: number): object {
  const { labels: _, annotations: __, members: ___, ...fields } = externalServices!;
  return {
    ...fields,
    selector: { ...memberSelector(name), 'statefulset.kubernetes.io/pod-name': pod },
    ports: [{ ...port('client'), nodePort }],
  };
}

/**
 * Returns the ServiceSpec that gives one member a name for clients while it is ready. A member that is not ready may be
 * about to lose what clients write, such as the first member of a restore. The peer Service cannot serve this purpose:
 * it also has members that are not ready, and Kubernetes gives a pod a DNS name in only one Service.
 */
export function memberService({ name, tls }: ResolvedCluster, pod: string): object {
  return {
    clusterIP: 'None',
    selector: { ...memberSelector(name), 'statefulset.kubernetes.io/pod-name': pod },
    ports: [port('client'), ...backupPorts(tls).map(port)],
  };
}

/** The port for backups, which a member has if root's certificate exists. */
function backupPorts({ secrets }: TlsBinding): 'backup'[] {
  return secrets?.root === undefined ? [] : ['backup'];
}

function port(name: keyof typeof ports): object {
  // The number, not its name: a name would have to exist in each container.
  return { name, port: ports[name], targetPort: ports[name], protocol: 'TCP' };
}

/** NetworkPolicyPeers: `any` means every client, an empty list means none. */
type Peers = readonly object[] | 'any';

type Port = keyof typeof ports;

/** Returns the NetworkPolicySpec of the members. */
export function memberPolicy({ name, networkAccess, metricsAccess, egress, tls }: ResolvedCluster): object {
  const jobs = podsWith(jobSelector(name));
  const members = podsWith(memberSelector(name));
  const ingress = [
    allow([members], 'peer', 'client', 'agent'),
    // Jobs read the database. After a lost quorum, they fetch a survivor's data from its agent.
    allow([jobs, podsWith(reconcilerSelector)], 'client', 'agent'),
    allow(backupPorts(tls).length > 0 ? [jobs] : [], ...backupPorts(tls)),
    allow(accessPeers(networkAccess), 'client'),
    allow(accessPeers(metricsAccess), 'metrics', 'agent'),
  ];
  return policy(memberSelector(name), ingress, egress, ({ apiServer }) => [
    to([members], 'peer', 'client', 'agent'),
    to([jobs], 'agent'),
    ...destinationRules(apiServer),
  ]);
}

/** Returns the NetworkPolicySpec of the cluster's Jobs: members fetch the snapshot of a restore from a Job. */
export function jobPolicy({ name, egress, tls }: ResolvedCluster): object {
  const members = podsWith(memberSelector(name));
  const ingress = [allow([members, podsWith(reconcilerSelector)], 'agent')];
  return policy(jobSelector(name), ingress, egress, ({ stores }) => [
    to([members], 'client', ...backupPorts(tls), 'agent'),
    ...destinationRules(stores),
  ]);
}

function policy(
  matchLabels: object,
  ingress: readonly (object | undefined)[],
  egress: NetworkEgressSpec | undefined,
  rules: (egress: NetworkEgressSpec) => object[],
): object {
  return {
    podSelector: { matchLabels },
    policyTypes: egress ? ['Ingress', 'Egress'] : ['Ingress'],
    ingress: ingress.filter((rule) => rule !== undefined),
    egress: egress && [...rules(egress), ...dnsRules(egress)],
  };
}

function podsWith(matchLabels: object): object {
  return { podSelector: { matchLabels } };
}

function allow(peers: Peers, ...names: readonly Port[]): object | undefined {
  // An empty `from` would allow every client.
  if (peers.length === 0) return undefined;
  return peers === 'any' ? { ports: tcp(names) } : { from: peers, ports: tcp(names) };
}

function to(pods: readonly object[], ...names: readonly Port[]): object {
  return { to: pods, ports: tcp(names) };
}

function tcp(names: readonly Port[]): object[] {
  return policyPorts(names.map((name) => ports[name]));
}
