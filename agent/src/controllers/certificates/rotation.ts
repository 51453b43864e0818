import { shortId } from '../../lib/certificates.ts';
import type { Known } from '../../protocol/known.ts';
import type { CertificateFacts, FilledLeaf, LeafFacts, NextAuthority, WholeAuthority } from './facts.ts';
import { backdated, dueAt, lifetimes } from './lifetimes.ts';
import { type AuthorityName, issuerOf, isUser, type LeafName, leafNames, type WantedCertificates } from './wanted.ts';

// A root is replaced without an interruption, in four steps:
// 1. The next root and its intermediate are made, and the present root signs the next one too: the cross certificate.
// 2. Every leaf comes from the next intermediate, with the cross certificate behind it. Who trusts the present root takes
//    it, and so does who trusts the next one.
// 3. Once members and clients have these leaves, every `ca.crt` is the next root alone. The template of the pods gets an
//    annotation with the roots, so that the members restart one by one: etcd reads its roots only when it starts.
// 4. Once every member has loaded the next root, it becomes the root. The cross certificate goes with the next renewal.
// Each step follows from what the Secrets hold and what members report, so a crash between two writes is harmless.

/**
 * Roots that one end of a member has on its disk, and that its etcd has loaded. First digits of ids; undefined if
 * unknown.
 */
export interface EndReport {
  readonly leaf?: string | undefined;
  readonly root?: string | undefined;
  readonly loaded?: string | undefined;
  /** Of its revocation list; 'none': its etcd was started without one. */
  readonly list?: string | undefined;
}

export interface MemberReport {
  readonly pod: string;
  /** Its etcd does not run, so it reads its files when it starts. */
  readonly isDown?: boolean;
  readonly peers: EndReport;
  readonly clients: EndReport;
}

export type MemberReports = Known<readonly MemberReport[]>;

/** Facts that decide a step. */
export interface Rotation {
  readonly of: AuthorityName;
  readonly facts: CertificateFacts;
  readonly wanted: WantedCertificates;
  readonly now: number;
  readonly members: MemberReports;
}

/** Why a next root must be created. Undefined if none must be. */
export function rotationDue(
  { root, rootRotation }: WholeAuthority,
  wanted: WantedCertificates,
  now: number,
): string | undefined {
  if (wanted.rootRotation !== undefined && wanted.rootRotation !== rootRotation)
    return `spec.tls.managed.rootRotation is '${wanted.rootRotation}'`;
  return now >= dueAt(root) ? 'two thirds of the life of its root are over' : undefined;
}

/** What leaves need before a step may shut out those without it. */
export interface RotationStep {
  /** In words. */
  readonly signer: string;
  /** How long clients have to read theirs, in ms. */
  readonly time: number;
  /** When it goes on without a few, in ms after the leaf of the members was issued. Undefined: it waits for all. */
  readonly limit?: number;
  readonly isDone: (leaf: LeafFacts) => boolean;
}

/**
 * The leaves of an authority that a step waits for. The Secret of a user that cannot be read, or has no certificate of this
 * authority, keeps nobody else waiting.
 */
const leavesOf = ({ of, facts, wanted }: Pick<Rotation, 'of' | 'facts' | 'wanted'>): LeafName[] =>
  leafNames(wanted).filter((name) => issuerOf(name) === of && (!isUser(name) || isHeld(facts[name])));

const isHeld = (leaf: LeafFacts | undefined): boolean =>
  leaf?.kind === 'filled' && leaf.certificate !== undefined && leaf.certificate.isOfRoot !== false;

/** The leaf that members present. */
export const serving: Readonly<Record<AuthorityName, 'peer' | 'server'>> = { peers: 'peer', clients: 'server' };

const trusts = (leaf: CertificateFacts['peer'], { root }: NextAuthority): boolean =>
  leaf.kind === 'filled' && leaf.trusts?.length === 1 && leaf.trusts[0] === root.id;

export const isCrossed = ({ certificate }: FilledLeaf, { intermediate, cross }: NextAuthority): boolean =>
  certificate?.issuer !== undefined && certificate.issuer === intermediate.id && certificate.cross === cross;

