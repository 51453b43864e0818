import { shortId } from '../../lib/certificates.ts';
import type { Reason } from '../../protocol/reasons.ts';
import type { FilledLeaf, IntermediateFacts, WholeAuthority } from './facts.ts';
import { lifetimes } from './lifetimes.ts';
import { namingLeft, type Rotation, type RotationStep, serving, waitsForLeaves } from './rotation.ts';
import { authorityNames, type LeafName, type WantedCertificates } from './wanted.ts';

// Whoever has a certificate of an earlier intermediate is shut out without a restart, in two steps:
// 1. A new intermediate is made, and the certificates of the earlier ones move to `revoked.crt`. Every leaf is issued anew.
// 2. Once every member and the clients have their new leaf, the serial numbers of the earlier intermediates are put into
//    `ca.crl` beside it. etcd reads that file at every connection, and refuses a chain that has one of them.
// Without the order of the two, members that have the list would refuse those that still present the earlier leaf.

/** Why every earlier intermediate is to be revoked; undefined: it is not. */
export function revocationDue(
  { revocation, isRestored }: WholeAuthority,
  wanted: WantedCertificates,
): string | undefined {
  if (wanted.revocation === undefined || wanted.revocation === revocation) return undefined;
  const why = `spec.tls.managed.intermediateRevocation is '${wanted.revocation}'`;
  return isRestored
    ? `${why}; its Secret came back from a backup, so intermediates that were issued after that backup may not be shut out: replace the root too (spec.tls.managed.rootRotation)`
    : why;
}

const toSigner = (signer: IntermediateFacts): RotationStep => ({
  ...{ signer: 'the new intermediate', time: lifetimes.revocation, limit: lifetimes.silence },
  isDone: (leaf) =>
    leaf.kind === 'filled' && leaf.certificate?.issuer !== undefined && leaf.certificate.issuer === signer.id,
});

/** Why a list is written; undefined: it stays as it is. A list that etcd cannot read shuts everybody out, so it never waits. */
export function listDue(
  leaf: FilledLeaf,
  rotation: Rotation,
  authority: Pick<WholeAuthority, 'intermediate'>,
): string | undefined {
  if (leaf.list === 'unreadable') return 'ca.crl is missing or cannot be parsed';
  const step = toSigner(authority.intermediate);
  if (leaf.list !== 'behind' || waitsForLeaves(rotation, step) !== undefined) return undefined;
  return namingLeft('the members have certificates of the new intermediate', rotation, step);
}

/**
 * What is not done yet. `proven`: lists that every member was seen to have. A member that is silent about another one may lack it.
 */
export function revocationProblem(
  rotation: Rotation,
  { revoked, ...authority }: Pick<WholeAuthority, 'intermediate' | 'revoked'>,
  proven: ReadonlySet<string>,
): { readonly reason: Reason; readonly message: string } | undefined {
  const { of, facts, wanted } = rotation;
  const leaf = facts[serving[of]];
  if (revoked.length === 0 || leaf.kind !== 'filled') return undefined;
  const step = toSigner(authority.intermediate);
  const waits = leaf.list === 'current' ? withoutList(rotation, leaf, proven) : waitsForLeaves(rotation, step);
  if (waits === undefined && leaf.list === 'current') return undefined;
  const revoking = `the earlier intermediates of Secret ${wanted.authorities[of]} are being revoked`;
  const message = namingLeft(waits === undefined ? revoking : `${revoking}: ${waits}`, rotation, step);
  return { reason: 'RevokingIntermediates', message };
}

function withoutList(
  { members, of }: Rotation,
  { listId }: FilledLeaf,
  proven: ReadonlySet<string>,
): string | undefined {
  if (listId === undefined) return undefined;
  const isProven = proven.has(listId);
  if (!members.known) return isProven ? undefined : `it is not known which members have the list: ${members.why}`;
  for (const { pod, isDown, [of]: end } of members.v) {
    if (end.list === 'none') return `member ${pod} was started without a revocation list; restart it`;
    if (end.list !== undefined && end.list !== shortId(listId)) return `member ${pod} has not got the list yet`;
    if (end.list === undefined && !isDown && !isProven) return `the agent of member ${pod} does not report its list`;
  }
  return undefined;
}

/** The lists that every member has, and is known to have. */
export function provenLists({ facts, members }: Omit<Rotation, 'of'>): string[] {
  if (!members.known || members.v.length === 0) return [];
  return authorityNames.flatMap((of) => {
    const leaf = facts[serving[of]];
    const id = leaf.kind === 'filled' ? leaf.listId : undefined;
    const isEverywhere = id !== undefined && members.v.every(({ [of]: end }) => end.list === shortId(id));
    return isEverywhere ? id : [];
  });
}

/** More than anybody revokes, and less than what the library can write. The status takes no more either. */
export const mostListed = 2_000;

/** Nothing else can be revoked, and something may be that no list names. */
export const isFull = ({ revoked }: Pick<WholeAuthority, 'revoked'>): boolean => revoked.length >= mostListed;

/** The leaves that lie beside a list: those of the members, and that of backups, which must not believe a thief who poses as a member. */
export const hasList = (name: LeafName): boolean => name === 'backup' || Object.values<string>(serving).includes(name);
