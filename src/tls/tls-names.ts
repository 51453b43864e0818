import type { ManagedTlsSpec } from '../resource/types';
import type { SecretNames } from './tls-secrets';

/** Names of the Secrets of a cluster whose certificates the reconciler issues. */
export const tlsSecretNames = (cluster: string): Required<SecretNames> => named(cluster, 'tls');

/** Other names, because the Secrets of both sources exist while a cluster changes from one to the other. */
export const otherSecretNames = (cluster: string): Required<SecretNames> => named(cluster, 'cert');

const named = (cluster: string, end: string): Required<SecretNames> => ({
  peer: `${cluster}-peer-${end}`,
  server: `${cluster}-server-${end}`,
  client: `${cluster}-client-${end}`,
  root: `${cluster}-root-${end}`,
  backup: `${cluster}-backup-${end}`,
});

/** Common name of the certificate of all clients. */
export const clientUser = (cluster: string): string => `${cluster}-client`;

/** User of etcd as which a cluster's backups are taken. The port for backups accepts no other. */
export const backupUser = (cluster: string): string => `${cluster}-backup`;

/** Names of the Secrets that the reconciler writes. */
export const managedSecrets = (
  { peer, server, client, root, backup }: SecretNames,
  { peerAuthority, clientAuthority }: Pick<ManagedTlsSpec, 'peerAuthority' | 'clientAuthority'>,
) => [peerAuthority, clientAuthority, peer, server, client, ...[root, backup].filter((name) => name !== undefined)];

/** Names of the Secrets with the two authorities that the reconciler makes. */
export const authorityNames = (cluster: string) => ({
  peerAuthority: `${cluster}-peer-ca`,
  clientAuthority: `${cluster}-client-ca`,
});

/** The Secrets of a source, by the fields of `spec.tls`. */
export const secretFields = ({ peer, server, client, root, backup }: SecretNames) => ({
  peerSecret: peer,
  serverSecret: server,
  clientSecret: client,
  rootSecret: root,
  backupSecret: backup,
});

/** Name of the Secret with the authorities of both sources of certificates. */
export const trustSecretName = (cluster: string): string => `${cluster}-tls-trust`;
