import type { ManagedTls, TlsSecrets } from './tls-binding';

/** Names of the Secrets of a cluster whose certificates the reconciler issues. */
export const tlsSecretNames = (cluster: string): Required<TlsSecrets> => named(cluster, 'tls');

/** Other names, because the Secrets of both sources exist while a cluster changes from one to the other. */
export const otherSecretNames = (cluster: string): Required<TlsSecrets> => named(cluster, 'cert');

const named = (cluster: string, end: string): Required<TlsSecrets> => ({
  peer: `${cluster}-peer-${end}`,
  server: `${cluster}-server-${end}`,
  client: `${cluster}-client-${end}`,
  root: `${cluster}-root-${end}`,
  backup: `${cluster}-backup-${end}`,
});

/** User of etcd as which a cluster's backups are taken. The port for backups accepts no other. */
export const backupUser = (cluster: string): string => `${cluster}-backup`;

/** Names of the Secrets that the reconciler writes. */
export const managedSecrets = (
  { peer, server, client, root, backup }: TlsSecrets,
  { peerAuthority, clientAuthority }: ManagedTls,
) => [peerAuthority, clientAuthority, peer, server, client, ...[root, backup].filter((name) => name !== undefined)];

/** Fields of `spec.tls` itself; the others are in `spec.tls.managed`. */
export type LeafSecret = 'clientSecret' | 'rootSecret' | 'backupSecret';

/** Names that follow from the name of the cluster, by the fields of `spec.tls`. */
export function managedSecretNames(
  cluster: string,
): Record<LeafSecret | 'peerAuthority' | 'clientAuthority' | 'peerSecret' | 'serverSecret', string> {
  const { peer, server, client, root, backup } = tlsSecretNames(cluster);
  return {
    clientSecret: client,
    rootSecret: root,
    backupSecret: backup,
    peerAuthority: `${cluster}-peer-ca`,
    clientAuthority: `${cluster}-client-ca`,
    peerSecret: peer,
    serverSecret: server,
  };
}

/** Name of the Secret with the authorities of both sources of certificates. */
export const trustSecretName = (cluster: string): string => `${cluster}-tls-trust`;
