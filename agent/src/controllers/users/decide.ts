import { group } from '../../kube/paths.ts';
import { type UserReason, userReasons } from '../../protocol/user-reasons.ts';
import { type AuthCall, carriesPassword, type Login, type Permission } from '../etcd/auth-calls.ts';
import { root } from '../etcd/root-certificate.ts';
import {
  accessOf,
  type EtcdUserObject,
  eldest,
  oldestFirst,
  permissionsOf,
  rangeOf,
  userNameOf,
} from '../objects/user-object.ts';

/** What etcd has. */
export interface AuthFacts {
  readonly isEnabled: boolean;
  /** The roles of root, of every user that an EtcdUser names, and of every user with a role of ours. */
  readonly users: ReadonlyMap<string, readonly string[]>;
  /** The permissions of every role of ours. */
  readonly roles: ReadonlyMap<string, readonly Permission[]>;
  /** Whether users with a password have the one that they should have, as far as it is known. */
  readonly logins?: ReadonlyMap<string, Login>;
  /** Users that were made since this was read, so nobody else has given them a password. */
  readonly made?: ReadonlySet<string>;
}

/** What it should have. */
export interface WantedAuth {
  readonly cluster: string;
  /** `spec.auth`. */
  readonly auth?: boolean | undefined;
  /** The minor version that runs. */
  readonly minor?: string | undefined;
  /** Why a version that runs may not enforce permissions. */
  readonly unsafe?: string | undefined;
  /** Authentication is known to have been on, and nothing here has switched it off. */
  readonly wasOn?: boolean;
  /** All EtcdUsers of the cluster that are not being deleted. */
  readonly users: readonly EtcdUserObject[];
  /** By UID: the password of each that has `spec.passwordSecret`, or why it has none. Empty: it is still to be made, and no call needs it now. */
  readonly passwords?: ReadonlyMap<string, string | UserRefusal>;
}

/**
 * `done`: etcd has what the EtcdUser asks for. `untried`: as far as is known, but its password was not tried yet. `call`: the next
 * call makes it so. Otherwise a person must act.
 */
export type UserVerdict = { readonly kind: 'done' | 'untried' | 'call' } | UserRefusal;

export interface UserRefusal {
  readonly kind: 'refused';
  readonly reason: UserReason;
  readonly message: string;
}

export interface UserDecision {
  /** Undefined: nothing is to be changed. */
  readonly call?: AuthCall;
  /** Authentication is to be on. */
  readonly isOn: boolean;
  /** By UID of the EtcdUser. */
  readonly verdicts: ReadonlyMap<string, UserVerdict>;
}

const markers = [`${group}/`, `password.${group}/`] as const;
/**
 * The role of a user. Its name is also the mark of users and roles that are made here, and says whether the user was made with a
 * password, which etcd does not tell.
 */
export const roleOf = (user: string, hasPassword = false): string => `${markers[hasPassword ? 1 : 0]}${user}`;
export const rolesOf = (user: string): string[] => markers.map((marker) => `${marker}${user}`);
/** The user of such a role. */
export const userOf = (role: string): string | undefined =>
  markers.flatMap((marker) => (role.startsWith(marker) ? role.slice(marker.length) : []))[0];

/** The subject of a call: a user's name. */
export const subjectOf = (call: AuthCall): string | undefined =>
  'user' in call ? call.user : 'role' in call ? userOf(call.role) : undefined;

/** A call in words for people. */
export function described(call: AuthCall): string {
  const words = [call.kind, 'user' in call ? call.user : undefined, 'role' in call ? call.role : undefined];
  if ('permission' in call) {
    const { access, key, rangeEnd } = call.permission;
    const [from, to] = [key, rangeEnd].map((each) => JSON.stringify(Buffer.from(each, 'latin1').toString()));
    words.push(access, rangeEnd === '' ? from : `${from} to ${to}`);
  }
  return words.filter((word) => word !== undefined).join(' ');
}

/**
 * Decides the next change of users and roles. The decision follows from what etcd has, so a crash between two calls or a
 * lost answer is harmless. `failed`: by the name of a user, why etcd refused a change of it; the others go on. `isCut`: no password
 * is hashed now.
 */
