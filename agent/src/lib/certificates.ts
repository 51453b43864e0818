import { X509Certificate } from 'node:crypto';

/** The certificates in a PEM text. Undefined if there is none, or if one cannot be parsed. */
export function certificatesIn(pem: string): X509Certificate[] | undefined {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g);
  try {
    return blocks?.map((block) => new X509Certificate(block));
  } catch {
    return undefined;
  }
}

/** The SHA-256 of a certificate, in hex. */
export const idOf = ({ fingerprint256 }: X509Certificate): string => fingerprint256.replaceAll(':', '').toLowerCase();

/** First digits of the id of a certificate: enough for people to tell a few of them apart. */
export const shortId = (id: string): string => id.slice(0, 16);