/** Nobody is shut out for whom no certificate was made yet. */
const waitsForUsers = ({ of, wanted }: Pick<Rotation, 'of' | 'wanted'>): string | undefined =>
  of === 'clients' && wanted.usersSince === undefined ? 'the EtcdUsers of the cluster are not known yet' : undefined;

/**
 * When a step waits for users no longer: the cluster's own clients have had their time, and the reconciler has known the users
 * for long enough to write their certificates. Whoever may create EtcdUsers or change their Secrets holds nothing up.
 */
function usersUntil({ facts: { client }, wanted: { usersSince } }: Rotation, { time, isDone }: RotationStep): number {
  if (client.kind !== 'filled' || !isDone(client) || usersSince === undefined) return Number.POSITIVE_INFINITY;
  return Math.max(issuedAt(client) + time, usersSince + lifetimes.revocation);
}

/**
 * A step with a limit goes on without a few: a member that silences its agent, or a Secret that nobody needs and that is gone,
 * does not keep a thief in. Most members have to present their new leaf, or they would not form a quorum.
 */
function isOverdue({ of, facts, members, now }: Rotation, { limit, isDone }: RotationStep): boolean {
  const leaf = facts[serving[of]];
  if (limit === undefined || leaf.kind !== 'filled' || !isDone(leaf) || !members.known) return false;
  const ready = members.v.filter((member) => member[of].leaf === shortId(leaf.certificate!.id));
  return now >= issuedAt(leaf) + limit && (2 * ready.length > members.v.length || members.v.length === 0);
}

/** What a step no longer waits for, although it lacks what the step needs. */
function leftBehind(rotation: Rotation, step: RotationStep): LeafName[] {
  if (isOverdue(rotation, step))
    return leavesOf(rotation).filter((name) => name !== serving[rotation.of] && !step.isDone(rotation.facts[name]!));
  if (rotation.now < usersUntil(rotation, step)) return [];
  return leavesOf(rotation).filter((name) => isUser(name) && !step.isDone(rotation.facts[name]!));
}

/** Adds to a message who is left behind. */
export function namingLeft(message: string, rotation: Rotation, step: RotationStep): string {
  const { of, facts, members, wanted } = rotation;
  const { leaves, shapes } = wanted;
  const left = leftBehind(rotation, step).map((name) =>
    isUser(name) ? `user ${shapes[name]!.commonName} (Secret ${leaves[name]})` : `Secret ${leaves[name]}`,
  );
  if (isOverdue(rotation, step) && members.known)
    left.push(...members.v.filter((each) => lacksLeaf(each[of], facts[serving[of]])).map(({ pod }) => `member ${pod}`));
  return left.length === 0 ? message : `${message}; left behind without a new certificate: ${left.join(', ')}`;
}

/** What must happen before a step may shut out whoever lacks what it needs. Undefined if nothing must. */
export function waitsForLeaves(rotation: Rotation, step: RotationStep): string | undefined {
  const { of, facts, wanted, members } = rotation;
  const left = leftBehind(rotation, step);
  const lacks = leavesOf(rotation).find((name) => !step.isDone(facts[name]!) && !left.includes(name));
  if (lacks !== undefined) return `Secret ${wanted.leaves[lacks]} has no certificate of ${step.signer} yet`;
  const member = isOverdue(rotation, step) ? undefined : memberBehind(members, of, facts[serving[of]] as FilledLeaf);
  const behind = member ?? waitsForUsers(rotation);
  return behind !== undefined || of === 'peers' ? behind : waitsForClients(rotation, step);
}

/** The newest certificate of a client counts. */
function waitsForClients(rotation: Rotation, step: RotationStep): string | undefined {
  const { of, facts, now } = rotation;
  const last = usersUntil(rotation, step);
  const times = leavesOf(rotation)
    .filter((name) => name !== serving[of] && step.isDone(facts[name]!))
    .map((name) => ({ name, at: issuedAt(facts[name] as FilledLeaf) }))
    .filter(({ name, at }) => !isUser(name) || at < last);
  const until = Math.max(...times.map(({ at }) => at + step.time));
  return now < until ? `clients have until ${new Date(until).toISOString().slice(0, 19)}Z to read theirs` : undefined;
}

