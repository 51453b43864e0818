// The names of a cluster's Secrets that its resource leaves out. This file imports only types: the reconciler uses it too.
import type { AlsoTrustSpec, ManagedTlsSpec, TlsSpec } from '../resource/types.ts';
import type { SecretNames } from './tls-secrets.ts';

/** A source of certificates with all names of its Secrets. */
type Named<Source extends AlsoTrustSpec> = Omit<Source, 'managed' | 'alsoTrust'> &
  Required<Pick<Source, 'peerSecret' | 'serverSecret' | 'clientSecret'>> & { readonly managed?: NamedManagedTls };

type AuthorityNames = Required<Pick<ManagedTlsSpec, 'peerAuthority' | 'clientAuthority'>>;
export type NamedManagedTls = ManagedTlsSpec & AuthorityNames;
export type NamedAlsoTrust = Named<AlsoTrustSpec> & Required<Pick<AlsoTrustSpec, 'trustSecret'>>;

/** `spec.tls` with all names of Secrets. */
export type NamedTls = Named<TlsSpec> & { readonly alsoTrust?: NamedAlsoTrust };

/** Adds the names of Secrets that `spec.tls` leaves out. */
export function withDefaultNames(cluster: string, { alsoTrust, ...tls }: TlsSpec): NamedTls {
  return {
    ...sourceWithNames(cluster, tls),
    ...(alsoTrust && {
      alsoTrust: {
        ...sourceWithNames(cluster, alsoTrust),
        trustSecret: alsoTrust.trustSecret ?? trustSecretName(cluster),
      },
    }),
  };
}

function sourceWithNames<Source extends AlsoTrustSpec>(cluster: string, { managed, ...source }: Source): Named<Source> {
  const { rootSecret, backupSecret, ...names } = secretFields(
    managed ? tlsSecretNames(cluster) : otherSecretNames(cluster),
  );
  // Whoever names the Secrets of a source gives it these two or not.
  const hasRoot = (managed ?? source.certManager) && source.clientSecret === undefined;
  return {
    ...names,
    ...(hasRoot && { rootSecret, backupSecret }),
    ...given(source),
    ...(managed && { managed: { ...authorityNames(cluster), ...given(managed) } }),
  } as Named<Source>;
}

/** A name that is undefined is left out, too. */
const given = (fields: object): object =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));

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

/** Names of the Secrets with the two authorities that the reconciler makes. */
export const authorityNames = (cluster: string): AuthorityNames => ({
  peerAuthority: `${cluster}-peer-ca`,
  clientAuthority: `${cluster}-client-ca`,
});

/** Name of the Secret with the authorities of both sources of certificates. */
export const trustSecretName = (cluster: string): string => `${cluster}-tls-trust`;

/** The Secrets of a source, by the fields of `spec.tls`. */
export const secretFields = ({ peer, server, client, root, backup }: SecretNames) => ({
  peerSecret: peer,
  serverSecret: server,
  clientSecret: client,
  rootSecret: root,
  backupSecret: backup,
});
