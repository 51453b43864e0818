import { shortId } from '../../lib/certificates.ts';
import { serialsAmong } from '../../lib/revocation-lists.ts';
import { unknown } from '../../protocol/known.ts';
import type { Problem } from '../../protocol/reasons.ts';
import type { UserCertificate } from '../objects/user-object.ts';
import type { SeenCertificate } from '../port/observed.ts';
import type {
  AuthorityFacts,
  CertificateFacts,
  FilledLeaf,
  IntermediateFacts,
  LeafFacts,
  Span,
  WholeAuthority,
} from './facts.ts';
import { dueAt, endOf, lifetimes } from './lifetimes.ts';
import { newAuthority, shapeOf } from './read.ts';
import { isFull, listDue, mostListed, provenLists, revocationDue, revocationProblem } from './revocation.ts';
import {
  areAllTrusting,
  isCrossed,
  type MemberReports,
  namingLeftBehind,
  type Rotation,
  rotationDue,
  waitsToPromote,
  waitsToTrust,
} from './rotation.ts';
import {
  type AuthorityName,
  authorityNames,
  issuerOf,
  isUser,
  type LeafName,
  leafNames,
  type UserLeaf,
  userLeaf,
  type WantedCertificates,
} from './wanted.ts';

/** The one Secret to write now, and why. */
export interface Write {
  readonly make: 'authority' | 'restoration' | 'intermediate' | 'nextRoot' | 'promotion' | 'leaf' | 'trust' | 'list';
  readonly of: AuthorityName | LeafName;
  readonly secret: string;
  readonly why: string;
}

export interface CertificateDecision {
  readonly write?: Write;
  /** Problems that prevent valid certificates, or their renewal. */
  readonly problems: readonly Problem[];
  /** Content of the Secrets that were read. */
  readonly certificates: readonly SeenCertificate[];
  /** Secrets that were not read, and why. */
  readonly unread: readonly { readonly secret: string; readonly why: string }[];
  /** The same of each user's Secret, apart from those of the cluster. */
  readonly users: ReadonlyMap<string, UserCertificate>;
  /** When the next certificate is to be renewed, ms. */
  readonly dueAt: number;
  /** First digits of the roots in every `ca.crt`, of peers and of clients, while members must restart to load them. */
  readonly rootsToLoad?: string;
  /** Ids of lists that every member is seen to have. */
  readonly provenLists: readonly string[];
}

/** Facts for a decision, in addition to the Secrets. */
export interface Circumstances {
  /** Secrets that cannot be written. */
  readonly failed?: ReadonlySet<string>;
  /** How far our clock is ahead of the API server's, ms. */
  readonly clockAhead?: number;
  /** State of the members. Undefined if they were not queried yet. */
  readonly members?: MemberReports;
  /** Ids of lists that every member was seen to have. */
  readonly provenLists?: ReadonlySet<string>;
  /** Authorities that can be written back. */
  readonly kept?: ReadonlySet<AuthorityName>;
}

/**
 * Decides what to write next, authorities first. The decision follows from the content of the Secrets, so a second
 * reconciler, a lost answer or a crash is harmless. A root in the status only prevents a new one.
 */