const toNextRoot = (next: NextAuthority): RotationStep => ({
  ...{ signer: 'the next root', time: lifetimes.clients },
  isDone: (leaf) => leaf.kind === 'filled' && isCrossed(leaf, next),
});

/** Every certificate of this authority comes with the next root in `ca.crt`. */
export function areAllTrusting(rotation: Rotation, next: NextAuthority): boolean {
  const isOver = rotation.now >= usersUntil(rotation, toNextRoot(next));
  const awaited = leavesOf(rotation).filter((name) => !isOver || !isUser(name));
  return waitsForUsers(rotation) === undefined && awaited.every((name) => trusts(rotation.facts[name]!, next));
}

/** What must happen before a `ca.crt` may contain only the next root. Undefined if nothing must. */
export const waitsToTrust = (rotation: Rotation, next: NextAuthority): string | undefined =>
  waitsForLeaves(rotation, toNextRoot(next));

/** Adds to a message which users go on with the present root alone. */
export const namingLeftBehind = (message: string, rotation: Rotation, next: NextAuthority): string =>
  namingLeft(message, rotation, toNextRoot(next));

const issuedAt = ({ certificate }: FilledLeaf): number => certificate!.notBefore + backdated;

const lacksLeaf = ({ leaf }: EndReport, wanted: LeafFacts): boolean =>
  wanted.kind === 'filled' && leaf !== shortId(wanted.certificate!.id);

/** A member that does not present this leaf yet, or may not. */
function memberBehind(members: MemberReports, of: AuthorityName, leaf: FilledLeaf): string | undefined {
  return firstOf(members, ({ pod, [of]: end }) => {
    if (end.leaf === undefined) return `the agent of member ${pod} does not report its certificate`;
    return end.leaf === shortId(leaf.certificate!.id) ? undefined : `member ${pod} has not got its new certificate yet`;
  });
}

/**
 * What must happen before the present root may be dropped. Undefined if nothing must; `restart` if the members must
 * restart.
 */
export function waitsToPromote(
  rotation: Rotation,
  next: NextAuthority,
): { readonly why: string; readonly restart: boolean } | undefined {
  const { of, wanted, members } = rotation;
  const id = shortId(next.root.id);
  const lacksFile = firstOf(members, ({ pod, [of]: end }) => {
    if (end.root === undefined) return `the agent of member ${pod} does not report its ca.crt`;
    return end.root === id ? undefined : `member ${pod} has not got the ca.crt with the next root yet`;
  });
  if (lacksFile !== undefined) return { why: lacksFile, restart: false };
  const behind = firstOf(members, ({ pod, [of]: end }) => {
    if (end.loaded === undefined) return `it is not known which root member ${pod} has loaded`;
    return end.loaded === id ? undefined : `member ${pod} has not loaded the next root`;
  });
  if (behind === undefined) return undefined;
  const other = otherBehind(rotation);
  if (other !== undefined) return { why: `${behind}; ${other}`, restart: false };
  const isHeld = wanted.isPaused ? ', but not while spec.paused is true' : '';
  return { why: `${behind}; the members restart one by one${isHeld}`, restart: true };
}

/** One restart is enough for both roots. */
function otherBehind({ of, ...rest }: Rotation): string | undefined {
  const other = of === 'peers' ? 'clients' : 'peers';
  const { [other]: found } = rest.facts;
  const isBehind = found.kind === 'whole' && found.next && !areAllTrusting({ of: other, ...rest }, found.next);
  return isBehind ? `the members restart when Secret ${rest.wanted.authorities[other]} is at step 2 too` : undefined;
}

function firstOf(members: MemberReports, waits: (member: MemberReport) => string | undefined): string | undefined {
  if (!members.known) return `the members are unknown: ${members.why}`;
  return members.v.map(waits).find((why) => why !== undefined);
}
