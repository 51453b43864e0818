import { clusterNames } from '../etcd/cluster-names';
import type { TlsCluster } from './etcd-tls';

/**
 * The names that the members call each other by: all there may ever be, so that growing needs no new certificate. Not the
 * shorter forms: etcd looks up every name of a peer's certificate until one has the caller's address.
 */
export function peerNames(cluster: TlsCluster): string[] {
  const { pods, peerService } = clusterNames(cluster.name);
  return pods.map((pod) => `${pod}.${peerService}.${suffixes(cluster).at(-1)}`);
}

/**
 * Every name that a client may call a member or the client Service by. The reconciler and its Jobs also reach members that
 * are not ready, by their names as peers.
 */
export function serverNames(cluster: TlsCluster): string[] {
  const hosts = [cluster.name, ...clusterNames(cluster.name).clientServices];
  const forClients = hosts.flatMap((host) => [host, ...suffixes(cluster).map((suffix) => `${host}.${suffix}`)]);
  return ['localhost', ...forClients, ...peerNames(cluster)];
}

function suffixes({ namespace, clusterDomain }: TlsCluster): string[] {
  const own = namespace ?? 'default';
  return [own, `${own}.svc`, `${own}.svc.${clusterDomain}`];
}