export function decide(
  given: CertificateFacts,
  wanted: WantedCertificates,
  now: number,
  around: Circumstances = {},
): CertificateDecision {
  const { failed, clockAhead = 0, members = unknown('they were not asked yet') } = around;
  const facts = withoutMistaken(given, wanted);
  const mistakes = wanted.mistakes.map((message) => ({ reason: 'TlsRefused' as const, message }));
  const leaf = (name: LeafName) => judgeLeaf(name, { of: issuerOf(name), facts, wanted, now, members });
  const judgedAuthorities = authorityNames.map((of) => judgeAuthority({ of, facts, wanted, now, members }, around));
  const judged = wanted.isAmbiguous
    ? []
    : [
        ...judgedAuthorities,
        ...leafNames(wanted)
          .filter((name) => !isUser(name))
          .map(leaf),
      ];
  const ofUsers = wanted.isAmbiguous
    ? []
    : leafNames(wanted)
        .filter(isUser)
        .map((name) => ({ secret: wanted.leaves[name]!, ...leaf(name) }));
  const authority = judgedAuthorities[authorityNames.indexOf(issuerOf(userLeaf('')))]!;
  const dueOf = (all: readonly Judgement[]) => all.find((each) => each.write && !failed?.has(each.write.secret))?.write;
  const due = dueOf(judged);
  const clock = clockProblem(clockAhead);
  const soon = dueOf(judged.filter(({ write: each }) => !each || !comesLast(each, facts))) ?? dueOf(ofUsers);
  const isHeld = wanted.isPaused || wanted.isAmbiguous || clock !== undefined;
  const write = isHeld ? undefined : (soon ?? due);
  const certificates = judged.flatMap(({ certificate }) => certificate ?? []);
  const isRead = authorityNames.every((name) => facts[name].kind !== 'unread');
  const restarts = judged.flatMap(({ restart }) => restart ?? []);
  const isRestart = isRead && restarts.length > 0 && restarts.every((isReady) => isReady);
  const renewed = [...judged, ...ofUsers].flatMap(({ certificate }) => (certificate?.renewAt ? certificate : []));
  return {
    write,
    rootsToLoad: isRestart ? authorityNames.map((name) => trustedRoot(facts[name])).join('-') : undefined,
    problems: [
      ...(clock ? [clock] : []),
      ...judged.flatMap(({ problem }) => problem ?? []),
      ...mistakes,
      ...(due && wanted.isPaused ? [paused(due)] : []),
    ],
    certificates,
    unread: judged.flatMap(({ unread }) => unread ?? []),
    users: new Map(ofUsers.map((each) => [each.secret, userCertificate(each, { authority, wanted, clock, now })])),
    provenLists: provenLists({ facts, wanted, now, members }),
    dueAt: Math.min(...renewed.map(({ span }) => dueAt(span))),
  };
}

/** Users whose Secret can be written get theirs before it is too late. */
const comesLast = ({ make, of }: Write, facts: CertificateFacts): boolean => {
  const found = facts[of]!;
  return make === 'promotion' || (make === 'list' && found.kind === 'filled' && found.list === 'behind');
};

/** Facts about a user's certificate, beside its Secret. */
interface Issuance {
  /** Of the clients. */
  readonly authority: Judgement;
  readonly wanted: WantedCertificates;
  readonly clock: Problem | undefined;
  readonly now: number;
}

/** Whoever reads this has nothing but the EtcdUser, so all that keeps its certificate from it is said here. */
function userCertificate(judgement: Judgement, issuance: Issuance): UserCertificate {
  const { certificate, problem, unread } = judgement;
  const unreadable = unread && {
    reason: 'CannotWrite' as const,
    message: `Secret ${unread.secret} cannot be read: ${unread.why}`,
  };
  const found = heldUp(judgement, issuance) ?? problem ?? unreadable ?? lapsing(judgement, issuance);
  return { certificate, problem: found };
}

const heldUp = ({ write }: Judgement, { wanted, clock }: Issuance): Problem | undefined =>
  write && (wanted.isPaused ? paused(write) : clock);

/** A certificate whose renewal is overdue and impossible. */
function lapsing({ certificate, write }: Judgement, issuance: Issuance): Problem | undefined {
  const { authority, now } = issuance;
  if (!certificate || write || now < dueAt(certificate.span)) return undefined;
  const isOver = now >= certificate.span.notAfter;
  const why = heldUp(authority, issuance)?.message ?? authority.problem?.message ?? authority.unread?.why;
  return {
    reason: isOver ? 'Expired' : 'CannotWrite',
    message: `the certificate in Secret ${certificate.secret} ${isOver ? 'expired' : 'ends'} at ${certificate.notAfter} and cannot be renewed: ${why ?? 'its authority ends then, too'}`,
  };
}

/**
 * A client with a certificate of the peers' authority could join as a member, so neither authority signs certificates
 * of the other kind.
 */
