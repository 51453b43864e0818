import { createHash, verify, type X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';

// Certificate revocation lists (RFC 5280, 5) in DER. etcd takes no other form from 3.6 on, and reads their serial numbers
// alone: neither the signature nor a date. The X.509 library refuses lists of more than some 3,000 serial numbers, and needs
// 40 KiB for each of them, so the few elements on the way to them are read here.

export interface RevocationList {
  /** In hex, upper case, without leading zeros. */
  readonly serials: ReadonlySet<string>;
  /** SHA-256 of its bytes. */
  readonly id: string;
}

/** Undefined if it is not a list. etcd refuses every connection if its list is missing or is not one. */
export function readRevocationList(der: Buffer): RevocationList | undefined {
  // OpenSSL ignores bytes behind the list, and etcd does not.
  const serials = isOfOpenSsl(der) ? serialsIn(der) : undefined;
  return serials && { serials, id: listId(der) };
}

/** The list has this serial number, in hex. */
export const lists = ({ serials }: RevocationList, serialNumber: string): boolean =>
  serials.has(serialOf(serialNumber));

/** In the spelling of Node's certificates, without leading zeros. */
export const serialOf = (hex: string): string => hex.toUpperCase().replace(/^0+(?=.)/, '');

/** Those of these texts that are serial numbers. */
export const serialsAmong = (texts: readonly string[]): string[] =>
  texts.filter((text) => /^[0-9a-f]{1,64}$/i.test(text)).map(serialOf);

/** A serial number for the X.509 library, which takes the digits as they are: without the zeros, one whose top bit is set is negative. */
export function derDigits(hex: string): string {
  const bytes = hex.length % 2 === 0 ? hex : `0${hex}`;
  return /^[89a-f]/i.test(bytes) ? `00${bytes}` : bytes;
}

/** One of these authorities signed the list, with ECDSA and SHA-256 as the reconciler does. */
export function isListOf(der: Buffer, authorities: readonly X509Certificate[]): boolean {
  const [list] = elementsIn(der) ?? [];
  const [signed, , signature] = (list && elementsIn(list.content)) ?? [];
  if (!signed || !signature) return false;
  // The first byte of a string of bits is the number of those that are unused.
  const bytes = signature.content.subarray(1);
  return authorities.some((authority) => {
    try {
      const { publicKey } = authority;
      return publicKey.asymmetricKeyType === 'ec' && verify('sha256', signed.bytes, publicKey, bytes);
    } catch {
      // A certificate of others may hold a key that cannot be read.
      return false;
    }
  });
}

export const listId = (der: Buffer): string => createHash('sha256').update(der).digest('hex');

function isOfOpenSsl(der: Buffer): boolean {
  const lines = (der.toString('base64').match(/.{1,64}/g) ?? []).join('\n');
  try {
    // Without `ca`, every root that Node knows would be loaded too.
    createSecureContext({ ca: [], crl: `-----BEGIN X509 CRL-----\n${lines}\n-----END X509 CRL-----\n` });
    return true;
  } catch {
    return false;
  }
}

const [integer, utcTime, generalizedTime, sequence] = [0x02, 0x17, 0x18, 0x30];

/** CertificateList, tbsCertList: version (may be absent), signature, issuer, one or two times, and the entries if there are any. */
function serialsIn(der: Buffer): Set<string> | undefined {
  const [list, ...behind] = elementsIn(der) ?? [];
  const [tbs] = list?.tag === sequence && behind.length === 0 ? (elementsIn(list.content) ?? []) : [];
  const parts = tbs?.tag === sequence ? (elementsIn(tbs.content) ?? []) : [];
  const times = parts.findLastIndex(({ tag }) => tag === utcTime || tag === generalizedTime);
  if (times < 0) return undefined;
  const entries = parts[times + 1];
  const found = entries?.tag === sequence ? elementsIn(entries.content) : [];
  const serials = found?.map(({ content }) => elementsIn(content)?.[0]);
  if (!serials?.every((each) => each?.tag === integer)) return undefined;
  return new Set(serials.map((each) => spelled(each!.content)));
}

/** A DER integer, in two's complement. */
function spelled(bytes: Buffer): string {
  const hex = bytes.toString('hex');
  if (bytes[0] === undefined || bytes[0] < 0x80) return serialOf(hex);
  const negative = (1n << BigInt(8 * bytes.length)) - BigInt(`0x${hex}`);
  return `-${serialOf(negative.toString(16))}`;
}

interface Element {
  readonly tag: number;
  readonly content: Buffer;
  /** With its tag and its length. */
  readonly bytes: Buffer;
}

/** The DER elements that fill the buffer; undefined if they do not. */
function elementsIn(der: Buffer): Element[] | undefined {
  const found: Element[] = [];
  for (let at = 0; at < der.length; ) {
    const element = elementAt(der, at);
    if (!element) return undefined;
    const [content, bytes] = [der.subarray(element.begin, element.end), der.subarray(at, element.end)];
    found.push({ tag: der[at]!, content, bytes });
    at = element.end;
  }
  return found;
}

function elementAt(der: Buffer, at: number): { readonly begin: number; readonly end: number } | undefined {
  const first = der[at + 1] ?? 0x80;
  const bytes = first < 0x80 ? 0 : first & 0x7f;
  const begin = at + 2 + bytes;
  if (first === 0x80 || bytes > 4 || begin > der.length) return undefined;
  const end = begin + (bytes === 0 ? first : der.readUIntBE(at + 2, bytes));
  return end <= der.length ? { begin, end } : undefined;
}
