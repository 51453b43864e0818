import { NoAnswerError } from '../../etcd/grpc.ts';
import { messageOf } from '../../lib/errors.ts';
import { type AuthCall, answerOf, authStatus, carriesPassword, changeAuth } from '../etcd/auth-calls.ts';
import type { EtcdCall } from '../etcd/etcd-port.ts';
import { root } from '../etcd/root-certificate.ts';
import { userNameOf } from '../objects/user-object.ts';
import {
  type AuthFacts,
  after,
  decide,
  described,
  passwordsIn,
  subjectOf,
  type UserDecision,
  type WantedAuth,
} from './decide.ts';
import type { Logins, Tries } from './logins.ts';
import { isOurs, type Read, readAuth } from './read.ts';

export interface Applied {
  readonly read: Read;
  readonly verdicts: UserDecision['verdicts'];
  /** Authentication is to be on. */
  readonly isOn: boolean;
  /** The next call may not be made now. */
  readonly isHeld: boolean;
  /** The calls that changed something. */
  readonly calls: readonly AuthCall[];
  /** Why etcd refused others, each of one user. */
  readonly refused: readonly string[];
  /** Set if the calls for users with a password go on in another pass. `silence`: etcd has not answered one that has it. */
  readonly cut?: { readonly silence?: string };
  readonly tries: Tries;
}

export interface ApplyOptions {
  readonly etcd: EtcdCall;
  readonly wanted: WantedAuth;
  /** The calls that may be made now. Default: all. */
  readonly lets?: (call: AuthCall) => boolean;
  /** What was read before. For `apply` only to know whether something has changed since. */
  readonly last?: Read | undefined;
  readonly logins: Logins;
  /** Called before and after each call; throws if it may not be made. */
  readonly at: (point: string) => Promise<void>;
}

type LookOptions = Pick<ApplyOptions, 'etcd' | 'wanted' | 'last' | 'logins'>;

/** What etcd has and should have, without a change. Passwords of which nothing is known are not tried. */
export async function look({ etcd, wanted, last, logins }: LookOptions): Promise<UserDecision & { read: Read }> {
  const read = await readAuth(etcd, namesOf(wanted), last);
  if (!isOurs(last, read)) logins.forget();
  return { read, ...decideWith(logins, read, wanted) };
}

export const decideWith = (
  logins: Logins,
  { facts }: Read,
  wanted: WantedAuth,
  failed?: ReadonlyMap<string, string>,
): UserDecision => decide({ ...facts, logins: logins.of(passwordsIn(wanted)) }, wanted, failed);

export const namesOf = ({ users }: WantedAuth): string[] => [...new Set(users.map(userNameOf))].sort();

/** Makes one call after the other until etcd has what it should have. Then it is read again: something else may write too. */
export async function apply(options: ApplyOptions): Promise<Applied> {
  const { etcd, wanted, logins, at, lets = () => true } = options;
  const calls: AuthCall[] = [];
  const failed = new Map<string, string>();
  const passwords = passwordsIn(wanted);
  let tries: Applied['tries'] | undefined;
  let cut: Applied['cut'];
  let spent = 0;
  let read = await readAuth(etcd, namesOf(wanted));
  if (!isOurs(options.last, read)) logins.forget();
  for (let round = 0; ; ) {
    const before = calls.length;
    let facts: AuthFacts = { ...read.facts, logins: logins.of(passwords) };
    let decision = decide(facts, wanted, failed, cut !== undefined);
    for (let { call } = decision; call && lets(call); { call } = decision) {
      await at(`before ${call.kind}`);
      const begun = performance.now();
      const { refusal, silence } = await send(etcd, call, passwords);
      await at(`after ${call.kind}`);
      if (refusal !== undefined) failed.set(subjectOf(call)!, refusal);
      else if (silence === undefined) {
        calls.push(call);
        facts = after(facts, call);
      }
      if (refusal === undefined && carriesPassword(call)) spent += performance.now() - begun;
      if (silence !== undefined || spent > hashing) cut ??= { silence };
      decision = decide(facts, wanted, failed, cut !== undefined);
    }
    logins.learn(passwords, facts.logins!);
    const isChanged = calls.length > before;
    if (isChanged && round++ < rounds) {
      const now = await readAuth(etcd, namesOf(wanted));
      if (!isOurs(read, now, calls.slice(before))) logins.forget();
      read = now;
      continue;
    }
    // Passwords come last: nothing else waits for them.
    if (!isChanged && !tries) {
      tries = await logins.try(etcd, read.facts, passwords);
      continue;
    }
    const { verdicts, isOn, call } = decision;
    const isHeld = call !== undefined && !lets(call);
    return {
      read,
      verdicts,
      isOn,
      isHeld,
      calls,
      refused: [...failed.values()],
      cut,
      tries: tries ?? { found: 0, isLeft: passwords.size > 0 },
    };
  }
}

/** How often changes of another writer are corrected in one pass. */
const rounds = 2;

/** Milliseconds for hashing passwords in one pass, after which the rest waits: other users may have changed. */
const hashing = 30_000;

/**
 * `refusal`: why etcd refused a change of one user. `silence`: it has not answered a call with a password in time, which takes
 * long on a busy machine, but it is there. Throws if it is not, or refused what concerns every user.
 */
async function send(
  etcd: EtcdCall,
  call: AuthCall,
  passwords: ReadonlyMap<string, string>,
): Promise<{ readonly refusal?: string; readonly silence?: string }> {
  const subject = subjectOf(call);
  const words = described(call);
  try {
    await etcd((channel, options) => changeAuth(channel, call, options, passwords.get(subject ?? '')));
    return {};
  } catch (error) {
    const answer = answerOf(error);
    // An earlier call arrives late.
    if (answer && carriesPassword(call) && /user name already exists/.test(answer.message))
      return { silence: `${words}: ${answer.message}` };
    if (answer && subject !== undefined && subject !== root)
      return { refusal: `${words}: ${answer.message}; correct the EtcdUser` };
    const why = `${words}: ${messageOf(error)}`;
    if (!(error instanceof NoAnswerError) || !carriesPassword(call)) throw new Error(why, { cause: error });
    await etcd(authStatus);
    return { silence: `${why}; its members may need more CPU` };
  }
}