export function withoutMistaken(facts: CertificateFacts, wanted: WantedCertificates): CertificateFacts {
  const { peers, clients } = facts;
  const areEqual = peers.kind === 'whole' && clients.kind === 'whole' && peers.root.id === clients.root.id;
  const checked = authorityNames.map((of) => {
    const found = facts[of];
    if (found.kind !== 'whole') return [of, found];
    const other = wanted.authorities[of === 'peers' ? 'clients' : 'peers'];
    const isOther = found.root.says !== undefined && found.root.says !== of;
    if (areEqual) return [of, broken(`its root is that of Secret ${other} too, so a client could join as a member`)];
    return [of, isOther ? broken(`its root was made for Secret ${other}`) : found];
  });
  return { ...facts, ...(Object.fromEntries(checked) as Pick<CertificateFacts, AuthorityName>) };
}

const broken = (why: string) => ({ kind: 'broken' as const, why });

/** Content of a `ca.crt` at the end of a rotation. */
const trustedRoot = (authority: AuthorityFacts): string =>
  authority.kind === 'whole' ? shortId((authority.next ?? authority).root.id) : '';

interface Judgement {
  readonly write?: Write;
  /** Members must restart to load the next root; false if not yet. A restart loads the current files of a member. */
  readonly restart?: boolean;
  readonly problem?: Problem;
  readonly certificate?: SeenCertificate;
  readonly unread?: CertificateDecision['unread'][number];
}

function judgeAuthority(rotation: Rotation, { provenLists: proven = new Set(), kept }: Circumstances): Judgement {
  const { of, facts, wanted, now } = rotation;
  const secret = wanted.authorities[of];
  const found = facts[of];
  if (found.kind === 'unread') return { unread: { secret, why: found.why } };
  if (found.kind === 'missing') {
    const trace = traceOf(of, facts, wanted);
    return { problem: trace === undefined ? missing(secret) : gone(secret, trace, kept?.has(of) ?? false) };
  }
  if (found.kind === 'typed') return { problem: typed(secret, found.type) };
  if (found.kind === 'empty') return judgeEmpty(of, found, facts, wanted, kept?.has(of));
  if (found.kind === 'broken') return invalid(secret, found.why);
  const { root, intermediate } = signerOf(found);
  const why = renewalOf(found, wanted, now);
  const canSign = (found.next !== undefined || found.rootKey === undefined) && isValid(root, now);
  const renewal = why !== undefined && canSign ? { make: 'intermediate' as const, of, secret, why } : undefined;
  const { write = renewal, problem, restart } = judgeRoot(rotation, found);
  const renewed = canSign && isLonger(intermediate, lifetimes.intermediate, root);
  const lacks = write && 'why' in intermediate ? issuing(write) : undefined;
  const crowded = isFull(found) ? full(secret) : undefined;
  const revoking = revocationProblem(rotation, { intermediate, revoked: found.revoked }, proven);
  return {
    write,
    restart,
    ...problemOf([rootProblem(secret, found, now) ?? lacks, problem, revoking, crowded].reduce(both)),
    certificate:
      'why' in intermediate
        ? undefined
        : { ...seen(secret, intermediate, found.root.id, renewed), ...revokedBy(found) },
  };
}

const revokedBy = ({ revoked }: WholeAuthority): Pick<SeenCertificate, 'revoked'> =>
  revoked.length > 0 ? { revoked: serialsAmong(revoked).slice(0, mostListed) } : {};

const full = (secret: string): Problem => ({
  reason: 'AuthorityInvalid',
  message: `Secret ${secret} has revoked ${mostListed} intermediates, and a list names no more, so no other can be shut out; replace the authority`,
});

/** The first problem, with the messages of both. */
const both = (one: Problem | undefined, other: Problem | undefined): Problem | undefined =>
  one && other ? { ...one, message: `${one.message}; ${other.message}` } : (one ?? other);

/** The signer from now on. */
const signerOf = (authority: WholeAuthority): Pick<WholeAuthority, 'root' | 'intermediate'> =>
  authority.next ?? authority;

