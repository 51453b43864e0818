import { X509Certificate } from 'node:crypto';

/** The user of etcd that may do everything. */
export const root = 'root';

/** Returns the common name of a PEM certificate: with two or more, all of them. Throws if it cannot be parsed. */
export function commonNameOf(pem: Uint8Array): string {
  const { subject } = new X509Certificate(pem);
  const names = (subject ?? '').split('\n').filter((line) => line.startsWith('CN='));
  return names.join().replace('CN=', '');
}

/** Returns false also for a certificate that cannot be parsed. */
export function isRootCertificate(pem: Uint8Array): boolean {
  try {
    return commonNameOf(pem) === root;
  } catch {
    return false;
  }
}
