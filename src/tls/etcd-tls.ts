import type { Duration } from 'cdk8s';
import { durationText, milliseconds } from '../lib/duration';
import { choiceProblem } from '../validation/choice';
import { built } from '../validation/kinds';
import { nameProblem, problemsOf } from '../validation/names';
import { certManagerKinds, tlsSecretsKinds } from '../validation/property-kinds';
import { type CertificateManifest, type CertificateOptions, certificate } from './certificate';
import { IssuerKind } from './issuer-kind';
import { peerNames, serverNames } from './tls-names';

/** Who issues a cluster's certificates, by cert-manager. */
export interface CertManagerTlsProps {
  /**
   * The Issuer or ClusterIssuer of all certificates, or of the server's and the clients' when there is a `peerIssuer`. It
   * must be an authority of your own (`ca`, Vault, …) that puts its certificate into `ca.crt`.
   */
  readonly issuer: string;
  /**
   * Which kind `issuer` is.
   * @default IssuerKind.ISSUER
   */
  readonly issuerKind?: IssuerKind;
  /**
   * Another issuer for the traffic between the members. With one issuer for both, whoever has a client certificate could
   * talk to the members as one of them.
   * @default - `issuer`
   */
  readonly peerIssuer?: string;
  /**
   * Which kind `peerIssuer` is.
   * @default - `issuerKind`
   */
  readonly peerIssuerKind?: IssuerKind;
  /**
   * How long a certificate is valid: an hour or more.
   * @default - cert-manager's, 90 days
   */
  readonly duration?: Duration;
  /**
   * How long before its end a certificate is renewed: 5 minutes or more. etcd takes a new one without a restart.
   * @default - cert-manager's, a third of `duration`
   */
  readonly renewBefore?: Duration;
}

/** Names of Secrets with `ca.crt`, `tls.crt` and `tls.key` in each, in the cluster's namespace. */
export interface TlsSecrets {
  /**
   * The members' certificate for each other: serverAuth and clientAuth, and the names
   * `<cluster>-<i>.<cluster>-peers.<namespace>.svc.<clusterDomain>` of all i from 0 to 6. No address: etcd would then
   * check it too.
   */
  readonly peer: string;
  /**
   * The members' certificate for clients: serverAuth and clientAuth, all names that clients use, `localhost` and
   * `127.0.0.1`. Its `ca.crt` says which client certificates etcd accepts.
   */
  readonly server: string;
  /** A client certificate, clientAuth, for the reconciler and for backups. */
  readonly client: string;
}

/** The cluster whose certificates these are. */
export interface TlsCluster {
  readonly name: string;
  readonly namespace?: string;
  readonly clusterDomain: string;
}

/** What TLS means for one cluster. */
export interface TlsBinding {
  readonly peerSecret?: string;
  readonly serverSecret?: string;
  readonly clientSecret?: string;
  /** Of the peers, the server and the client, in this order. */
  readonly certificates: readonly CertificateManifest[];
  readonly problems: readonly string[];
}

/**
 * TLS of a cluster: for its clients, who must show a certificate too, and between its members. It cannot be switched on or
 * off later, nor between http and https: a cluster with TLS is then made anew, from a backup.
 */
export class EtcdTls {
  /** cert-manager issues and renews the certificates. The chart must have a namespace, as they hold its name. */
  static certManager(props: CertManagerTlsProps): EtcdTls {
    return built(
      EtcdTls.prototype,
      props,
      certManagerKinds,
      () => new EtcdTls(true, (cluster) => certManagerBinding(props, cluster)),
    );
  }

  /** Secrets that exist already, and that somebody else renews. */
  static fromSecrets(secrets: TlsSecrets): EtcdTls {
    return built(
      EtcdTls.prototype,
      secrets,
      tlsSecretsKinds,
      () =>
        new EtcdTls(true, () => ({ ...secretNames(secrets), certificates: [], problems: secretsProblems(secrets) })),
    );
  }

