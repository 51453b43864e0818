import { clusterNames } from '../etcd/cluster-names';

/** The cluster that the certificates are for. */
export interface TlsCluster {
  readonly name: string;
  readonly namespace?: string;
  readonly clusterDomain: string;
}

/** A cert-manager Certificate as plain data. */
export interface CertificateManifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly spec: object;
}

export interface CertificateOptions {
  /** Name of the Certificate and of the Secret that cert-manager writes. */
  readonly name: string;
  readonly namespace?: string;
  readonly issuer: { readonly name: string; readonly kind: string };
  readonly usages: readonly string[];
  readonly commonName?: string;
  readonly dnsNames?: readonly string[];
  readonly ipAddresses?: readonly string[];
  readonly duration?: string;
  readonly renewBefore?: string;
}

export function certificate(options: CertificateOptions): CertificateManifest {
  const { name, namespace, issuer, usages, commonName, dnsNames, ipAddresses, duration, renewBefore } = options;
  return {
    apiVersion: 'cert-manager.io/v1',
    kind: 'Certificate',
    metadata: { name, namespace },
    spec: {
      secretName: name,
      commonName,
      dnsNames,
      ipAddresses,
      usages: ['digital signature', 'key encipherment', ...usages],
      duration,
      renewBefore,
      privateKey: { algorithm: 'ECDSA', size: 256, rotationPolicy: 'Always' },
      issuerRef: { name: issuer.name, kind: issuer.kind, group: 'cert-manager.io' },
    },
  };
}

/**
 * Returns the names that members use for each other: those of every possible ordinal, so that a larger cluster needs no
 * new certificate. Shorter forms are left out: etcd resolves every name in a peer's certificate until one has the
 * caller's address.
 */
export function peerNames(cluster: TlsCluster): string[] {
  const { pods, peerService } = clusterNames(cluster.name);
  return pods.map((pod) => `${pod}.${peerService}.${suffixes(cluster).at(-1)}`);
}

/**
 * Returns every name that a client may use for a member or for the client Service. The peer names are included because
 * the reconciler and its Jobs use them to reach members that are not ready.
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
