import { isIP } from 'node:net';
import { goDuration, parseDuration } from '../lib/duration';
import { defaults } from '../resource/defaults';
import type { CertManagerTlsSpec, TlsSpec } from '../resource/types';
import { type CertificateManifest, certificate, peerNames, serverNames, type TlsCluster } from './certificates';
import { type NamedAlsoTrust, type NamedManagedTls, type NamedTls, withDefaultNames } from './default-names';
import { backupUser, clientUser } from './tls-names';
import type { SecretNames } from './tls-secrets';

/** The Secrets and Certificates of one cluster, as its `spec.tls` describes them. */
export interface TlsBinding {
  /** Undefined without TLS. */
  readonly secrets?: SecretNames;
  /** The certificates of the peers, the server, the client, root and the backups, in this order. */
  readonly certificates: readonly CertificateManifest[];
  /** Returns the certificate of a user of etcd. Undefined if cert-manager does not issue it. */
  readonly userCertificate?: (secretName: string, userName: string) => CertificateManifest;
  /** Set if the reconciler writes the Secrets. */
  readonly managed?: NamedManagedTls;
  /** True if the Secrets of peer and server may have a revocation list. */
  readonly mayRevoke?: boolean;
  /** Set while the source of the certificates is changed. */
  readonly trust?: TlsTrust;
  /** True while TLS is switched off: clients are to use http, but the members and backups still need certificates. */
  readonly disabling?: boolean;
}

/** Another source of certificates, whose authorities the members trust too. */
export interface TlsTrust {
  /** Secret with the authorities of both sources, which the reconciler writes. */
  readonly secret: string;
  readonly other: TlsBinding & { readonly secrets: SecretNames };
}

/** Reads `spec.tls`. */
export function readTls(spec: TlsSpec | undefined, cluster: TlsCluster): TlsBinding {
  if (!spec) return { certificates: [] };
  const tls = withDefaultNames(cluster.name, spec);
  const { disabling, alsoTrust } = tls;
  return {
    ...readSource(tls, cluster),
    disabling: disabling || undefined,
    trust: alsoTrust && { secret: alsoTrust.trustSecret, other: readSource(alsoTrust, cluster) },
  };
}

function readSource(source: NamedTls | NamedAlsoTrust, cluster: TlsCluster): TlsTrust['other'] {
  const { managed, certManager } = source;
  const secrets = {
    ...{ peer: source.peerSecret, server: source.serverSecret, client: source.clientSecret },
    ...{ root: source.rootSecret, backup: source.backupSecret },
  };
  if (managed) return { secrets, certificates: [], managed };
  if (!certManager) return { secrets, certificates: [], mayRevoke: true };
  return { secrets, ...issuedByCertManager(certManager, secrets, cluster) };
}

function issuedByCertManager(
  {
    issuer: name,
    issuerKind = defaults.CertManagerTlsSpec.issuerKind,
    peerIssuer,
    peerIssuerKind,
    serverNames: further = [],
    duration,
    renewBefore,
  }: CertManagerTlsSpec,
  secrets: SecretNames,
  cluster: TlsCluster,
): Pick<TlsBinding, 'certificates' | 'userCertificate'> {
  const { namespace } = cluster;
  const times = { duration: goText(duration), renewBefore: goText(renewBefore) };
  const issuer = { name, kind: issuerKind };
  const ofPeers = peerIssuer === undefined ? issuer : { name: peerIssuer, kind: peerIssuerKind ?? issuerKind };
  const both = ['server auth', 'client auth'];
  const client = (secret: string, commonName: string) =>
    certificate({ name: secret, namespace, issuer, usages: ['client auth'], commonName, ...times });
  const server = {
    dnsNames: [...serverNames(cluster), ...further.filter((each) => !isIP(each))],
    ipAddresses: ['127.0.0.1', ...further.filter((each) => isIP(each))],
  };
  return {
    userCertificate: client,
    certificates: [
      certificate({
        name: secrets.peer,
        namespace,
        issuer: ofPeers,
        usages: both,
        dnsNames: peerNames(cluster),
        ...times,
      }),
      certificate({ name: secrets.server, namespace, issuer, usages: both, ...server, ...times }),
      client(secrets.client, clientUser(cluster.name)),
      ...(secrets.root === undefined ? [] : [client(secrets.root, 'root')]),
      ...(secrets.backup === undefined ? [] : [client(secrets.backup, backupUser(cluster.name))]),
    ],
  };
}

/** cert-manager reads durations as Go does. */
function goText(text: string | undefined): string | undefined {
  const duration = parseDuration(text ?? '');
  return duration && goDuration(duration);
}