export function decide(
  facts: AuthFacts,
  wanted: WantedAuth,
  failed: ReadonlyMap<string, string> = new Map(),
  isCut = false,
): UserDecision {
  const verdicts = new Map<string, UserVerdict>();
  const users: Accepted[] = [];
  /** Users whose former password would be taken if authentication were switched on. */
  const exposed = new Map<string, string>();
  const kept = new Set<string>();
  for (const [name, same] of Map.groupBy(oldestFirst(wanted.users), userNameOf)) {
    const [first, ...others] = same as [EtcdUserObject, ...EtcdUserObject[]];
    for (const { metadata } of others) verdicts.set(metadata.uid, taken(name, first));
    const refusal = refusalOf(first, facts, wanted);
    if (refusal) {
      verdicts.set(first.metadata.uid, refusal);
      if (leftAlone.has(refusal.reason)) for (const role of rolesOf(name)) kept.add(role);
      const hadPassword = facts.users.get(name)?.includes(roleOf(name, true));
      if (hadPassword && !facts.isEnabled) exposed.set(name, refusal.message);
      continue;
    }
    const role = roleOf(name, hasPassword(first));
    kept.add(role);
    users.push({ uid: first.metadata.uid, name, role, permissions: permissionsOf(first)! });
  }
  const isWithheld = withheldSwitch(facts, wanted) !== undefined;
  const isOn = wanted.auth ?? (facts.isEnabled || (isWithheld ? wanted.users : users).length > 0);
  const accepted = users.map((user) => ({ ...user, call: callFor(user, facts, isOn) }));
  const isFailed = (call: AuthCall | undefined) => call !== undefined && failed.has(subjectOf(call) ?? '');
  const isLater = ({ uid, name, role, call }: Accepted & { readonly call: AuthCall | undefined }) =>
    (isCut || wanted.passwords?.get(uid) === '') && call !== undefined && role !== roleOf(name) && needsHash(call);
  const candidates = [
    facts.isEnabled && !isOn ? ({ kind: 'AuthDisable' } as const) : undefined,
    isOn && !isWithheld ? callForRoot(facts) : undefined,
    ...orphans(facts, kept),
    ...accepted.map((user) => (isLater(user) ? undefined : user.call)),
    // With `auth: true` nobody waits for an EtcdUser that etcd refuses. Else its clients would be shut out by the switch.
    isOn &&
    !isWithheld &&
    !facts.isEnabled &&
    !accepted.some(isLater) &&
    (wanted.auth || (exposed.size === 0 && !accepted.some(({ call }) => isFailed(call))))
      ? ({ kind: 'AuthEnable' } as const)
      : undefined,
  ];
  const call = candidates.find((each) => each !== undefined && !isFailed(each));
  const state = { isOn, isEnabled: facts.isEnabled, exposed };
  for (const { uid, call: own, name, role } of accepted) {
    const login = role === roleOf(name) ? 'right' : facts.logins?.get(name);
    verdicts.set(uid, verdictOf({ name, call: own, login }, state, failed));
  }
  return { call, isOn, verdicts };
}

/** Of a user with a password. A deletion too: it comes before the user is made anew. */
const needsHash = (call: AuthCall): boolean => carriesPassword(call) || call.kind === 'UserDelete';

/** An EtcdUser that etcd is to have. */
interface Accepted {
  readonly uid: string;
  readonly name: string;
  readonly role: string;
  readonly permissions: readonly Permission[];
}

/** Of an EtcdUser whose next call is `call`. */
function verdictOf(
  {
    name,
    call,
    login,
  }: { readonly name: string; readonly call: AuthCall | undefined; readonly login: Login | undefined },
  { isOn, isEnabled, exposed }: { isOn: boolean; isEnabled: boolean; exposed: ReadonlyMap<string, string> },
  failed: ReadonlyMap<string, string>,
): UserVerdict {
  const failure = failed.get(name);
  if (call) return failure === undefined ? { kind: 'call' } : refused('RefusedByEtcd', failure);
  if (isOn === isEnabled) {
    if (!isOn) return refused('AuthOff');
    if (typeof login === 'object') return refused('RefusedByEtcd', `etcd cannot log ${name} in: ${login.why}`);
    return { kind: login === undefined ? 'untried' : 'done' };
  }
  const [others, open] = [failed, exposed].map(listed);
  if (others === '' && open === '') return { kind: 'call' };
  const why = others === '' ? `these have not their passwords: ${open}` : `etcd refuses ${others}`;
  return refused('RefusedByEtcd', `authentication is not switched on before every user is there, and ${why}`);
}

