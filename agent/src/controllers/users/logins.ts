import { NoAnswerError } from '../../etcd/grpc.ts';
import { messageOf } from '../../lib/errors.ts';
import { type Login, login } from '../etcd/auth-calls.ts';
import type { EtcdCall } from '../etcd/etcd-port.ts';
import { type AuthFacts, roleOf } from './decide.ts';

/** Each login keeps a core of etcd busy for a while. */
const together = 2;
export const loginsInPass = 16;
/** Milliseconds after which a pass tries no others. */
const longest = 30_000;

export interface Tries {
  /** Passwords that are now known to be right or wrong. */
  readonly found: number;
  /** Some are not. */
  readonly isLeft: boolean;
  /** Why: etcd has not answered logins for long. */
  readonly silence?: string;
}

/** What is known of passwords in etcd, from one pass to the next. etcd tells nobody what it has, so they are tried. */
export class Logins {
  readonly #known = new Map<string, { readonly password: string; readonly login: Login }>();
  /** Number of the last try of each user. */
  readonly #triedAt = new Map<string, number>();
  /** The first and the last pass in a row in which etcd answered no login, on the monotonic clock. */
  #silent: { readonly since: number; readonly last: number } | undefined;
  readonly #patience: number;
  #tries = 0;

  /** `patience`: milliseconds after which logins without an answer are reported. */
  constructor(patience: number) {
    this.#patience = patience;
  }

  /** What is known of these passwords, by user. */
  of(passwords: ReadonlyMap<string, string>): Map<string, Login> {
    const same = [...this.#known].filter(([user, { password }]) => passwords.get(user) === password);
    return new Map(same.map(([user, { login }]) => [user, login]));
  }

  /** Somebody else may have changed a password. */
  forget(): void {
    this.#known.clear();
  }

  learn(passwords: ReadonlyMap<string, string>, logins: ReadonlyMap<string, Login>): void {
    this.#known.clear();
    for (const [user, found] of logins) {
      const password = passwords.get(user);
      if (password !== undefined) this.#known.set(user, { password, login: found });
    }
  }

  /**
   * Tries some of the passwords of which nothing is known, those first that have waited longest. Returns how many were found out,
   * and whether some are left. etcd takes none while authentication is off, and nobody else's user is tried.
   */
  async try(etcd: EtcdCall, { isEnabled, users }: AuthFacts, passwords: ReadonlyMap<string, string>): Promise<Tries> {
    for (const user of this.#triedAt.keys()) if (!passwords.has(user)) this.#triedAt.delete(user);
    const known = this.of(passwords);
    const waiting = [...passwords.keys()]
      .filter(
        (user) => isEnabled && typeof known.get(user) !== 'string' && users.get(user)?.includes(roleOf(user, true)),
      )
      .sort((a, b) => (this.#triedAt.get(a) ?? 0) - (this.#triedAt.get(b) ?? 0));
    const due = waiting.slice(0, loginsInPass);
    const begun = performance.now();
    let found = 0;
    let silence: string | undefined;
    let answers = 0;
    /** Returns the error if there is no answer. Whether etcd is there at all, other calls say. */
    const one = async (user: string): Promise<unknown> => {
      const password = passwords.get(user)!;
      this.#triedAt.set(user, ++this.#tries);
      try {
        const answer = await etcd((channel, options) => login(channel, user, password, options));
        this.#known.set(user, { password, login: answer });
        answers++;
        if (typeof answer === 'string') found++;
        return undefined;
      } catch (error) {
        if (error instanceof NoAnswerError) silence = messageOf(error);
        return error;
      }
    };
    for (let at = 0; at < due.length && performance.now() - begun < longest; at += together) {
      const errors = await Promise.all(due.slice(at, at + together).map(one));
      if (errors.some((error) => error !== undefined)) break;
    }
    if (answers > 0) silence = undefined;
    const now = performance.now();
    const isInRow = this.#silent && now - this.#silent.last < longest + this.#patience;
    this.#silent = silence === undefined ? undefined : { since: isInRow ? this.#silent!.since : now, last: now };
    const isLong = this.#silent && now - this.#silent.since >= this.#patience;
    return { found, isLeft: found < waiting.length, silence: isLong ? silence : undefined };
  }
}
