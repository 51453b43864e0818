import type { NamedManagedTls } from './default-names';
import type { SecretNames } from './tls-secrets';

/** Common name of the certificate of all clients. */
export const clientUser = (cluster: string): string => `${cluster}-client`;

/** User of etcd as which a cluster's backups are taken. The port for backups accepts no other. */
export const backupUser = (cluster: string): string => `${cluster}-backup`;

/** Names of the Secrets that the reconciler writes. */
export const managedSecrets = (
  { peer, server, client, root, backup }: SecretNames,
  { peerAuthority, clientAuthority }: NamedManagedTls,
) => [peerAuthority, clientAuthority, peer, server, client, ...[root, backup].filter((name) => name !== undefined)];
