import { randomBytes } from 'node:crypto';
import type { ApiClient } from '../../kube/api-client.ts';
import { isStatus } from '../../kube/api-error.ts';
import type { Secret } from '../../kube/objects.ts';
import type { Paths } from '../../kube/paths.ts';
import { messageOf } from '../../lib/errors.ts';
import { userReasons } from '../../protocol/user-reasons.ts';
import type { AtPoint } from '../cluster/reconcile.ts';
import { isReserved, type Refusal, type WantedAuth } from './decide.ts';
import { type EtcdUserObject, eldest, userNameOf } from './object.ts';

export interface PasswordOptions {
  readonly client: Pick<ApiClient, 'get' | 'replace'>;
  readonly paths: Paths;
  readonly cluster: string;
  readonly isPaused: boolean;
  /** By UID: why the Secret is that of somebody else. */
  readonly taken: ReadonlyMap<string, string>;
  readonly at: AtPoint;
  /** A Secret has got a password. */
  readonly onWrite: (secret: string) => void;
}

/** bcrypt uses no more of it. */
const maxBytes = 72;

/** Requests at the same time. */
const together = 8;

/**
 * Reads the passwords of users from their Secrets, and writes one into each Secret that has none. It is in the Secret before etcd
 * has it: a crash in between loses nothing.
 */
export async function passwordsOf(
  users: readonly EtcdUserObject[],
  options: PasswordOptions,
): Promise<NonNullable<WantedAuth['passwords']>> {
  const found = new Map<string, string | Refusal>();
  const mine = eldest(users).filter((user) => user.spec.passwordSecret !== undefined);
  for (let first = 0; first < mine.length; first += together) {
    const some = mine.slice(first, first + together);
    const passwords = await Promise.all(some.map((user) => passwordOf(user, options)));
    for (const [i, { metadata }] of some.entries()) found.set(metadata.uid, passwords[i]!);
  }
  return found;
}

const problem = (message: string): Refusal => ({ kind: 'refused', reason: 'PasswordProblem', message });

async function passwordOf(user: EtcdUserObject, options: PasswordOptions): Promise<string | Refusal> {
  const { client, paths, cluster, taken, isPaused, at, onWrite } = options;
  const [name, secret] = [userNameOf(user), user.spec.passwordSecret!];
  const why = taken.get(user.metadata.uid);
  if (why !== undefined) return { kind: 'refused', reason: 'SecretTaken', message: why };
  // It is refused for its name.
  if (isReserved(name, cluster)) return problem(userReasons.PasswordProblem);
  try {
    const path = paths.of('secrets', secret);
    const read = await client.get<Secret>(path);
    const given = givenIn(read, name);
    if (given !== '') return given;
    if (isPaused) return { kind: 'refused', reason: 'Paused', message: userReasons.Paused };
    const password = randomBytes(32).toString('base64url');
    const filled: Secret = { ...read, data: { ...read.data, username: base64(name), password: base64(password) } };
    await at('before WritePassword');
    await client.replace(path, filled);
    await at('after WritePassword');
    onWrite(secret);
    return password;
  } catch (error) {
    if (isStatus(error, 404)) return problem(`Secret ${secret} does not exist; apply the manifests of the EtcdUser`);
    if (isStatus(error, 403))
      return problem(
        `Secret ${secret} may not be read or filled; apply the Role and RoleBinding of the EtcdUser (${messageOf(error)})`,
      );
    // An immutable one, for example. The other users do not wait for it.
    if (isStatus(error, 422)) return problem(`Secret ${secret} cannot be filled: ${messageOf(error)}`);
    throw error;
  }
}

const base64 = (text: string): string => Buffer.from(text).toString('base64');

/** Empty if there is none yet. Never quotes it. */
function givenIn({ metadata: { name: secret }, type = 'Opaque', data = {} }: Secret, user: string): string | Refusal {
  if (type !== 'Opaque' && type !== 'kubernetes.io/basic-auth')
    return problem(`Secret ${secret} has the type ${type}; use one of the type Opaque or kubernetes.io/basic-auth`);
  const [username, bytes] = [data.username, data.password].map((each) => Buffer.from(each ?? '', 'base64'));
  if (bytes!.length === 0) return '';
  const at = `password in Secret ${secret}`;
  if (username!.length > 0 && username!.toString() !== user)
    return problem(`username in Secret ${secret} is not ${user}; correct or remove it`);
  if (bytes!.length > maxBytes)
    return problem(`${at} has ${bytes!.length} bytes, of which etcd compares ${maxBytes}; give a shorter one`);
  const text = bytes!.toString();
  return Buffer.from(text).equals(bytes!) ? text : problem(`${at} is not UTF-8; give another one`);
}
