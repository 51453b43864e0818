import { randomBytes } from 'node:crypto';
import type { ApiClient } from '../../kube/api-client.ts';
import { ApiError, isStatus } from '../../kube/api-error.ts';
import type { Secret } from '../../kube/objects.ts';
import type { Paths } from '../../kube/paths.ts';
import { unquoted } from '../../kube/unquoted.ts';
import { messageOf } from '../../lib/errors.ts';
import { userReasons } from '../../protocol/user-reasons.ts';
import { type EtcdUserObject, eldest, userNameOf } from '../objects/user-object.ts';
import type { AtPoint } from '../port/port.ts';
import { isReserved, type UserRefusal } from './decide.ts';

/** What the Secrets of users have, by the UID of the EtcdUser. */
export interface Passwords {
  /** The password, or why there is none. Empty: it is still to be made. */
  readonly found: ReadonlyMap<string, string | UserRefusal>;
  /** Secrets without a password. */
  readonly unfilled: ReadonlyMap<string, { readonly secret: Secret; readonly user: string }>;
  /** A Secret or a right may be there in a moment. */
  readonly isSoon: boolean;
}

export interface PasswordSources {
  readonly client: Pick<ApiClient, 'get'>;
  readonly paths: Paths;
  readonly cluster: string;
  /** By UID: why the Secret is that of somebody else. */
  readonly taken: ReadonlyMap<string, string>;
}

export interface FillOptions {
  readonly client: Pick<ApiClient, 'replace'>;
  readonly paths: Paths;
  /** EtcdUsers that get no password, by UID. */
  readonly refused: ReadonlySet<string>;
  readonly at: AtPoint;
  readonly onWrite: (secret: string) => void;
}

/** bcrypt uses no more of it. */
const maxBytes = 72;

/** Requests at the same time. */
const together = 8;

/** The Secrets lead, and etcd follows. A Secret that cannot be read is a problem of its user alone. */
export async function readPasswords(users: readonly EtcdUserObject[], options: PasswordSources): Promise<Passwords> {
  const found = new Map<string, string | UserRefusal>();
  const unfilled = new Map<string, { secret: Secret; user: string }>();
  let isSoon = false;
  const read = async (user: EtcdUserObject) => {
    const { uid } = user.metadata;
    const [name, why] = [userNameOf(user), options.taken.get(uid)];
    // It is refused for its name.
    if (isReserved(user, options.cluster)) return;
    if (why !== undefined) {
      found.set(uid, { kind: 'refused', reason: 'SecretTaken', message: why });
      return;
    }
    const secret = await secretOf(user.spec.passwordSecret!, options);
    if (typeof secret === 'string') {
      isSoon = true;
      found.set(uid, problem(secret));
      return;
    }
    const given = givenIn(secret, name);
    found.set(uid, given);
    if (given === '') unfilled.set(uid, { secret, user: name });
  };
  const mine = eldest(users).filter(({ spec }) => spec.passwordSecret !== undefined);
  for (let at = 0; at < mine.length; at += together) await Promise.all(mine.slice(at, at + together).map(read));
  return { found, unfilled, isSoon };
}

/**
 * Writes a random password and the name of the user into each Secret that has none. A password is in the Secret before etcd has
 * it, so a crash in between loses nothing. Writes nothing more after a write without an answer (`why`).
 */
export async function fillPasswords(
  { found, unfilled }: Passwords,
  { client, paths, refused, at, onWrite }: FillOptions,
): Promise<Pick<Passwords, 'found' | 'isSoon'> & { readonly why?: string }> {
  const all = new Map(found);
  let isSoon = false;
  let why: string | undefined;
  for (const [uid, { secret, user }] of unfilled) {
    if (refused.has(uid)) {
      all.set(uid, problem(userReasons.PasswordProblem));
      // It may have become fillable since the decision.
      isSoon = true;
      continue;
    }
    if (why !== undefined) continue;
    const { name } = secret.metadata;
    const password = randomBytes(32).toString('base64url');
    const data = { ...secret.data, username: base64(user), password: base64(password) };
    const filled: Secret = { ...secret, data };
    await at('before WritePassword');
    try {
      await client.replace(paths.of('secrets', name), filled);
      all.set(uid, password);
      onWrite(name);
    } catch (error) {
      isSoon = true;
      if (error instanceof ApiError) all.set(uid, problem(whyNot(name, error, password)));
      else why = whyNot(name, error, password);
    }
    await at('after WritePassword');
  }
  return { found: all, isSoon, why };
}

const problem = (message: string): UserRefusal => ({ kind: 'refused', reason: 'PasswordProblem', message });

async function secretOf(name: string, { client, paths }: PasswordSources): Promise<Secret | string> {
  try {
    return await client.get<Secret>(paths.of('secrets', name));
  } catch (error) {
    // Without an answer nothing is known of any user.
    if (!(error instanceof ApiError)) throw error;
    return whyNot(name, error);
  }
}

function whyNot(secret: string, error: unknown, password = ''): string {
  if (isStatus(error, 404))
    return `Secret ${secret} does not exist; apply the manifests of the EtcdUser, and put the password that its clients have into it, or they need a new one`;
  if (isStatus(error, 403))
    return `Secret ${secret} may not be read or filled; apply the Role and RoleBinding of the EtcdUser`;
  return `Secret ${secret} cannot be read or filled: ${unquoted(messageOf(error), [password])}`;
}

const base64 = (text: string): string => Buffer.from(text).toString('base64');

/** Empty if there is none yet. Never quotes it. */
function givenIn(
  { metadata: { name: secret }, type = 'Opaque', data = {} }: Secret,
  user: string,
): string | UserRefusal {
  if (type !== 'Opaque' && type !== 'kubernetes.io/basic-auth')
    return problem(`Secret ${secret} has the type ${type}; use one of the type Opaque or kubernetes.io/basic-auth`);
  const [username, bytes] = [data.username, data.password].map((each) => Buffer.from(each ?? '', 'base64'));
  if (username!.length > 0 && username!.toString() !== user)
    return problem(`username in Secret ${secret} is not ${user}; correct or remove it`);
  const at = `password in Secret ${secret}`;
  if (bytes!.length > maxBytes)
    return problem(`${at} has ${bytes!.length} bytes, of which etcd compares ${maxBytes}; give a shorter one`);
  const text = bytes!.toString();
  return Buffer.from(text).equals(bytes!) ? text : problem(`${at} is not UTF-8; give another one`);
}
