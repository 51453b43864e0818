import { isDeepStrictEqual } from 'node:util';
import {
  authStatus,
  login,
  type Permission,
  roleGet,
  roleList,
  userGet,
  userList,
} from '../cluster/etcd/auth-calls.ts';
import type { EtcdCall } from '../cluster/etcd/etcd-port.ts';
import { root } from '../root-certificate.ts';
import { type AuthFacts, roleOf, userOf } from './decide.ts';

/** Facts with the revision at which etcd had them. */
export interface Read {
  readonly facts: AuthFacts;
  /** Undefined if this etcd tells none. */
  readonly revision?: string;
  /** There are users beside root, whoever made them. */
  readonly hasUsers: boolean;
  /** The users that were asked for, beside root and those of ours. */
  readonly names: readonly string[];
  /** The passwords that were tried. */
  readonly passwords: ReadonlyMap<string, string>;
}

/** Calls at the same time. */
const together = 8;

/**
 * Reads what etcd has of the users `names`, of root, and of what is ours, and tries the `passwords`, by user. As etcd passes
 * every read through raft, nothing is read again while its revision says that nothing has changed since `last`.
 */
export async function readAuth(
  etcd: EtcdCall,
  names: readonly string[],
  passwords: ReadonlyMap<string, string>,
  last?: Read,
): Promise<Read> {
  const { isEnabled, revision } = await etcd(authStatus);
  if (last && revision !== undefined && revision === last.revision && isSame(last, names, passwords, isEnabled))
    return { ...last, facts: { ...last.facts, isEnabled } };
  const [users, roles] = [await etcd(userList), await etcd(roleList)];
  const ours = roles.filter((role) => userOf(role) !== undefined);
  const asked = new Set([root, ...names, ...ours.map((role) => userOf(role)!)]);
  const found = await each(
    users.filter((user) => asked.has(user)),
    (user) => etcd((channel, options) => userGet(channel, user, options)),
  );
  // etcd takes no password while authentication is off. Nobody else's user is tried.
  const known = [...passwords.keys()].filter((user) => isEnabled && found.get(user)?.includes(roleOf(user, true)));
  const facts: AuthFacts = {
    isEnabled,
    users: found,
    logins: await each(known, (user) =>
      etcd((channel, options) => login(channel, user, passwords.get(user)!, options)),
    ),
    roles: await each<readonly Permission[]>(ours, (role) =>
      etcd((channel, options) => roleGet(channel, role, options)),
    ),
  };
  const hasUsers = users.some((user) => user !== root);
  return { facts, hasUsers, names, passwords, ...(revision !== undefined && { revision }) };
}

/** A switch alone changes no revision. */
const isSame = (
  last: Read,
  names: readonly string[],
  passwords: ReadonlyMap<string, string>,
  isEnabled: boolean,
): boolean =>
  `${names}` === `${last.names}` &&
  isDeepStrictEqual(passwords, last.passwords) &&
  (passwords.size === 0 || isEnabled === last.facts.isEnabled);

async function each<T>(names: readonly string[], get: (name: string) => Promise<T>): Promise<Map<string, T>> {
  const found = new Map<string, T>();
  for (let at = 0; at < names.length; at += together) {
    const some = names.slice(at, at + together);
    const values = await Promise.all(some.map(get));
    for (const [i, name] of some.entries()) found.set(name, values[i]!);
  }
  return found;
}
