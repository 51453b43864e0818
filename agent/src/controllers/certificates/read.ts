import { createPrivateKey, type X509Certificate } from 'node:crypto';
import { isIPv6 } from 'node:net';
import type { Secret } from '../../kube/objects.ts';
import { group } from '../../kube/paths.ts';
import { certificatesIn, idOf } from '../../lib/certificates.ts';
import {
  isListOf,
  lists,
  type RevocationList,
  readRevocationList,
  serialOf,
  serialsAmong,
} from '../../lib/revocation-lists.ts';
import type { Known } from '../../protocol/known.ts';
import type {
  AuthorityFacts,
  CertificateFacts,
  FilledLeaf,
  IntermediateFacts,
  LeafFacts,
  NextAuthority,
  Span,
  WholeAuthority,
} from './facts.ts';
import { backdated } from './lifetimes.ts';
import { hasList, mostListed } from './revocation.ts';
import { type AuthorityName, authorityNames, issuerOf, isUser, type Leaf, type LeafName, madeFor } from './wanted.ts';

/** The Secrets as they were read. Known and undefined if there is none with this name. */
export type Secrets = CertificateFacts<Known<Secret | undefined>, Known<Secret | undefined>>;

/** The text under a key of a Secret; empty if there is none. */
export const textOf = (secret: Secret, key: string): string =>
  Buffer.from(secret.data?.[key] ?? '', 'base64').toString();

const parsed = new WeakMap<Secret, Map<string, X509Certificate[] | undefined>>();

/** The certificates under a key of a Secret, which are asked for many times. */
function certificatesOf(secret: Secret, key: string): X509Certificate[] | undefined {
  const known = parsed.get(secret) ?? new Map<string, X509Certificate[] | undefined>();
  parsed.set(secret, known);
  if (!known.has(key)) known.set(key, certificatesIn(textOf(secret, key)));
  return known.get(key);
}

/** Annotation on the Secret of an authority, with any value: the cluster must trust a new root. */
export const newAuthority = `${group}/new-authority`;

/** What is known of an authority beside its Secrets. This knowledge must not be newer than they are. */
export interface KnownAuthority {
  /** First digits of its root. */
  readonly root: string;
  /** Serial numbers of the intermediates that it had revoked. */
  readonly revoked?: readonly string[];
}

/** What the cluster is known to have had. */
export type KnownAuthorities = Readonly<Partial<Record<AuthorityName, KnownAuthority>>>;

export function factsOf(secrets: Secrets, had: KnownAuthorities = {}): CertificateFacts {
  const roots = Object.fromEntries(authorityNames.map((name) => [name, rootsOf(secrets[name])]));
  const leafNames = Object.keys(secrets).filter((name) => name !== 'peers' && name !== 'clients') as LeafName[];
  const authorities = authorityNames.map((name) => [
    name,
    withLostRoot(
      had[name]?.root,
      readOr(secrets[name], (secret) => {
        const facts = authorityFacts(secret);
        return facts.kind === 'whole'
          ? { ...facts, ...restoredFacts(secret, leavesOf(secrets, name), had[name]) }
          : facts;
      }),
    ),
  ]);
  const leaves = leafNames.map((name) => [
    name,
    readOr(secrets[name]!, (secret) => ({
      ...leafFacts(secret, roots[issuerOf(name)]!),
      ...(hasList(name) && listFacts(secret, secrets[issuerOf(name)])),
    })),
  ]);
  return Object.fromEntries([...authorities, ...leaves]) as unknown as CertificateFacts;
}

/** Names and usages as they are in a certificate that was issued for this leaf. */
export const shapeOf = ({ commonName, dnsNames, ipAddresses, isServer }: Leaf): string =>
  JSON.stringify([
    commonName === undefined ? '' : `CN=${commonName}`,
    [...dnsNames.map((name) => `DNS:${name}`), ...ipAddresses.map((ip) => `IP Address:${spelledOut(ip)}`)].join(', '),
    isServer ? [serverAuth, clientAuth] : [clientAuth],
    false,
  ]);

const serverAuth = '1.3.6.1.5.5.7.3.1';
const clientAuth = '1.3.6.1.5.5.7.3.2';

const shapeIn = ({ subject, subjectAltName, keyUsage, ca }: X509Certificate): string =>
  JSON.stringify([subject ?? '', subjectAltName ?? '', keyUsage ?? [], ca]);