/** The next step of replacing the root, or what it waits for. */
function judgeRoot(rotation: Rotation, found: WholeAuthority): Judgement {
  const { of, wanted, now } = rotation;
  const secret = wanted.authorities[of];
  const { root, rootKey, next } = found;
  if (!next) {
    const why = rootKey === undefined && isValid(root, now) ? rotationDue(found, wanted, now) : undefined;
    return why === undefined ? {} : { write: { make: 'nextRoot', of, secret, why } };
  }
  const rotating = (step: string, waits: string | undefined): Problem => {
    const message = `the root ${shortId(root.id)} in Secret ${secret} is being replaced by ${shortId(next.root.id)} (${step})`;
    const all = waits === undefined ? message : `${message}: ${waits}`;
    return { reason: 'RotatingRoot', message: namingLeftBehind(all, rotation, next) };
  };
  if (!areAllTrusting(rotation, next))
    return { problem: rotating('step 1 of 2, certificates', waitsToTrust(rotation, next)), restart: false };
  const waits = waitsToPromote(rotation, next);
  const done = namingLeftBehind('every member has loaded its next root', rotation, next);
  if (!waits) return { write: { make: 'promotion', of, secret, why: done } };
  return { problem: rotating('step 2 of 2, restarts', waits.why), restart: waits.restart };
}

/**
 * With leaves of a lost authority, or with running members, a new authority would leave members that trust different
 * roots.
 */
function judgeEmpty(
  of: AuthorityName,
  { lostRoot, isAskedFor }: Extract<AuthorityFacts, { kind: 'empty' }>,
  facts: CertificateFacts,
  wanted: WantedCertificates,
  isKept = false,
): Judgement {
  const secret = wanted.authorities[of];
  const { leaves, own, ofUsers } = heldBy(of, facts, wanted);
  const restoration: Write = { make: 'restoration', of, secret, why: 'something else had emptied it' };
  const isLost = own.length > 0 || (lostRoot !== undefined && !isAskedFor);
  if (isKept)
    return {
      write: restoration,
      problem: { reason: 'AuthorityLost', message: `Secret ${secret} is empty: ${writesBack}` },
    };
  const message = own.length > 0 ? lost(secret, own, ofUsers) : emptied(secret, lostRoot ?? '');
  if (isLost) return { problem: { reason: 'AuthorityLost', message } };
  if (leaves.some((name) => facts[name]!.kind !== 'empty')) return {};
  const write = { make: 'authority' as const, of, secret, why: 'it was empty' };
  return { write, problem: issuing(write) };
}

/** The leaves of an authority, and the Secrets of those that hold something. What a user holds of a lost authority is its own problem. */
function heldBy(of: AuthorityName, facts: CertificateFacts, wanted: WantedCertificates) {
  const all = leafNames(wanted).filter((name) => issuerOf(name) === of);
  const filled = all.filter((name) => facts[name]!.kind === 'filled');
  const secrets = (names: readonly LeafName[]) => names.map((name) => wanted.leaves[name]!);
  return {
    leaves: all.filter((name) => !isUser(name)),
    own: secrets(filled.filter((name) => !isUser(name))),
    ofUsers: secrets(filled.filter(isUser)),
  };
}

/** What is left of an authority whose Secret is gone: another root cannot replace it. Undefined: there was none. */
function traceOf(of: AuthorityName, facts: CertificateFacts, wanted: WantedCertificates): string | undefined {
  const { own } = heldBy(of, facts, wanted);
  if (own.length > 0) return signed(own);
  const found = facts[of];
  return 'lostRoot' in found && found.lostRoot !== undefined ? held(found.lostRoot) : undefined;
}

const lost = (secret: string, own: readonly string[], ofUsers: readonly string[]): string =>
  `Secret ${secret} is empty, but ${signed(own)}: ${fromBackup(secret)}; or, ${anew(secret, [...own, ...ofUsers])}`;

/** An empty Secret, which the manifests would make, could not be created from a backup any more. */
const gone = (secret: string, trace: string, isKept: boolean): Problem => ({
  reason: 'AuthorityLost',
  message: `Secret ${secret} does not exist, but ${trace}: ${
    isKept
      ? `apply the manifests of the cluster again, and ${writesBack}`
      : 'this reconciler does not know the authority: create the Secret from a backup (kubectl create -f) before you apply the manifests again; without a backup, apply them, and the next message says how to start anew'
  }`,
});

const emptied = (secret: string, root: string): string =>
  `Secret ${secret} is empty, but ${held(root)}: ${fromBackup(secret)}; or, ${anew(secret, [])}`;

const held = (root: string): string => `held the root ${shortId(root)}, which running members may still trust`;

