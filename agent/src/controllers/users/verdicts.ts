import { type UserReason, userReasons } from '../../protocol/user-reasons.ts';
import { type EtcdUserObject, type UserWish, userNameOf } from '../objects/user-object.ts';
import type { Verdict } from './decide.ts';
import type { Passwords } from './passwords.ts';
import type { Found } from './status.ts';

/** By UID of the EtcdUser. */
export type Verdicts = ReadonlyMap<string, Found>;

/** The same for all of them. */
export function verdictFor(
  users: readonly EtcdUserObject[],
  kind: 'unknown' | 'refused',
  reason: UserReason,
  message: string = userReasons[reason],
): Verdicts {
  return new Map(users.map(({ metadata }) => [metadata.uid, { kind, reason, message }]));
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
export const withheld = (verdicts: Verdicts, instead: Found): Verdicts =>
  new Map([...verdicts].map(([uid, found]) => [uid, found.kind === 'call' ? instead : found]));

export const paused: Found = { kind: 'refused', reason: 'Paused', message: userReasons.Paused };

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
export const fillable = (verdict: Verdict | undefined): boolean =>
  verdict !== undefined &&
  (verdict.kind !== 'refused' || verdict.reason === 'AuthOff' || verdict.reason === 'RefusedByEtcd');

/** A user whose password is still to be made is not ready, whatever etcd has. */
export const withoutPassword = (
  verdicts: ReadonlyMap<string, Verdict>,
  { found }: Pick<Passwords, 'found'>,
): ReadonlyMap<string, Verdict> =>
  new Map([...verdicts].map(([uid, verdict]) => [uid, isOpen(verdict) && found.get(uid) === '' ? toCall : verdict]));

const isOpen = ({ kind }: Verdict): boolean => kind === 'done' || kind === 'untried';
const toCall: Verdict = { kind: 'call' };

/** A user whose password was not tried keeps its status, but not while etcd answers no login (`silence`). */
export function tried(verdicts: ReadonlyMap<string, Verdict>, silence?: string): Map<string, Found> {
  const message = `etcd answers no login, so it is not known whether it has this password: ${silence}`;
  const unknown: Found = { kind: 'unknown', reason: 'ClusterNotServing', message };
  const open: readonly Found[] = silence === undefined ? [] : [unknown];
  return new Map(
    [...verdicts].flatMap(([uid, found]) => (found.kind === 'untried' ? open : [found]).map((each) => [uid, each])),
  );
}