/** The first of many: this becomes the message of each user. */
function listed(whys: ReadonlyMap<string, string>): string {
  const all = [...whys].map((each) => each.join(': '));
  return [...all.slice(0, 3), ...(all.length > 3 ? [`and ${all.length - 3} more`] : [])].join('; ');
}

const refused = (reason: UserReason, message: string = userReasons[reason]): UserRefusal => ({
  kind: 'refused',
  reason,
  message,
});

/** What such an EtcdUser has in etcd, if anything, stays as it is. */
const leftAlone: ReadonlySet<UserReason> = new Set([
  'EtcdTooOld',
  'PermissionUnknown',
  'PasswordProblem',
  'SecretTaken',
  'Paused',
]);

/**
 * Why authentication is not switched on: it would promise what this version of etcd does not keep. Where it was on before, it is
 * better than none.
 */
export const withheldSwitch = ({ isEnabled }: AuthFacts, { auth, unsafe, wasOn }: WantedAuth): string | undefined =>
  auth === false || unsafe === undefined || isEnabled || wasOn
    ? undefined
    : `authentication is not switched on: ${unsafe}`;

const hasPassword = ({ spec }: EtcdUserObject): boolean => spec.passwordSecret !== undefined;

const taken = (name: string, { metadata }: EtcdUserObject): UserRefusal =>
  refused(
    'NameTaken',
    `the older EtcdUser ${metadata.name} has the user ${name}; delete one of the two, or create this one with another spec.userName`,
  );

function refusalOf(user: EtcdUserObject, facts: AuthFacts, wanted: WantedAuth): UserRefusal | undefined {
  const { cluster, minor, passwords } = wanted;
  const name = userNameOf(user);
  if (minor === '3.4') return refused('EtcdTooOld');
  const withheld = withheldSwitch(facts, wanted);
  if (withheld !== undefined) return refused('EtcdTooOld', withheld);
  if (isReserved(user, cluster))
    return refused('NameReserved', `the user ${name} is reserved; create this EtcdUser with another spec.userName`);
  if (!permissionsOf(user)) return refused('PermissionUnknown');
  const roles = facts.users.get(name) ?? [];
  const isOurs = roles.length === 0 || roles.some((role) => userOf(role) === name) || wasReady(user);
  if (!isOurs)
    return refused(
      'ForeignUser',
      `etcd has a user ${name} that no EtcdUser made, so it is left alone; delete it (etcdctl user delete ${name}), or create this EtcdUser with another spec.userName`,
    );
  if (!hasPassword(user)) return undefined;
  const password = passwords?.get(user.metadata.uid) ?? refused('PasswordProblem');
  return typeof password === 'string' ? undefined : password;
}

/** The passwords that etcd should have, by user. */
export const passwordsIn = ({ users, passwords, minor }: WantedAuth): Map<string, string> =>
  new Map(
    (minor === '3.4' ? [] : eldest(users)).flatMap((user) => {
      const password = passwords?.get(user.metadata.uid);
      return typeof password === 'string' && password !== '' ? [[userNameOf(user), password]] : [];
    }),
  );

/** The user was ours when it was last looked at: somebody has deleted its role since. During a restore no user is ready. */
const wasReady = ({ status }: EtcdUserObject): boolean =>
  status?.conditions?.some((each) => each.type === 'Ready' && each.status === 'True') ?? false;

/**
 * Who has its certificate is root, or reads everything through the members' agents. The name in the certificate of all clients
 * would need no password.
 */
export function isReserved(user: EtcdUserObject, cluster: string): boolean {
  const name = userNameOf(user);
  return name === root || name === `${cluster}-backup` || (hasPassword(user) && name === `${cluster}-client`);
}

/** etcd refuses to switch authentication on without them. The role root exists by itself. */
function callForRoot({ users }: AuthFacts): AuthCall | undefined {
  const roles = users.get(root);
  if (!roles) return { kind: 'UserAdd', user: root };
  return roles.includes(root) ? undefined : { kind: 'UserGrantRole', user: root, role: root };
}

/**
 * Users and roles of ours that no EtcdUser has any more. The user goes first: its next call is refused. One without any role
 * has not got its role yet. A user that is to have a password, or none any more, keeps its role until it is made anew.
 */