/** OpenSSL writes all eight groups of an IPv6 address. */
function spelledOut(ip: string): string {
  if (!isIPv6(ip)) return ip;
  const [head = '', tail] = ip.split('::').map((half) => half.split(':').filter(Boolean));
  const zeros = tail === undefined ? [] : Array<string>(8 - head.length - tail.length).fill('0');
  return [...head, ...zeros, ...(tail ?? [])].join(':').toUpperCase();
}

function readOr<T>(secret: Known<Secret | undefined>, facts: (secret: Secret) => T) {
  if (!secret.known) return { kind: 'unread' as const, why: secret.why };
  if (!secret.v) return { kind: 'missing' as const };
  const { type = 'Opaque' } = secret.v;
  return type === 'Opaque' ? facts(secret.v) : { kind: 'typed' as const, type };
}

const authorityKeys = ['root.crt', 'root.key', 'tls.crt', 'tls.key'];
export const nextKeys = ['next-root.crt', 'next-root.key', 'next-tls.crt', 'next-tls.key', 'cross.crt'] as const;
const leafKeys = ['ca.crt', 'tls.crt', 'tls.key'];

const isEmpty = (secret: Secret, keys: readonly string[]): boolean =>
  keys.every((key) => textOf(secret, key).trim() === '');

const withLostRoot = (lostRoot: string | undefined, facts: AuthorityFacts): AuthorityFacts =>
  lostRoot !== undefined && (facts.kind === 'missing' || facts.kind === 'empty') ? { ...facts, lostRoot } : facts;

function authorityFacts(secret: Secret): AuthorityFacts {
  if (isEmpty(secret, authorityKeys)) {
    const isAskedFor = secret.metadata.annotations?.[newAuthority] !== undefined;
    return { kind: 'empty', isAskedFor };
  }
  const root = rootOf({ known: true, v: secret });
  if (!root) return { kind: 'broken', why: 'its root.crt is not the one certificate of a root' };
  const next = nextFacts(secret, root);
  if (typeof next === 'string') return { kind: 'broken', why: next };
  const damaged = ['previous.crt', 'revoked.crt'].find(
    (key) => textOf(secret, key).trim() !== '' && !certificatesOf(secret, key),
  );
  if (damaged !== undefined) return { kind: 'broken', why: `its ${damaged} holds something that is not a certificate` };
  const rootKey = keyProblem(secret, 'root.key', root, true);
  const says = madeFor(root.subject ?? '');
  return {
    kind: 'whole',
    root: { id: idOf(root), ...spanOf(root), says },
    rootKey,
    intermediate: intermediateFacts(secret, root),
    rotation: textOf(secret, 'rotation'),
    rootRotation: textOf(secret, 'root-rotation'),
    revocation: textOf(secret, 'revocation'),
    revoked: [],
    next,
  };
}

/** Why it cannot be used, or undefined while no root is being replaced. A root in use is never created again. */
function nextFacts(secret: Secret, root: X509Certificate): NextAuthority | string | undefined {
  if (isEmpty(secret, nextKeys)) return undefined;
  const next = rootOf({ known: true, v: secret }, 'next-root.crt');
  if (!next) return 'its next-root.crt is not the one certificate of a root';
  const [cross] = certificatesOf(secret, 'cross.crt') ?? [];
  if (!cross?.ca || !isSignedBy(cross, root) || !cross.publicKey.equals(next.publicKey))
    return 'its cross.crt is not its next root, signed by its root';
  const why = keyProblem(secret, 'next-root.key', next, true);
  if (why !== undefined) return why;
  return {
    root: { id: idOf(next), ...spanOf(next) },
    intermediate: intermediateFacts(secret, next, 'next-tls'),
    cross: idOf(cross),
  };
}

/** The present one, and the next one if there is one. */
const rootsOf = (secret: Known<Secret | undefined>): X509Certificate[] => {
  const root = rootOf(secret);
  return root ? [root, rootOf(secret, 'next-root.crt')].filter((each) => each !== undefined) : [];
};

function rootOf(secret: Known<Secret | undefined>, key = 'root.crt'): X509Certificate | undefined {
  if (!secret.known || !secret.v) return undefined;
  const found = certificatesOf(secret.v, key);
  const [root] = found ?? [];
  return root && found?.length === 1 && root.ca && isSignedBy(root, root) ? root : undefined;
}

