import { X509Certificate } from 'node:crypto';
import type { DetailedPeerCertificate } from 'node:tls';
import { lists, type RevocationList } from './revocation-lists.ts';

/**
 * Why a certificate that the other side has presented is not accepted, although TLS has verified it with these authorities. Only
 * what is seen to end at one of them is believed: Node may show a part of the chain, and links it by names alone, so that
 * TLS may have verified the chain of another certificate that was sent too.
 */
export function revocationProblem(
  leaf: DetailedPeerCertificate,
  list: RevocationList,
  authorities: readonly X509Certificate[],
): string | undefined {
  if (list.serials.size === 0) return undefined;
  const chain = chainOf(leaf);
  if (chain.some(({ serialNumber }) => lists(list, serialNumber))) return 'the certificate is revoked';
  const top = chain.findIndex((each) => authorities.some((authority) => isOf(each, authority)));
  const isWhole = top >= 0 && chain.slice(1, top + 1).every((issuer, below) => isSignedBy(chain[below]!, issuer));
  return isWhole ? undefined : 'the authorities between the certificate and ca.crt are not known, and may be revoked';
}

const isOf = (each: X509Certificate, authority: X509Certificate): boolean =>
  each.fingerprint256 === authority.fingerprint256 || isSignedBy(each, authority);

function isSignedBy(certificate: X509Certificate, issuer: X509Certificate): boolean {
  try {
    return certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey);
  } catch {
    return false;
  }
}

/** The leaf and the authorities above it. */
function chainOf(leaf: DetailedPeerCertificate): X509Certificate[] {
  const chain = new Set<DetailedPeerCertificate>();
  for (let at: DetailedPeerCertificate | undefined = leaf; at && !chain.has(at); at = at.issuerCertificate)
    chain.add(at);
  return [...chain].map(({ raw }) => new X509Certificate(raw));
}
