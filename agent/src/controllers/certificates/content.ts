import { randomUUID } from 'node:crypto';
import type { Secret } from '../../kube/objects.ts';
import { certificatesIn } from '../../lib/certificates.ts';
import { lists, type RevocationList } from '../../lib/revocation-lists.ts';
import type { Write } from './decide.ts';
import type { Keyed } from './issue.ts';
import type { KeptData } from './kept-authorities.ts';
import {
  allRevoked,
  forgottenBy,
  isSignedList,
  type KnownAuthorities,
  leavesOf,
  listIn,
  newAuthority,
  nextKeys,
  revokedSerials,
  type Secrets,
  textOf,
} from './read.ts';
import { hasList, mostListed } from './revocation.ts';
import {
  type AuthorityName,
  intermediateName,
  issuerOf,
  type LeafName,
  nextRootName,
  rootName,
  type WantedCertificates,
} from './wanted.ts';

/** What a write needs. */
export interface Sources {
  readonly secrets: Secrets;
  readonly wanted: WantedCertificates;
  readonly now: number;
  readonly had?: KnownAuthorities;
  /** Data of authorities that can be written back. */
  readonly kept?: KeptData;
}

/** The Secret with new content. Keeps whatever else it has, and the version that was read. */
export async function contentOf(write: Write, sources: Sources): Promise<Secret> {
  const before = there(sources.secrets, write.of);
  if (write.make === 'restoration')
    return {
      ...before,
      metadata: tidied(before.metadata, false),
      data: { ...before.data, ...sources.kept![write.of as AuthorityName] },
    };
  const made = await madeBy(write, before, sources);
  const { true: gone = [], false: texts = [] } = Object.groupBy(Object.entries(made), ([, text]) => `${text === ''}`);
  const data = {
    ...before.data,
    ...Object.fromEntries(texts.map(([key, text]) => [key, Buffer.from(text).toString('base64')])),
  };
  for (const [key] of gone) delete data[key];
  return { ...before, metadata: tidied(before.metadata, write.make === 'authority'), data };
}

/** New contents by key; an empty text removes its key. */
function madeBy(
  write: Write,
  before: Secret,
  sources: Sources,
): Promise<Record<string, string | Buffer>> | Record<string, string> {
  const of = write.of as AuthorityName & LeafName;
  const { secrets, wanted, now } = sources;
  switch (write.make) {
    case 'leaf':
      return leaf(of, before, sources);
    case 'list':
      return newList(issuerOf(of), listIn(before) ? undefined : serversList(of, sources), sources);
    case 'trust':
      return { 'ca.crt': textOf(there(secrets, issuerOf(of)), 'next-root.crt') };
    case 'nextRoot':
      return nextRoot(of, before, wanted, now);
    case 'promotion':
      return promotion(before);
    default:
      return authority(write, before, sources);
  }
}

const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration';

/** Without a request for a new authority once it is fulfilled, and without data that kubectl would remove at its next apply. */
function tidied({ annotations, ...metadata }: Secret['metadata'], isFulfilled: boolean): Secret['metadata'] {
  if (!annotations) return metadata;
  const kept = Object.entries(annotations).filter(
    ([name, value]) => !(isFulfilled && name === newAuthority) && !(name === lastApplied && holdsData(value)),
  );
  return { ...metadata, annotations: Object.fromEntries(kept) };
}

function holdsData(applied: string): boolean {
  try {
    const { data, stringData } = JSON.parse(applied) as Partial<Record<'data' | 'stringData', object>>;
    return Object.keys({ ...data, ...stringData }).length > 0;
  } catch {
    // It may contain a key.
    return true;
  }
}

async function authority({ make, of }: Write, before: Secret, { secrets, wanted, now, had }: Sources) {
  const { issueRoot, issueIntermediate } = await import('./issue.ts');
  const { cluster, rotation, rootRotation = '', revocation = '' } = wanted;
  const name = of as AuthorityName;
  const isNext = make !== 'authority' && isRotating(before);
  const present = () => keyed(before, isNext ? 'next-root' : 'root');
  const root = make === 'authority' ? await issueRoot(rootName(cluster, name), now) : present();
  const { cert, key } = await issueIntermediate(intermediateName(cluster, name), root, now);
  const signer = isNext ? 'next-tls' : 'tls';
  return {
    ...(make === 'authority' && {
      ...{ 'root.crt': root.cert, 'root.key': root.key, 'root-rotation': rootRotation },
      ...{ revocation, 'previous.crt': '', 'revoked.crt': '', [revokedSerials]: '' },
      ...Object.fromEntries(nextKeys.map((each) => [each, ''])),
    }),
    ...(make !== 'authority' &&
      earlier(before, signer, forgottenBy(before, leavesOf(secrets, name), had?.[name]), wanted)),
    ...{ [`${signer}.crt`]: cert, [`${signer}.key`]: key },
    rotation: rotation ?? textOf(before, 'rotation'),
  };
}

/**
 * The intermediates before the one that takes the place of `signer`: all are revoked, or all but that one are kept. None is
 * dropped when it has expired, which only a clock says.
 */