function intermediateFacts(secret: Secret, root: X509Certificate, name: 'tls' | 'next-tls' = 'tls'): IntermediateFacts {
  const found = certificatesOf(secret, `${name}.crt`);
  const [certificate] = found ?? [];
  if (!certificate || found?.length !== 1) return { why: `${name}.crt is not one certificate` };
  if (!certificate.ca || !isSignedBy(certificate, root)) return { why: `${name}.crt is not an authority of this root` };
  const why = keyProblem(secret, `${name}.key`, certificate, true);
  if (why !== undefined) return { why };
  if (revokedIn(secret).includes(serialOf(certificate.serialNumber)))
    return { why: `${name}.crt is revoked`, isRevoked: true };
  return { id: idOf(certificate), ...spanOf(certificate) };
}

function leafFacts(secret: Secret, roots: readonly X509Certificate[]): LeafFacts {
  if (isEmpty(secret, leafKeys)) return { kind: 'empty' };
  const trusts = certificatesOf(secret, 'ca.crt')?.map(idOf);
  const chain = certificatesOf(secret, 'tls.crt');
  const [leaf] = chain ?? [];
  return {
    kind: 'filled',
    trusts,
    certificate: leaf && certificateFacts(leaf, chain!, roots),
    hasKey: leaf !== undefined && keyProblem(secret, 'tls.key', leaf) === undefined,
  };
}

/** The Secrets of a cluster that hold what an authority has signed. Those of users may hold anything. */
export const leavesOf = (secrets: Secrets, of: AuthorityName): Secret[] =>
  Object.entries(secrets).flatMap(([name, found]) => {
    const isLeaf = name !== 'peers' && name !== 'clients' && !isUser(name as LeafName);
    return isLeaf && issuerOf(name as LeafName) === of && found?.known && found.v ? found.v : [];
  });

/** Serial numbers of the intermediates that an authority has revoked. */
export const revokedIn = (authority: Secret): string[] => [
  ...new Set([...serialsOf(authority, 'revoked.crt'), ...serialsAmong(textOf(authority, revokedSerials).split(/\s+/))]),
];

/** Key of an authority: what its lists had named before the authority came back from a backup, one serial number a line. */
export const revokedSerials = 'revoked-serials';

const serialsOf = (secret: Secret, key: string): string[] =>
  (certificatesOf(secret, key) ?? []).map(({ serialNumber }) => serialOf(serialNumber));

/** Intermediates that an authority, or one of its leaves, is known to have. */
const intermediatesOf = (authority: Secret, issuers: readonly X509Certificate[]): X509Certificate[] => [
  ...issuers,
  ...['tls.crt', 'next-tls.crt', 'previous.crt', 'revoked.crt'].flatMap((key) => certificatesOf(authority, key) ?? []),
];

/** Those that issued its leaves. */
function issuersOf(authority: Secret, leaves: readonly Secret[]): X509Certificate[] {
  const roots = rootsOf({ known: true, v: authority });
  const found = leaves.flatMap((leaf) => certificatesOf(leaf, 'tls.crt')?.[1] ?? []);
  return found.filter((each) => each.ca && roots.some((root) => isSignedBy(each, root)));
}

/**
 * What all lists of an authority name: none of it is ever taken back. Anybody who may write the Secret of a leaf can put a list
 * there, so only what an intermediate of the authority has signed counts.
 */
function listedIn(authority: Secret, leaves: readonly Secret[]): string[] {
  const signers = intermediatesOf(authority, issuersOf(authority, leaves));
  return leaves.flatMap((leaf) => (isListOf(listBytes(leaf), signers) ? [...(listIn(leaf)?.serials ?? [])] : []));
}

/** Everything that an authority has revoked, as far as anything knows it. */
export const allRevoked = (authority: Secret, leaves: readonly Secret[], had: KnownAuthority | undefined): string[] => [
  ...new Set([...revokedIn(authority), ...forgottenBy(authority, leaves, had).revoked]),
];

/**
 * What its leaves and the status know of an authority and it does not, so it came back from a backup: the intermediates that it
 * issued since, and revoked. What the status knows may be of another root, which an earlier one has come back for. As much as a
 * list can name: a list with everything that anybody writes into the status would shut nobody out.
 */
export function forgottenBy(
  authority: Secret,
  leaves: readonly Secret[],
  had: KnownAuthority | undefined,
): { readonly issued: X509Certificate[]; readonly revoked: string[] } {
  const revoked = new Set(revokedIn(authority));
  const kept = ['tls.crt', 'next-tls.crt', 'previous.crt'].flatMap((key) => serialsOf(authority, key));
  const known = new Set([...revoked, ...kept]);
  const issuers = issuersOf(authority, leaves).filter(({ serialNumber }) => !known.has(serialOf(serialNumber)));
  const listed = new Set([...listedIn(authority, leaves), ...serialsAmong(had?.revoked ?? [])]);
  const room = Math.max(0, mostListed - revoked.size);
  return {
    issued: [...new Map(issuers.map((each) => [each.serialNumber, each])).values()],
    revoked: [...listed].filter((serial) => !revoked.has(serial)).slice(0, room),
  };
}

