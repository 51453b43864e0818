import { type UserReason, userReasons } from '../../protocol/user-reasons.ts';
import { type EtcdClusterObject, secretsOf } from '../objects/cluster-object.ts';
import {
  type EtcdUserObject,
  isGoing,
  oldestFirst,
  secretOf,
  type UserWish,
  userNameOf,
} from '../objects/user-object.ts';
import { rolesOf, type UserVerdict } from './decide.ts';
import type { Passwords } from './passwords.ts';
import type { Read } from './read.ts';
import type { FoundUser } from './status.ts';

/** By UID of the EtcdUser. */
export type Verdicts = ReadonlyMap<string, FoundUser>;

/** The same for all of them. */
export function verdictFor(
  users: readonly EtcdUserObject[],
  kind: 'unknown' | 'refused',
  reason: UserReason,
  message: string = userReasons[reason],
): Verdicts {
  return new Map(users.map(({ metadata }) => [metadata.uid, { kind, reason, message }]));
}

/**
 * EtcdUsers that get no certificate and no password because their Secret is that of somebody else, and why, by UID. Of two that name one, the
 * older one keeps it: whoever may create an EtcdUser takes no certificate away from another.
 */
export function secretsTaken(
  users: readonly EtcdUserObject[],
  clusters: readonly EtcdClusterObject[],
): ReadonlyMap<string, string> {
  const owners = new Map<string, string>(
    clusters.flatMap(({ metadata, spec: { tls } }) =>
      tls ? secretsOf(tls).map((secret) => [secret, `EtcdCluster ${metadata.name}`] as const) : [],
    ),
  );
  const found = new Map<string, string>();
  for (const user of oldestFirst(users.filter((each) => !isGoing(each)))) {
    const { metadata, spec } = user;
    const secret = secretOf(user);
    if (secret === undefined) continue;
    const field = spec.passwordSecret === undefined ? 'certificateSecret' : 'passwordSecret';
    const owner = owners.get(secret);
    if (owner === undefined) owners.set(secret, `the older EtcdUser ${metadata.name}`);
    else found.set(metadata.uid, `Secret ${secret} is that of ${owner}; name another one in spec.${field}`);
  }
  return found;
}

/** etcd has such a user, or soon has it, but nobody can be it. */
export const withTaken = (verdicts: Verdicts, taken: ReadonlyMap<string, string>): Verdicts =>
  new Map(
    [...verdicts].map(([uid, found]) => {
      const message = found.kind === 'done' || found.kind === 'call' ? taken.get(uid) : undefined;
      return [uid, message === undefined ? found : { kind: 'refused', reason: 'SecretTaken', message }];
    }),
  );

/** While nothing may be changed: what is as it should be stays ready. */
export const withheld = (verdicts: Verdicts, instead: FoundUser): Verdicts =>
  new Map([...verdicts].map(([uid, found]) => [uid, found.kind === 'call' ? instead : found]));

export const paused: FoundUser = { kind: 'refused', reason: 'Paused', message: userReasons.Paused };

/**
 * The users that get a certificate; an existing user that no EtcdUser made never does. Undefined unless something is known of
 * every EtcdUser: nobody loses a certificate because a pass failed.
 */
export function wishes(users: readonly EtcdUserObject[], verdicts: Verdicts): UserWish[] | undefined {
  const found: UserWish[] = [];
  for (const user of users) {
    if (user.spec.passwordSecret !== undefined) continue;
    const verdict = verdicts.get(user.metadata.uid);
    if (!verdict || verdict.kind === 'unknown') return undefined;
    const { certificateSecret: secret } = user.spec;
    const isRefused = verdict.kind === 'refused' && othersName.has(verdict.reason);
    const isAccepted = verdict.kind === 'done' || (verdict.kind === 'refused' && verdict.reason === 'AuthOff');
    if (secret !== undefined && !isRefused) found.push({ secret, user: userNameOf(user), isAccepted });
  }
  return found;
}

const othersName: ReadonlySet<UserReason> = new Set(['NameReserved', 'NameTaken', 'ForeignUser']);

/** Whether an EtcdUser gets a password: nothing but the switch, or etcd, keeps it from being a user. */
export const fillable = (verdict: UserVerdict | undefined): boolean =>
  verdict !== undefined &&
  (verdict.kind !== 'refused' || verdict.reason === 'AuthOff' || verdict.reason === 'RefusedByEtcd');

/** A user whose password is still to be made is not ready, whatever etcd has. */
export const withoutPassword = (
  verdicts: ReadonlyMap<string, UserVerdict>,
  { found }: Pick<Passwords, 'found'>,
): ReadonlyMap<string, UserVerdict> =>
  new Map([...verdicts].map(([uid, verdict]) => [uid, isOpen(verdict) && found.get(uid) === '' ? toCall : verdict]));

const isOpen = ({ kind }: UserVerdict): boolean => kind === 'done' || kind === 'untried';
const toCall: UserVerdict = { kind: 'call' };

/** A user whose password was not tried keeps its status, but not while etcd answers no login (`silence`). */
export function tried(verdicts: ReadonlyMap<string, UserVerdict>, silence?: string): Map<string, FoundUser> {
  const message = `etcd answers no login, so it is not known whether it has this password: ${silence}`;
  const unknown: FoundUser = { kind: 'unknown', reason: 'ClusterNotServing', message };
  const open: readonly FoundUser[] = silence === undefined ? [] : [unknown];
  return new Map(
    [...verdicts].flatMap(([uid, found]) => (found.kind === 'untried' ? open : [found]).map((each) => [uid, each])),
  );
}

/** What a pass over the users has found. */
interface Pass {
  readonly verdicts: Verdicts;
  /** What etcd has. Undefined if it was not asked. */
  readonly read?: Read;
  readonly why?: string | undefined;
  /** Nothing is changed in etcd now. */
  readonly isPaused?: boolean;
}

/**
 * What is to be said of an EtcdUser that is being deleted. Its user is deleted at once, but the EtcdUser stays as long as
 * somebody's finalizer holds it. `users`: all EtcdUsers of its cluster.
 */
export function goingVerdict(
  user: EtcdUserObject,
  users: readonly EtcdUserObject[],
  { verdicts, read, why, isPaused = false }: Pass,
): FoundUser {
  const reason = 'Deleting';
  const name = userNameOf(user);
  const said = verdicts.get(user.metadata.uid);
  if (!read && said && 'reason' in said && said.reason === reason) return said;
  const waits = said && 'message' in said ? said.message : (why ?? (isPaused ? userReasons.Paused : 'etcd refuses it'));
  const heir = users.find((each) => !isGoing(each) && userNameOf(each) === name);
  const isGone = read && !rolesOf(name).some((role) => read.facts.roles.has(role));
  if (!isGone && !(read && heir))
    return {
      ...{ kind: 'unknown', reason },
      message: `the user ${name} is not known to be deleted from etcd yet: ${waits}`,
    };
  const state = heir ? `EtcdUser ${heir.metadata.name} has the user ${name} now` : `etcd has no user ${name} any more`;
  const { finalizers = [] } = user.metadata;
  const held = finalizers.length > 0 ? `; it stays until its finalizers are removed: ${finalizers.join(', ')}` : '';
  return { kind: 'refused', reason, message: `the EtcdUser is being deleted, and ${state}${held}` };
}