function earlier(
  before: Secret,
  signer: 'tls' | 'next-tls',
  forgotten: ReturnType<typeof forgottenBy>,
  wanted: WantedCertificates,
): Record<string, string> {
  const isRevoked = wanted.revocation !== undefined && wanted.revocation !== textOf(before, 'revocation');
  const [previous, revoked] = [textOf(before, 'previous.crt'), textOf(before, 'revoked.crt')];
  const replaced = previous + certificateIn(before, signer) + forgotten.issued.map(String).join('');
  const serials = textOf(before, revokedSerials).split(/\s+/).filter(Boolean).concat(forgotten.revoked);
  const known = { [revokedSerials]: serials.map((serial) => `${serial}\n`).join('') };
  if (!isRevoked) return { 'previous.crt': replaced, 'revoked.crt': revoked, ...known };
  // While a root is replaced, the intermediate of the present one is accepted too.
  const all = signer === 'tls' ? replaced : replaced + certificateIn(before, 'tls');
  return {
    'previous.crt': '',
    'revoked.crt': revoked + all,
    ...known,
    revocation: wanted.revocation!,
  };
}

/** Empty if it is lost or damaged: nobody accepted anything but a certificate. */
const certificateIn = (secret: Secret, signer: 'tls' | 'next-tls'): string =>
  (certificatesIn(textOf(secret, `${signer}.crt`)) ?? []).map(String).join('');

async function nextRoot(of: AuthorityName, before: Secret, wanted: WantedCertificates, now: number) {
  const { crossSign, issueRoot, issueIntermediate } = await import('./issue.ts');
  const { cluster, rotation, rootRotation } = wanted;
  const root = await issueRoot(nextRootName(cluster, of, randomUUID()), now);
  const { cert, key } = await issueIntermediate(intermediateName(cluster, of), root, now);
  return {
    ...{ 'next-root.crt': root.cert, 'next-root.key': root.key, 'next-tls.crt': cert, 'next-tls.key': key },
    'cross.crt': await crossSign(root, keyed(before, 'root'), now),
    rotation: rotation ?? textOf(before, 'rotation'),
    'root-rotation': rootRotation ?? textOf(before, 'root-rotation'),
  };
}

/** The next root becomes the root. */
function promotion(before: Secret): Record<string, string> {
  const moved = ['root.crt', 'root.key', 'tls.crt', 'tls.key'].map((key) => [key, textOf(before, `next-${key}`)]);
  return Object.fromEntries([...moved, ...nextKeys.map((key) => [key, ''])]);
}

const isRotating = (authority: Secret): boolean => textOf(authority, 'next-root.crt') !== '';

async function leaf(of: LeafName, before: Secret, sources: Sources) {
  const { secrets, wanted, now } = sources;
  const { issueLeaf } = await import('./issue.ts');
  const issuer = there(secrets, issuerOf(of));
  const isNext = isRotating(issuer);
  const intermediate = keyed(issuer, isNext ? 'next-tls' : 'tls');
  const { cert, key } = await issueLeaf(wanted.shapes[of]!, intermediate, now);
  const next = textOf(issuer, 'next-root.crt');
  return {
    // Members may trust the next root alone by now.
    'ca.crt': isNext && textOf(before, 'ca.crt') === next ? next : textOf(issuer, 'root.crt'),
    'tls.crt': cert + intermediate.cert + (isNext ? textOf(issuer, 'cross.crt') : ''),
    'tls.key': key,
    ...(hasList(of) &&
      !isSignedList(before, certificatesIn(intermediate.cert)) &&
      (await newList(issuerOf(of), listIn(before) ?? serversList(of, sources), sources))),
  };
}

/** For a backup without any list, which must not refuse a member that has still to read its new certificate. */
const serversList = (of: LeafName, { secrets }: Sources): RevocationList | undefined =>
  of === 'backup' ? listIn(there(secrets, 'server')) : undefined;

/**
 * A list with everything that the authority has revoked, and that `present` names if there is one. Whoever signs a leaf also signs the list beside it, so that it counts as
 * long as one of the two is known; for that, what the list names stays as it was: who has an earlier leaf is not shut out yet.
 */
async function newList(
  of: AuthorityName,
  present: RevocationList | undefined,
  { secrets, now, had }: Sources,
): Promise<Record<string, Buffer>> {
  const { issueRevocationList } = await import('./issue.ts');
  const authority = there(secrets, of);
  const signer = keyed(authority, isRotating(authority) ? 'next-tls' : 'tls');
  const all = allRevoked(authority, leavesOf(secrets, of), had?.[of]);
  const serials = present ? all.filter((serial) => lists(present, serial)) : all;
  if (serials.length > mostListed)
    throw new Error(
      `its authority has revoked ${serials.length} intermediates, and a list can name ${mostListed}: replace the authority`,
    );
  return { 'ca.crl': await issueRevocationList(serials, signer, now) };
}

const keyed = (secret: Secret, name: 'root' | 'tls' | 'next-root' | 'next-tls'): Keyed => ({
  // What follows it in a chain needs a line of its own.
  cert: `${textOf(secret, `${name}.crt`).trimEnd()}\n`,
  key: textOf(secret, `${name}.key`),
});

function there(secrets: Secrets, name: AuthorityName | LeafName): Secret {
  const secret = secrets[name];
  if (!secret?.known || !secret.v) throw new Error('the Secret was not read');
  return secret.v;
}
