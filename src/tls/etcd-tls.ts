import type { Duration } from 'cdk8s';
import { durationText } from '../lib/duration';
import { inside } from '../resource/prop-problems';
import { withNames } from '../validation/named';
import * as types from '../validation/property-types';
import { buildIfValid } from '../validation/type-checks';
import type { TlsCluster } from './certificates';
import { authorityNames, otherSecretNames, secretFields, tlsSecretNames } from './default-names';
import type { IssuerKind } from './issuer-kind';
import type { TlsSecrets } from './tls-secrets';
import { certificateProblems, plaintextProblems } from './tls-times';
import { type WrittenSource, type WrittenTls, withTrust } from './tls-trust';

type NamedCluster = Omit<TlsCluster, 'clusterDomain'>;

/** Decides how a running cluster without TLS is switched to TLS. It has no effect on other clusters. */
export interface TlsSwitchOptions {
  /**
   * Sets for how long clients may use http beside https while TLS is switched on, counted from the first step. A
   * duration of zero ends that time as soon as every member accepts https. At most a year.
   * @default Duration.days(1)
   */
  readonly acceptPlaintextFor?: Duration;
}

/** Configures `EtcdTls.none`. */
export interface NoTlsProps {
  /**
   * Names the `EtcdTls` that the cluster has until now, to switch TLS off in a running cluster. The members keep its
   * certificates until all of them speak http. Leave it out as soon as clients no longer use https: the condition
   * TransportReady says when the members accept http.
   * @default - the members have no certificates
   */
  readonly previous?: EtcdTls;
}

/** Configures `EtcdTls.managed`. */
export interface ManagedTlsProps extends TlsSwitchOptions {
  /**
   * Names another source of certificates, whose authorities the members trust too. It is for changing the source in a
   * running cluster: first give the new source here, then the old one, then leave it out, and each time wait until every
   * member has restarted. The Secrets and Certificates of both sources exist meanwhile.
   * @default - the members trust the authorities of their own certificates only
   */
  readonly alsoTrust?: EtcdTls;
  /**
   * Adds DNS names and IP addresses to the certificates that members present to clients, for example those of a load
   * balancer. The names of the cluster's Services, `localhost`, `127.0.0.1` and `::1` are always included. The
   * reconciler issues new certificates after a change, and the members load them without a restart.
   * @default - no further names
   */
  readonly serverNames?: string[];
  /**
   * Renews the intermediate authorities when this text, for example a date, changes. The reconciler creates new ones
   * and issues all certificates anew, without a restart of a member. Certificates of the previous intermediates stay
   * valid until they expire.
   * @default - new intermediates only when two thirds of their year are over
   */
  readonly intermediateRotation?: string;
  /**
   * Replaces the roots of both authorities when this text, for example a date, changes. No connection fails, but the
   * members must restart once: the condition CertificatesReady says when.
   * @default - new roots only when two thirds of their 10 years are over
   */
  readonly rootRotation?: string;
  /**
   * Revokes every certificate that was issued before when this text, for example a date, changes, without a restart of a
   * member. The reconciler creates new intermediate authorities and issues all certificates anew. A few minutes later,
   * once every member has its new certificates, members refuse new connections that use a certificate of an earlier
   * intermediate. Open connections stay open until the member restarts.
   * @default - no certificate is revoked
   */
  readonly intermediateRevocation?: string;
}

