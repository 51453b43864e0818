import type { Duration } from 'cdk8s';
import { goDuration } from '../lib/go-duration';

/** A Certificate of cert-manager, as plain data. */
export interface CertificateManifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly spec: object;
}

export interface CertificateOptions {
  /** Of the Certificate and of the Secret that it fills. */
  readonly name: string;
  readonly namespace?: string;
  readonly issuer: { readonly name: string; readonly kind: string };
  readonly usages: readonly string[];
  readonly commonName?: string;
  readonly dnsNames?: readonly string[];
  readonly ipAddresses?: readonly string[];
  readonly duration?: Duration;
  readonly renewBefore?: Duration;
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
      duration: duration && goDuration(duration),
      renewBefore: renewBefore && goDuration(renewBefore),
      privateKey: { algorithm: 'ECDSA', size: 256, rotationPolicy: 'Always' },
      issuerRef: { name: issuer.name, kind: issuer.kind, group: 'cert-manager.io' },
    },
  };
}