/** A Secret is older than what the reconciler writes into it, but for one that somebody has created with its content. */
function restoredFacts(
  authority: Secret,
  leaves: readonly Secret[],
  had: KnownAuthority | undefined,
): Pick<WholeAuthority, 'revoked' | 'hasForgotten' | 'isRestored'> {
  const { issued, revoked } = forgottenBy(authority, leaves, had);
  const root = rootOf({ known: true, v: authority })!;
  const created = Date.parse(authority.metadata.creationTimestamp ?? '');
  const made = root.validFromDate.getTime() + backdated;
  return {
    revoked: [...revokedIn(authority), ...revoked],
    hasForgotten: issued.length + revoked.length > 0,
    isRestored: created > made + 10 * 60_000,
  };
}

/** The list beside a leaf; undefined: there is none that etcd could read. */
export const listIn = (leaf: Secret): RevocationList | undefined => readRevocationList(listBytes(leaf));

const listBytes = (leaf: Secret): Buffer => Buffer.from(leaf.data?.['ca.crl'] ?? '', 'base64');

/** Whether the list beside a leaf is one that this intermediate has signed. */
export const isSignedList = (leaf: Secret, intermediate: X509Certificate[] | undefined): boolean =>
  isListOf(listBytes(leaf), intermediate ?? []);

function listFacts(
  leaf: Secret,
  authority: Known<Secret | undefined>,
): Pick<FilledLeaf, 'list' | 'listId' | 'isListOfOther'> {
  const list = listIn(leaf);
  if (!list) return { list: 'unreadable' };
  const [revoked, issuers] =
    authority.known && authority.v ? [revokedIn(authority.v), issuersOf(authority.v, [leaf])] : [[], []];
  return {
    list: revoked.every((serial) => lists(list, serial)) ? 'current' : 'behind',
    listId: list.id,
    isListOfOther: !isSignedList(leaf, issuers),
  };
}

function certificateFacts(
  leaf: X509Certificate,
  chain: readonly X509Certificate[],
  roots: readonly X509Certificate[],
): FilledLeaf['certificate'] {
  const [, issuer, cross] = chain;
  const isEnded = chain.length === 2 || (chain.length === 3 && cross?.ca && isSignedBy(issuer!, cross));
  const isWhole = issuer !== undefined && isEnded && isSignedBy(leaf, issuer);
  return {
    id: idOf(leaf),
    ...spanOf(leaf),
    isOfRoot: roots.length > 0 ? chain.some((each) => roots.some((root) => isSignedBy(each, root))) : undefined,
    ...(isWhole && { issuer: idOf(issuer), cross: cross && idOf(cross) }),
    shape: shapeIn(leaf),
  };
}

const p256 = 'prime256v1';

/** Never quotes the key, nor an error of the parser. */
function keyProblem(secret: Secret, name: string, certificate: X509Certificate, signs = false): string | undefined {
  const pem = textOf(secret, name);
  if (pem.trim() === '') return `${name} is missing`;
  try {
    const key = createPrivateKey(pem);
    if (!certificate.checkPrivateKey(key)) return `${name} is the key of another certificate`;
    return signs && key.asymmetricKeyDetails?.namedCurve !== p256 ? `${name} is not a key of P-256` : undefined;
  } catch {
    return `${name} is not a key`;
  }
}

const verified = new WeakMap<X509Certificate, WeakMap<X509Certificate, boolean>>();

function isSignedBy(certificate: X509Certificate, issuer: X509Certificate): boolean {
  const known = verified.get(certificate) ?? new WeakMap<X509Certificate, boolean>();
  verified.set(certificate, known);
  const before = known.get(issuer);
  if (before !== undefined) return before;
  const is = verifies(certificate, issuer);
  known.set(issuer, is);
  return is;
}

function verifies(certificate: X509Certificate, issuer: X509Certificate): boolean {
  try {
    return certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey);
  } catch {
    return false;
  }
}

const spanOf = ({ validFromDate, validToDate }: X509Certificate): Span => ({
  notBefore: validFromDate.getTime(),
  notAfter: validToDate.getTime(),
});