/** Selects the issuers of a cluster's certificates, and how long these are valid, for `EtcdTls.certManager`. */
export interface CertManagerTlsProps extends TlsSwitchOptions {
  /**
   * Names another source of certificates, whose authorities the members trust too. It is for changing the source in a
   * running cluster: first give the new source here, then the old one, then leave it out, and each time wait until every
   * member has restarted. The Secrets and Certificates of both sources exist meanwhile.
   * @default - the members trust the authorities of their own certificates only
   */
  readonly alsoTrust?: EtcdTls;
  /**
   * Names the Issuer or ClusterIssuer of all certificates. If `peerIssuer` is given, it issues the server and client
   * certificates only. It must be a private certificate authority (`ca`, Vault, …) that writes its own certificate to
   * `ca.crt`.
   */
  readonly issuer: string;
  /**
   * Sets the kind of `issuer`.
   * @default IssuerKind.ISSUER
   */
  readonly issuerKind?: IssuerKind;
  /**
   * Names a separate issuer for the traffic between members. With one issuer for both, anyone with a client certificate
   * can connect to the members as a peer.
   * @default - `issuer`
   */
  readonly peerIssuer?: string;
  /**
   * Sets the kind of `peerIssuer`.
   * @default - `issuerKind`
   */
  readonly peerIssuerKind?: IssuerKind;
  /**
   * Adds DNS names and IP addresses to the certificate that members present to clients, for example those of a load
   * balancer. The names of the cluster's Services are always included.
   * @default - no further names
   */
  readonly serverNames?: string[];
  /**
   * Sets how long a certificate is valid. It must be at least one hour.
   * @default - cert-manager's default, 90 days
   */
  readonly duration?: Duration;
  /**
   * Sets how long before it expires a certificate is renewed. It must be at least 5 minutes, and less than `duration`.
   * etcd loads a renewed certificate without a restart.
   * @default - cert-manager's default, a third of `duration`
   */
  readonly renewBefore?: Duration;
}

/** Configures `EtcdTls.fromSecrets`. */
export interface SecretsTlsProps extends TlsSecrets, TlsSwitchOptions {
  /**
   * Names another source of certificates, whose authorities the members trust too. It is for changing the source in a
   * running cluster: first give the new source here, then the old one, then leave it out, and each time wait until every
   * member has restarted. The Secrets and Certificates of both sources exist meanwhile.
   * @default - the members trust the authorities of their own certificates only
   */
  readonly alsoTrust?: EtcdTls;
}

/**
 * Describes the TLS of a cluster, both for its clients, which must present a certificate too, and between its members.
 *
 * TLS can be switched on and off while the cluster serves: give another `EtcdTls`, and to switch it off
 * `EtcdTls.none({ previous })`. To get the certificates from another source, use `alsoTrust`.
 */
export class EtcdTls {
  /**
   * Lets the reconciler issue and renew the certificates. Nothing else has to be installed.
   *
   * The reconciler creates two authorities, one for the traffic between members and one for clients. Each has a root
   * that is valid for 10 years and an intermediate that is valid for a year. The certificates are valid for 90 days.
   * Certificates and intermediates are renewed after two thirds of that time, without a restart of a member.
   *
   * The manifests contain the Secrets without data. Never run `kubectl replace` on them: it would delete the keys.
   */
  static managed(props: ManagedTlsProps = {}): EtcdTls {
    return buildIfValid(
      EtcdTls.prototype,
      props,
      types.ManagedTlsProps,
      () => new EtcdTls(true, (cluster) => switchedOn(managedSource(props, cluster), props, cluster)),
    );
  }

  /**
   * Lets cert-manager issue and renew the certificates. The chart must have a namespace, because its name is part of
   * the certificates.
   */
  static certManager(props: CertManagerTlsProps): EtcdTls {
    return buildIfValid(
      EtcdTls.prototype,
      props,
      types.CertManagerTlsProps,
      () => new EtcdTls(true, (cluster) => switchedOn(certManagerSource(props, cluster), props, cluster)),
    );
  }

  /** Uses existing Secrets. You must renew the certificates in them. */
  static fromSecrets(secrets: SecretsTlsProps): EtcdTls {
    return buildIfValid(
      EtcdTls.prototype,
      secrets,
      types.SecretsTlsProps,
      () => new EtcdTls(true, (cluster) => switchedOn(secretsSource(secrets), secrets, cluster)),
    );
  }

  /**
   * Uses no TLS: clients and members use plain http, and anyone who reaches a member can read and write everything.
   *
   * A cluster that has TLS needs `previous` first. Otherwise the reconciler restarts no member, and says so.
   */
  static none(props: NoTlsProps = {}): EtcdTls {
    return buildIfValid(
      EtcdTls.prototype,
      props,
      types.NoTlsProps,
      () => new EtcdTls(false, (cluster) => noTls(props, cluster)),
    );
  }

