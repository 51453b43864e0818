import {
  type AuthCall,
  authStatus,
  type Permission,
  roleGet,
  roleList,
  userGet,
  userList,
} from '../etcd/auth-calls.ts';
import type { EtcdCall } from '../etcd/etcd-port.ts';
import { root } from '../etcd/root-certificate.ts';
import { type AuthFacts, userOf } from './decide.ts';

/** Facts with the revision at which etcd had them. */
export interface Read {
  readonly facts: AuthFacts;
  /** Undefined if this etcd tells none. */
  readonly revision?: string;
  /** There are users beside root, whoever made them. */
  readonly hasUsers: boolean;
  /** The users that were asked for, beside root and those of ours. */
  readonly names: readonly string[];
}

/** Calls at the same time. */
const together = 8;

/**
 * Reads what etcd has of the users `names`, of root, and of what is ours. As etcd passes every read through raft, nothing is
 * read again while its revision says that nothing has changed since `last`.
 */
export async function readAuth(etcd: EtcdCall, names: readonly string[], last?: Read): Promise<Read> {
  const { isEnabled, revision } = await etcd(authStatus);
  if (last && revision !== undefined && revision === last.revision && `${names}` === `${last.names}`)
    return { ...last, facts: { ...last.facts, isEnabled } };
  const [users, roles] = [await etcd(userList), await etcd(roleList)];
  const ours = roles.filter((role) => userOf(role) !== undefined);
  const asked = new Set([root, ...names, ...ours.map((role) => userOf(role)!)]);
  const facts: AuthFacts = {
    isEnabled,
    users: await each(
      users.filter((user) => asked.has(user)),
      (user) => etcd((channel, options) => userGet(channel, user, options)),
    ),
    roles: await each<readonly Permission[]>(ours, (role) =>
      etcd((channel, options) => roleGet(channel, role, options)),
    ),
  };
  return { facts, hasUsers: users.some((user) => user !== root), names, revision };
}

/** Only `calls` have changed anything between the two: each of them but the switch on makes one revision. */
export function isOurs(before: Read | undefined, now: Read, calls: readonly AuthCall[] = []): boolean {
  if (before?.revision === undefined || now.revision === undefined) return false;
  const [[cluster, from], [same, to]] = [before.revision.split(' '), now.revision.split(' ')] as [string[], string[]];
  // A switch on makes no revision, so another writer's shows only by its effect.
  const isSwitched = before.facts.isEnabled !== now.facts.isEnabled;
  if (isSwitched && !calls.some(({ kind }) => kind === 'AuthEnable' || kind === 'AuthDisable')) return false;
  const made = calls.filter(({ kind }) => kind !== 'AuthEnable').length;
  return cluster === same && BigInt(to!) - BigInt(from!) === BigInt(made);
}

async function each<T>(names: readonly string[], get: (name: string) => Promise<T>): Promise<Map<string, T>> {
  const found = new Map<string, T>();
  for (let at = 0; at < names.length; at += together) {
    const some = names.slice(at, at + together);
    const values = await Promise.all(some.map(get));
    for (const [i, name] of some.entries()) found.set(name, values[i]!);
  }
  return found;
}
