import type { TlsCluster } from './etcd-tls';
import { ordinals } from './ordinals';

/**
 * The names that the members call each other by: all there may ever be, so that growing needs no new certificate. Not the
 * shorter forms: etcd looks up every name of a peer's certificate until one has the caller's address.
 */
export function peerNames(cluster: TlsCluster): string[] {
  return memberNames(cluster).map((name) => `${name}.${suffixes(cluster).at(-1)}`);
}

/** Every name that a client may call a member or the client Service by. */
export function serverNames(cluster: TlsCluster): string[] {
  const hosts = [cluster.name, ...memberNames(cluster)];
  return ['localhost', ...hosts.flatMap((host) => [host, ...suffixes(cluster).map((suffix) => `${host}.${suffix}`)])];
}

const memberNames = ({ name }: TlsCluster) => ordinals.map((ordinal) => `${name}-${ordinal}.${name}-peers`);

function suffixes({ namespace, clusterDomain }: TlsCluster): string[] {
  const own = namespace ?? 'default';
  return [own, `${own}.svc`, `${own}.svc.${clusterDomain}`];
}
