import {
  type AuthCall,
  authStatus,
  type Login,
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
  /** The passwords that `facts.logins` is about. */
  readonly passwords: ReadonlyMap<string, string>;
}

/** What should be in etcd. */
export interface Asked {
  readonly names: readonly string[];
  readonly passwords: ReadonlyMap<string, string>;
}

/** Calls at the same time. */
const together = 8;

/** Logins at the same time, and in one pass: each keeps a core of etcd busy for a while. */
const loginsTogether = 2;
export const loginsInPass = 16;

/**
 * Reads what etcd has of the users `names`, of root, and of what is ours. As etcd passes every read through raft, nothing is
 * read again while its revision says that nothing has changed since `last`. `own`: the calls that were made since then.
 */
export async function readAuth(
  etcd: EtcdCall,
  { names, passwords }: Asked,
  last?: Read,
  own: readonly AuthCall[] = [],
): Promise<Read> {
  const { isEnabled, revision } = await etcd(authStatus);
  const logins = last && isOurs(last.revision, revision, own) ? stillKnown(last, passwords) : new Map<string, Login>();
  const isSame = last && own.length === 0 && revision !== undefined && revision === last.revision;
  if (isSame && `${names}` === `${last.names}`)
    return { ...last, facts: { ...last.facts, isEnabled, logins }, passwords };
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
    logins,
  };
  const hasUsers = users.some((user) => user !== root);
  return { facts, hasUsers, names, passwords, ...(revision !== undefined && { revision }) };
}

/** Nobody else has changed anything between the two: every call of ours but this one makes one revision. */
function isOurs(before: string | undefined, now: string | undefined, own: readonly AuthCall[]): boolean {
  if (before === undefined || now === undefined) return false;
  const [[cluster, from], [same, to]] = [before.split(' '), now.split(' ')] as [string[], string[]];
  const made = own.filter(({ kind }) => kind !== 'AuthEnable').length;
  return cluster === same && BigInt(to!) - BigInt(from!) === BigInt(made);
}

/** What is known of the same passwords. */
const stillKnown = ({ facts: { logins = new Map() }, passwords: tried }: Read, passwords: Read['passwords']) =>
  new Map([...logins].filter(([user]) => passwords.has(user) && passwords.get(user) === tried.get(user)));

/**
 * Tries passwords of which nothing is known yet, some of them in one pass. etcd takes none while authentication is off, and
 * nobody else's user is tried.
 */
export async function tryLogins(etcd: EtcdCall, read: Read): Promise<Read> {
  const { facts, passwords } = read;
  const { logins = new Map(), users, isEnabled } = facts;
  const isUntried = (user: string) => !logins.has(user) && users.get(user)?.includes(roleOf(user, true));
  const untried = isEnabled ? [...passwords.keys()].filter(isUntried).slice(0, loginsInPass) : [];
  if (untried.length === 0) return read;
  const found = await each(
    untried,
    (user) => etcd((channel, options) => login(channel, user, passwords.get(user)!, options)),
    loginsTogether,
  );
  return { ...read, facts: { ...facts, logins: new Map([...logins, ...found]) } };
}

async function each<T>(
  names: readonly string[],
  get: (name: string) => Promise<T>,
  atOnce = together,
): Promise<Map<string, T>> {
  const found = new Map<string, T>();
  for (let at = 0; at < names.length; at += atOnce) {
    const some = names.slice(at, at + atOnce);
    const values = await Promise.all(some.map(get));
    for (const [i, name] of some.entries()) found.set(name, values[i]!);
  }
  return found;
}
