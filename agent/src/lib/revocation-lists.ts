import { createHash } from 'node:crypto';
import { createSecureContext } from 'node:tls';

// Certificate revocation lists (RFC 5280, 5) in DER. etcd takes no other form from 3.6 on, and reads their serial numbers
// alone: neither the signature nor a date.

/** etcd refuses every connection if its list is missing or is not one. */
export function isRevocationList(der: Buffer): boolean {
  if (lengthOf(der) !== der.length) return false;
  const lines = (der.toString('base64').match(/.{1,64}/g) ?? []).join('\n');
  try {
    // Without `ca`, every root that Node knows would be loaded too.
    createSecureContext({ ca: [], crl: `-----BEGIN X509 CRL-----\n${lines}\n-----END X509 CRL-----\n` });
    return true;
  } catch {
    return false;
  }
}

/** Bytes of the one DER element that the buffer should be. OpenSSL ignores bytes behind it, and etcd does not. */
function lengthOf(der: Buffer): number | undefined {
  const first = der[1] ?? 0;
  if (first < 0x80) return 2 + first;
  const bytes = first & 0x7f;
  return bytes >= 1 && bytes <= 4 && der.length >= 2 + bytes ? 2 + bytes + der.readUIntBE(2, bytes) : undefined;
}

/** The list has this serial number, in hex. Its bytes as a DER integer cannot occur there by chance. */
export function lists(der: Buffer, serialNumber: string): boolean {
  const digits = serialNumber.length % 2 === 0 ? serialNumber : `0${serialNumber}`;
  const bytes = Buffer.from(digits, 'hex');
  return der.includes(Buffer.concat([Buffer.from([2, bytes.length]), bytes]));
}

export const listId = (der: Buffer): string => createHash('sha256').update(der).digest('hex');
