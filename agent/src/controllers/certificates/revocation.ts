import { shortId } from '../../lib/certificates.ts';
import type { Known } from '../../protocol/known.ts';
import type { Reason } from '../../protocol/reasons.ts';
import type { FilledLeaf, IntermediateFacts, WholeAuthority } from './facts.ts';
import { lifetimes } from './lifetimes.ts';
import { type MemberReport, namingLeft, type Rotation, type Step, serving, waitsForLeaves } from './rotation.ts';
import type { LeafName, Wanted } from './wanted.ts';

// Whoever has a certificate of an earlier intermediate is shut out without a restart, in two steps:
// 1. A new intermediate is made, and the certificates of the earlier ones move to `revoked.crt`. Every leaf is issued anew.
// 2. Once every member and the clients have their new leaf, the serial numbers of the earlier intermediates are put into
//    `ca.crl` beside it. etcd reads that file at every connection, and refuses a chain that has one of them.
// Without the order of the two, members that have the list would refuse those that still present the earlier leaf.

/** Why every earlier intermediate is to be revoked; undefined: it is not. */
export function revocationDue({ revocation, isRestored }: WholeAuthority, wanted: Wanted): string | undefined {
  if (wanted.revocation === undefined || wanted.revocation === revocation) return undefined;
  const why = `spec.tls.managed.intermediateRevocation is '${wanted.revocation}'`;
  return isRestored
    ? `${why}; its Secret came back from a backup, so intermediates that were issued after that backup may not be shut out: replace the root too (spec.tls.managed.rootRotation)`
    : why;
}

const toSigner = (signer: IntermediateFacts): Step => ({
  ...{ signer: 'the new intermediate', time: lifetimes.revocation },
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
  return namingLeft('every member has a certificate of the new intermediate', rotation, step);
}

/** What is not done yet. A member that does not answer proves nothing, and reads the newest list when it starts. */
export function revocationProblem(
  rotation: Rotation,
  { revoked, ...authority }: Pick<WholeAuthority, 'intermediate' | 'revoked'>,
): { readonly reason: Reason; readonly message: string } | undefined {
  const { of, facts, wanted, members } = rotation;
  const leaf = facts[serving[of]];
  if (revoked.length === 0 || leaf.kind !== 'filled') return undefined;
  const step = toSigner(authority.intermediate);
  const waits = leaf.list === 'current' ? withoutList(members, of, leaf.listId) : waitsForLeaves(rotation, step);
  if (waits === undefined && leaf.list === 'current') return undefined;
  const revoking = `the earlier intermediates of Secret ${wanted.authorities[of]} are being revoked`;
  const message = namingLeft(waits === undefined ? revoking : `${revoking}: ${waits}`, rotation, step);
  return { reason: 'RevokingIntermediates', message };
}

function withoutList(
  members: Known<readonly MemberReport[]>,
  of: Rotation['of'],
  id: string | undefined,
): string | undefined {
  if (!members.known || id === undefined) return undefined;
  for (const { pod, [of]: end } of members.v) {
    if (end.list === 'none') return `member ${pod} was started without a revocation list; restart it`;
    if (end.list !== undefined && end.list !== shortId(id)) return `member ${pod} has not got the list yet`;
  }
  return undefined;
}

/** The leaves that lie beside a list: those of the members. */
export const hasList = (name: LeafName): boolean => Object.values<string>(serving).includes(name);
