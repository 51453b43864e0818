import { NoAnswerError } from '../../etcd/grpc.ts';
import { messageOf } from '../../lib/errors.ts';
import { type AuthCall, answerOf, carriesPassword, changeAuth } from '../cluster/etcd/auth-calls.ts';
import type { EtcdCall } from '../cluster/etcd/etcd-port.ts';
import { root } from '../root-certificate.ts';
import {
  type AuthFacts,
  after,
  type Decision,
  decide,
  described,
  passwordsIn,
  subjectOf,
  type WantedAuth,
} from './decide.ts';
import type { Logins, Tries } from './logins.ts';
import { userNameOf } from './object.ts';
import { isOurs, type Read, readAuth } from './read.ts';

export interface Applied {
  readonly read: Read;
  readonly verdicts: Decision['verdicts'];
  /** Authentication is to be on. */
  readonly isOn: boolean;
  /** The next call may not be made now. */
  readonly isHeld: boolean;
  /** The calls that changed something. */
  readonly calls: readonly AuthCall[];
  /** Why others failed, each of one user. */
  readonly refused: readonly string[];
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
export async function look({ etcd, wanted, last, logins }: LookOptions): Promise<Decision & { read: Read }> {
  const read = await readAuth(etcd, namesOf(wanted), last);
  if (!isOurs(last, read)) logins.forget();
  return { read, ...decideWith(logins, read, wanted) };
}

export const decideWith = (
  logins: Logins,
  { facts }: Read,
  wanted: WantedAuth,
  failed?: ReadonlyMap<string, string>,
): Decision => decide({ ...facts, logins: logins.of(passwordsIn(wanted)) }, wanted, failed);

export const namesOf = ({ users }: WantedAuth): string[] => [...new Set(users.map(userNameOf))].sort();

/** Makes one call after the other until etcd has what it should have. Then it is read again: something else may write too. */
export async function apply(options: ApplyOptions): Promise<Applied> {
  const { etcd, wanted, logins, at, lets = () => true } = options;
  const calls: AuthCall[] = [];
  const failed = new Map<string, string>();
  const passwords = passwordsIn(wanted);
  let tries: Applied['tries'] | undefined;
  let silence: string | undefined;
  let read = await readAuth(etcd, namesOf(wanted));
  if (!isOurs(options.last, read)) logins.forget();
  for (let round = 0; ; ) {
    const before = calls.length;
    let facts: AuthFacts = { ...read.facts, logins: logins.of(passwords) };
    let decision = decide(facts, wanted, failed);
    for (let { call } = decision; call && lets(call); { call } = decision) {
      await at(`before ${call.kind}`);
      const failure = await send(etcd, call, passwords, silence);
      await at(`after ${call.kind}`);
      if (failure) {
        failed.set(subjectOf(call)!, failure.why);
        silence ??= failure.silence;
      } else {
        calls.push(call);
        facts = after(facts, call);
      }
      decision = decide(facts, wanted, failed);
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
      tries: tries ?? { found: 0, isLeft: passwords.size > 0 },
    };
  }
}

/** How often changes of another writer are corrected in one pass. */
const rounds = 2;

/** Of a change of one user. `silence`: etcd has not answered it. */
interface Failure {
  readonly why: string;
  readonly silence?: string;
}

/**
 * Returns why a change of one user failed. Throws if etcd did not answer, or refused what concerns every user. A call with a
 * password may take longer than anybody waits, so without an answer to one (`silence`) no other is made in this pass.
 */
async function send(
  etcd: EtcdCall,
  call: AuthCall,
  passwords: ReadonlyMap<string, string>,
  silence: string | undefined,
): Promise<Failure | undefined> {
  const subject = subjectOf(call);
  const words = described(call);
  if (silence !== undefined && carriesPassword(call)) return { why: `${words}: not tried, because ${silence}` };
  try {
    await etcd((channel, options) => changeAuth(channel, call, options, passwords.get(subject ?? '')));
    return undefined;
  } catch (error) {
    const answer = answerOf(error);
    if (answer && subject !== undefined && subject !== root)
      return { why: `${words}: ${answer.message}; correct the EtcdUser` };
    const why = `${words}: ${messageOf(error)}`;
    if (error instanceof NoAnswerError && carriesPassword(call))
      return { why: `${why}; its members may need more CPU`, silence: why };
    throw new Error(why, { cause: error });
  }
}