const orphans = ({ users, roles }: AuthFacts, kept: ReadonlySet<string>): AuthCall[] =>
  [...roles.keys()].flatMap((role): AuthCall[] => {
    const user = userOf(role)!;
    if (kept.has(role)) return [];
    const had = users.get(user);
    if (rolesOf(user).some((each) => kept.has(each))) return had?.includes(role) ? [] : [{ kind: 'RoleDelete', role }];
    const isOurs = user !== root && (had?.length === 0 || had?.includes(role));
    return [isOurs ? { kind: 'UserDelete', user } : { kind: 'RoleDelete', role }];
  });

/** The next call that brings a user to its permissions. New ones come first, so that nothing is refused in between. */
function callFor(
  { name: user, role, permissions: wanted }: Accepted,
  facts: AuthFacts,
  isOn: boolean,
): AuthCall | undefined {
  const roles = facts.users.get(user);
  const login = facts.logins?.get(user);
  if (login === 'wrong') return { kind: 'UserChangePassword', user };
  const permissions = facts.roles.get(role);
  if (!permissions) return { kind: 'RoleAdd', role };
  const change = permissionCall(role, permissions, wanted);
  if (change) return change;
  // Whoever made it may have given it a password, which nobody can see or take away. One without a password never gets one.
  const isForeign = roles && !roles.includes(role) && !facts.made?.has(user);
  if (isForeign || login === 'none') return { kind: 'UserDelete', user };
  if (!roles) return { kind: 'UserAdd', user, hasPassword: role === roleOf(user, true) ? true : undefined };
  if (!roles.includes(role)) return { kind: 'UserGrantRole', user, role };
  const other = roles.find((each) => each !== role);
  if (other !== undefined) return { kind: 'UserRevokeRole', user, role: other };
  // While authentication is off nobody knows the password. It is set, so that no former one is taken once it is on.
  const isUnsure = isOn && !facts.isEnabled && login !== 'right' && role !== roleOf(user);
  return isUnsure ? { kind: 'UserChangePassword', user } : undefined;
}

function permissionCall(
  role: string,
  found: readonly Permission[],
  wanted: readonly Permission[],
): AuthCall | undefined {
  const had = Map.groupBy(found, rangeOf);
  const ranges = new Set(wanted.map(rangeOf));
  const foundAt = (each: Permission) => had.get(rangeOf(each)) ?? [];
  const wrong = wanted.filter((each) => accessOf(foundAt(each)) !== each.access);
  // Beside another range with the same first key, etcd may add a permission instead of replacing it. Both count together, and
  // both are revoked at once.
  const lacks = wrong.find((each) => foundAt(each).length < 2);
  if (lacks) return { kind: 'RoleGrantPermission', role, permission: lacks };
  const extra = wrong.flatMap(foundAt)[0] ?? found.find((each) => !ranges.has(rangeOf(each)));
  return extra && { kind: 'RoleRevokePermission', role, permission: extra };
}

/** What etcd has after a call that it accepted. */
export function after(facts: AuthFacts, call: AuthCall): AuthFacts {
  const users = new Map(facts.users);
  const roles = new Map(facts.roles);
  const made = new Set(facts.made);
  const logins = new Map(facts.logins);
  switch (call.kind) {
    case 'AuthEnable':
      // A user that was not made here may take no password at all, which shows only now.
      return { ...facts, isEnabled: true, logins: new Map([...logins].filter(([user]) => made.has(user))) };
    case 'AuthDisable':
      return { ...facts, isEnabled: false };
    case 'UserAdd':
      users.set(call.user, []);
      made.add(call.user);
      if (call.hasPassword) logins.set(call.user, 'right');
      break;
    case 'UserDelete':
      users.delete(call.user);
      logins.delete(call.user);
      break;
    case 'UserChangePassword':
      logins.set(call.user, 'right');
      break;
    case 'UserGrantRole':
      users.set(call.user, [...(users.get(call.user) ?? []), call.role]);
      break;
    case 'UserRevokeRole':
      users.set(
        call.user,
        (users.get(call.user) ?? []).filter((role) => role !== call.role),
      );
      break;
    case 'RoleAdd':
      roles.set(call.role, []);
      break;
    case 'RoleDelete':
      roles.delete(call.role);
      for (const [user, had] of users)
        users.set(
          user,
          had.filter((role) => role !== call.role),
        );
      break;
    default: {
      const others = (roles.get(call.role) ?? []).filter((each) => rangeOf(each) !== rangeOf(call.permission));
      roles.set(call.role, call.kind === 'RoleGrantPermission' ? [...others, call.permission] : others);
    }
  }
  return { ...facts, users, roles, made, logins };
}