  private constructor(
    /** Is false only for `none`. */
    readonly enabled: boolean,
    private readonly write: (cluster: NamedCluster) => WrittenTls,
  ) {}

  /**
   * Returns `spec.tls` of this cluster.
   * @internal
   */
  _spec(cluster: NamedCluster): WrittenTls {
    return this.write(cluster);
  }
}

function noTls(props: NoTlsProps, cluster: NamedCluster): WrittenTls {
  // Only JavaScript can pass an EtcdTls as its own properties.
  if ('_spec' in props)
    return { problems: ['tls: EtcdTls.none takes properties; write EtcdTls.none({ previous: … })'] };
  const previous = props.previous?._spec(cluster);
  if (!previous) return { problems: [] };
  if (previous.spec && !previous.spec.disabling)
    return { spec: { ...previous.spec, disabling: true }, problems: previous.problems };
  return {
    problems: [
      'tls: previous: EtcdTls.none has no certificates; give the EtcdTls that the cluster had before, such as EtcdTls.managed()',
    ],
  };
}

function switchedOn(
  source: WrittenSource,
  { acceptPlaintextFor: accept, alsoTrust }: TlsSwitchOptions & Pick<ManagedTlsProps, 'alsoTrust'>,
  cluster: NamedCluster,
): WrittenTls {
  const { spec, problems } = withTrust(source, alsoTrust?._spec(cluster), cluster.name);
  if (!accept) return { spec, problems };
  const acceptPlaintextFor = durationText(accept);
  return { spec: { ...spec, acceptPlaintextFor }, problems: [...problems, ...plaintextProblems(acceptPlaintextFor)] };
}

function secretsSource({ peer, server, client, root, backup }: TlsSecrets): WrittenSource {
  const given: TlsSecrets = { peer, server, client, root, backup };
  const secrets = withNames(given, 'peer', 'server', 'client', 'root', 'backup');
  return { spec: secretFields(secrets), problems: [] };
}

function managedSource(props: ManagedTlsProps, { name }: NamedCluster): WrittenSource {
  const { serverNames, intermediateRotation, rootRotation, intermediateRevocation } = props;
  return {
    spec: {
      ...secretFields(tlsSecretNames(name)),
      managed: {
        ...authorityNames(name),
        serverNames: serverNames?.length ? serverNames : undefined,
        intermediateRotation,
        rootRotation,
        intermediateRevocation,
      },
    },
    problems: [],
  };
}

function certManagerSource(props: CertManagerTlsProps, { name, namespace }: NamedCluster): WrittenSource {
  const { issuer, issuerKind, peerIssuer, peerIssuerKind, serverNames = [], duration, renewBefore } = props;
  const certManager = {
    ...{ issuer, issuerKind, peerIssuer, peerIssuerKind },
    serverNames: serverNames.length > 0 ? serverNames : undefined,
    duration: duration && durationText(duration),
    renewBefore: renewBefore && durationText(renewBefore),
  };
  return {
    spec: { ...secretFields(otherSecretNames(name)), certManager },
    problems: [...certificateProblems(certManager), ...namespaceProblems(namespace)],
  };
}

function namespaceProblems(namespace: string | undefined): string[] {
  if (namespace !== undefined) return [];
  return [
    'tls: the certificates contain the name of the namespace, but the chart has none; create it with new Chart(app, id, { namespace })',
  ];
}

const sourcePropNames = {
  ...{ peerSecret: 'peer', serverSecret: 'server', clientSecret: 'client', rootSecret: 'root', backupSecret: 'backup' },
  ...{ managed: '', certManager: '' },
};

/** Properties of the fields of `spec.tls`. */
export const tlsPropNames = { ...inside('tls', sourcePropNames), ...inside('tls.alsoTrust', sourcePropNames) };