  /** Plain http. */
  static disabled(): EtcdTls {
    return new EtcdTls(false, () => ({ certificates: [], problems: [] }));
  }

  private constructor(
    /** Whether there is TLS at all. */
    readonly enabled: boolean,
    private readonly bind: (cluster: TlsCluster) => TlsBinding,
  ) {}

  /** @internal */
  _bind(cluster: TlsCluster): TlsBinding {
    return this.bind(cluster);
  }
}

const secretNames = ({ peer, server, client }: TlsSecrets) => ({
  peerSecret: peer,
  serverSecret: server,
  clientSecret: client,
});

function secretsProblems({ peer, server, client }: TlsSecrets): string[] {
  return problemsOf(
    nameProblem('tls: peer', peer),
    nameProblem('tls: server', server),
    nameProblem('tls: client', client),
  );
}

function certManagerBinding(props: CertManagerTlsProps, cluster: TlsCluster): TlsBinding {
  const { name, namespace } = cluster;
  const names = { peer: `${name}-peer-tls`, server: `${name}-server-tls`, client: `${name}-client-tls` };
  const { duration, renewBefore } = props;
  const kind = props.issuerKind ?? IssuerKind.ISSUER;
  const issuer = { name: props.issuer, kind };
  const peerIssuer =
    props.peerIssuer === undefined ? issuer : { name: props.peerIssuer, kind: props.peerIssuerKind ?? kind };
  const make = (
    options: Pick<CertificateOptions, 'name' | 'issuer' | 'usages' | 'dnsNames' | 'ipAddresses' | 'commonName'>,
  ) => certificate({ ...options, namespace, duration, renewBefore });
  const both = ['server auth', 'client auth'];
  return {
    ...secretNames(names),
    certificates: [
      make({ name: names.peer, issuer: peerIssuer, usages: both, dnsNames: peerNames(cluster) }),
      make({ name: names.server, issuer, usages: both, dnsNames: serverNames(cluster), ipAddresses: ['127.0.0.1'] }),
      make({ name: names.client, issuer, usages: ['client auth'], commonName: `${name}-client` }),
    ],
    problems: [...issuerProblems(props), ...timeProblems(props), ...namespaceProblems(namespace)],
  };
}

function issuerProblems({ issuer, issuerKind, peerIssuer, peerIssuerKind }: CertManagerTlsProps): string[] {
  return problemsOf(
    nameProblem('tls: issuer', issuer),
    choiceProblem('tls: issuerKind', issuerKind, IssuerKind),
    choiceProblem('tls: peerIssuerKind', peerIssuerKind, IssuerKind),
    peerIssuer === undefined ? undefined : nameProblem('tls: peerIssuer', peerIssuer),
    peerIssuerKind !== undefined && peerIssuer === undefined
      ? 'tls: peerIssuerKind is of no use without peerIssuer; give both, or remove it'
      : undefined,
  );
}

const hour = 3_600_000;
const ninetyDays = 90 * 24 * hour;

function timeProblems({ duration, renewBefore }: CertManagerTlsProps): string[] {
  const valid = duration ? milliseconds(duration) : ninetyDays;
  if (valid < hour) {
    return [`tls: duration: ${durationText(duration!)} is less than the hour that cert-manager wants; give more`];
  }
  if (!renewBefore) return [];
  if (milliseconds(renewBefore) < 300_000) {
    return [`tls: renewBefore: ${durationText(renewBefore)} is less than the 5m that cert-manager wants; give more`];
  }
  if (milliseconds(renewBefore) < valid) return [];
  return [
    `tls: renewBefore: ${durationText(renewBefore)} is not less than duration, so it would be renewed all the time; lower it`,
  ];
}

function namespaceProblems(namespace: string | undefined): string[] {
  if (namespace !== undefined) return [];
  return [
    'tls: certificates hold the name of the namespace, and the chart has none; make it with new Chart(app, id, { namespace })',
  ];
}