const signed = (own: readonly string[]): string =>
  `its authority signed what Secret ${own.join(' and Secret ')} ${own.length === 1 ? 'holds' : 'hold'}`;

const writesBack =
  'this reconciler writes the authority back; do not restart it before, because a new one does not know it';

const fromBackup = (secret: string): string => `bring Secret ${secret} back from a backup (kubectl replace -f)`;

const anew = (secret: string, leaves: readonly string[]): string =>
  `to start anew, follow "Replace an authority" in docs/clusters/tls.md in its order: run kubectl annotate secret ${secret} ${newAuthority}=yes${leaves.length > 0 ? `, empty ${leaves.join(' and ')}` : ''}, wait until all are filled, and delete the pods of all members at once, which stops the cluster until they run again`;

function rootProblem(secret: string, { root, rootKey, next }: WholeAuthority, now: number): Problem | undefined {
  if (rootKey !== undefined && !next) return invalid(secret, `${rootKey}, so its root signs nothing`).problem;
  if (now < root.notBefore) return early(secret, root);
  if (now + lifetimes.intermediate < root.notAfter) return undefined;
  const end = timeOf(root.notAfter);
  return {
    reason: 'RootExpiring',
    message: `the root in Secret ${secret} ends at ${end}, and ${next ? 'a member or client that trusts it alone accepts no certificate then' : 'nothing it signs lasts longer'}`,
  };
}

const early = (secret: string, { notBefore }: Span): Problem => ({
  reason: 'NotYetValid',
  message: `the root in Secret ${secret} is valid from ${timeOf(notBefore)} on, and signs nothing before: correct the clock of the reconciler if that is behind; if a clock that was ahead made the root, wait until then or replace the authority`,
});

const isValid = ({ notBefore, notAfter }: Span, now: number): boolean => notBefore <= now && now < notAfter;

const invalid = (secret: string, why: string): { problem: Problem } => ({
  problem: {
    reason: 'AuthorityInvalid',
    message: `Secret ${secret}: ${why}; it is never overwritten: bring it back from a backup`,
  },
});

/** Why a new intermediate is needed. */
function renewalOf(authority: WholeAuthority, wanted: WantedCertificates, now: number): string | undefined {
  const { root, intermediate } = signerOf(authority);
  if ('why' in intermediate) return intermediate.why;
  if (now < intermediate.notBefore) return notYet;
  if (authority.hasForgotten) return forgets;
  if (wanted.rotation !== undefined && wanted.rotation !== authority.rotation)
    return `spec.tls.managed.intermediateRotation is '${wanted.rotation}'`;
  const revocation = revocationDue(authority, wanted);
  if (revocation !== undefined) return revocation;
  const isDue = now >= dueAt(intermediate) && endOf(lifetimes.intermediate, now, root) > intermediate.notAfter;
  return isDue ? overdue : undefined;
}

const forgets = 'it came back from a backup, and does not know every intermediate of its certificates';
const overdue = 'two thirds of its life are over';
/** It was issued by a clock that was ahead. */
const notYet = 'it is not valid yet';

function judgeLeaf(of: LeafName, rotation: Rotation): Judgement {
  const { facts, wanted, now } = rotation;
  const secret = wanted.leaves[of]!;
  const found = facts[of]!;
  if (found.kind === 'unread') return { unread: { secret, why: found.why } };
  const authority = facts[issuerOf(of)];
  if (found.kind === 'missing') {
    const isFirst = authority.kind === 'missing' && traceOf(issuerOf(of), facts, wanted) !== undefined;
    return { problem: isFirst ? missingToo(secret, wanted.authorities[issuerOf(of)]) : missing(secret) };
  }
  if (found.kind === 'typed') return { problem: typed(secret, found.type) };
  const isFilled = found.kind === 'filled';
  // Its owner is unknown. The problem is that of the authority.
  if (authority.kind !== 'whole') return isFilled ? certificateOf(secret, found, false) : {};
  if (isFilled && isForeign(found, authority))
    return {
      ...certificateOf(secret, found, false),
      problem: foreign(secret, wanted.authorities[issuerOf(of)], isUser(of)),
    };
  const why = isFilled ? (unfit(found, of, wanted, now) ?? renewal(found, authority, now)) : 'it was empty';
  const { root, intermediate } = signerOf(authority);
  const hinders = 'why' in intermediate ? intermediate.why : authority.hasForgotten && forgets;
  const isInTime = isValid(root, now) && ('why' in intermediate || isValid(intermediate, now));
  const canSign = !hinders && isInTime;
  const canList = isInTime && (intermediate.why === undefined || intermediate.isRevoked === true);
  const mayIssue = !isUser(of) || isAccepted(of, found, wanted);
  const leaf = why !== undefined && canSign && mayIssue ? { make: 'leaf' as const, of, secret, why } : undefined;
  const write =
    leaf ??
    (isFilled && canList ? listOf(of, found, rotation, authority) : undefined) ??
    (why === undefined && isFilled ? trustOf(of, found, rotation, authority) : undefined);
  const isBad = !isFilled || unfit(found, of, wanted, now) !== undefined;
  const lacks = hinders ? `${why}; its authority signs none before it has a new intermediate: ${hinders}` : why;
  return {
    write,
    problem: isBad ? (mayIssue ? issuing({ secret, why: lacks! }) : awaited(secret)) : undefined,
    ...(isFilled && certificateOf(secret, found, canSign && isRenewable(found, intermediate))),
  };
}

/**
 * Whoever has a certificate is the user that it names. So a user gets its first one when etcd is known to have the user for
 * its EtcdUser, and not for somebody else.
 */
const isAccepted = (of: UserLeaf, found: LeafFacts, { accepted, leaves, shapes }: WantedCertificates): boolean =>
  accepted.includes(leaves[of]!) || (found.kind === 'filled' && found.certificate?.shape === shapeOf(shapes[of]!));

const awaited = (secret: string): Problem => ({
  reason: 'Issuing',
  message: `Secret ${secret} gets its certificate when etcd has the user`,
});

/** Its revocation list is to be written. */
function listOf(of: LeafName, found: FilledLeaf, rotation: Rotation, authority: WholeAuthority): Write | undefined {
  const why = listDue(found, rotation, signerOf(authority));
  return why === undefined ? undefined : { make: 'list', of, secret: rotation.wanted.leaves[of]!, why };
}

/** Its `ca.crt` may become the next root. */
function trustOf(
  of: LeafName,
  { trusts }: FilledLeaf,
  rotation: Rotation,
  { next }: WholeAuthority,
): Write | undefined {
  if (!next || trusts?.[0] === next.root.id || waitsToTrust(rotation, next) !== undefined) return undefined;
  const why = 'every member has a certificate of the next root';
  return { make: 'trust', of, secret: rotation.wanted.leaves[of]!, why };
}

/** Of another authority, for example cert-manager's before a switch. */
function isForeign({ trusts, certificate }: FilledLeaf, { root, next }: WholeAuthority): boolean {
  if (trusts) return trusts.length !== 1 || (trusts[0] !== root.id && trusts[0] !== next?.root.id);
  return certificate?.isOfRoot === false;
}

const foreign = (secret: string, authority: string, isOfUser: boolean): Problem => ({
  reason: 'ForeignCertificate',
  message: `Secret ${secret} holds a certificate of another root than that in Secret ${authority}, so it is not overwritten: bring the authority of that root back; or, to take the new one, empty ${secret}${isOfUser ? '' : ', which stops the cluster until all members have restarted'}`,
});

/** Why no client accepts it. */
function unfit(leaf: FilledLeaf, of: LeafName, wanted: WantedCertificates, now: number): string | undefined {
  const { trusts, certificate, hasKey } = leaf;
  if (!trusts) return 'ca.crt is missing or cannot be parsed';
  if (!certificate) return 'tls.crt is missing or cannot be parsed';
  if (!hasKey) return 'tls.key is missing or does not fit';
  if (certificate.issuer === undefined || !certificate.isOfRoot) return 'tls.crt is not a chain to the root';
  if (now < certificate.notBefore) return notYet;
  return certificate.shape === shapeOf(wanted.shapes[of]!) ? undefined : 'its names or usages are not the wanted ones';
}

/** Why a leaf that is accepted is issued again. */
function renewal(leaf: FilledLeaf, authority: WholeAuthority, now: number): string | undefined {
  const { certificate } = leaf;
  const { intermediate } = signerOf(authority);
  if (!certificate || intermediate.id === undefined) return undefined;
  if (authority.next && !isCrossed(leaf, authority.next)) return 'another root follows that of its authority';
  if (certificate.issuer !== intermediate.id) return 'its authority was renewed';
  if (leaf.isListOfOther) return 'another intermediate than its own signed ca.crl';
  const isDue = now >= dueAt(certificate) && endOf(lifetimes.leaf, now, intermediate) > certificate.notAfter;
  return isDue ? overdue : undefined;
}

const isRenewable = ({ certificate }: FilledLeaf, intermediate: IntermediateFacts): boolean =>
  certificate !== undefined &&
  !('why' in intermediate) &&
  (certificate.issuer !== intermediate.id || isLonger(certificate, lifetimes.leaf, intermediate));

/** A new one, issued when this one falls due, ends later. Otherwise a renewal would gain nothing. */
const isLonger = (present: IntermediateFacts | Span, lifetime: number, issuer: Span): boolean =>
  'notAfter' in present && endOf(lifetime, dueAt(present), issuer) > present.notAfter;

const missing = (secret: string): Problem => ({
  reason: 'WaitingForSecrets',
  message: `Secret ${secret} does not exist; apply the manifests of the cluster`,
});

/** Whether the manifests may be applied depends on the authority. */
const missingToo = (secret: string, authority: string): Problem => ({
  reason: 'WaitingForSecrets',
  message: `Secret ${secret} does not exist either; see to Secret ${authority} first`,
});

/** Its type cannot be changed, and that of cert-manager allows no empty data. */
const typed = (secret: string, type: string): Problem => ({
  reason: 'ForeignCertificate',
  message: `Secret ${secret} has the type ${type}, as cert-manager writes it, so nothing is written into it; delete it and apply the manifests again`,
});

const minute = 60_000;

/** More than the difference of synchronized clocks, and less than the hour by which certificates begin in the past. */
const mostAhead = 5 * minute;

/**
 * A clock that is behind would replace valid certificates by expired ones; one that is ahead would issue certificates
 * of the future.
 */
function clockProblem(ahead: number): Problem | undefined {
  if (Math.abs(ahead) <= mostAhead) return undefined;
  const direction = ahead > 0 ? 'ahead of' : 'behind';
  return {
    reason: 'ClockDiffers',
    message: `the clock of the reconciler is ${roughly(Math.abs(ahead))} ${direction} that of the API server, so no certificate is made or renewed: correct the clock of the node that is wrong`,
  };
}

/** The same text in two passes for one difference, if possible. */
function roughly(ms: number): string {
  const minutes = Math.round(ms / minute);
  if (minutes < 120) return `${minutes} minutes`;
  const hours = Math.round(minutes / 60);
  return hours < 48 ? `${hours} hours` : `${Math.round(hours / 24)} days`;
}

const paused = ({ secret, why }: Write): Problem => ({
  reason: 'Paused',
  message: `Secret ${secret} is not written while spec.paused is true, although ${why}`,
});

const issuing = ({ secret, why }: Pick<Write, 'secret' | 'why'>): Problem => ({
  reason: 'Issuing',
  message: `Secret ${secret} needs a certificate: ${why}`,
});

const problemOf = (problem: Problem | undefined) => (problem ? { problem } : {});

function certificateOf(secret: string, { trusts, certificate }: FilledLeaf, isRenewed: boolean): Judgement {
  return certificate ? { certificate: seen(secret, certificate, trusts?.[0], isRenewed) } : {};
}

/** As the status shows it. */
const seen = (secret: string, span: Span, root: string | undefined, isRenewed: boolean): SeenCertificate => ({
  secret,
  notAfter: timeOf(span.notAfter),
  renewAt: isRenewed ? timeOf(dueAt(span)) : undefined,
  root: root === undefined ? undefined : shortId(root),
  span: { notBefore: span.notBefore, notAfter: span.notAfter },
});

export const timeOf = (ms: number): string => new Date(ms).toISOString().replace(/\.\d+/, '');
