import { type GrpcCallOptions, type GrpcChannel, GrpcStatus } from '../../etcd/grpc.ts';
import { header, readAnswer } from '../../etcd/maintenance.ts';
import {
  bytesOf,
  encodeBytes,
  encodeInt,
  type FieldValue,
  fieldsOf,
  integer,
  numberOf,
  text,
} from '../../etcd/protobuf.ts';
import { AgentError } from '../../lib/errors.ts';

// Calls of etcd's service Auth. etcd passes all of them through raft, reads too: every answer is current.

export type Access = 'Read' | 'Write' | 'ReadWrite';

/** etcd's numbers. */
const accesses: readonly Access[] = ['Read', 'Write', 'ReadWrite'];

/** Keys from `key` to `rangeEnd`, which is left out. Without `rangeEnd` only `key`; `\0` means every key from `key` on. */
export interface Permission {
  readonly access: Access;
  readonly key: string;
  readonly rangeEnd: string;
}

/** A change of users, roles or the switch. */
export type AuthCall =
  | { readonly kind: 'AuthEnable' | 'AuthDisable' }
  | { readonly kind: 'UserAdd'; readonly user: string; readonly hasPassword?: boolean }
  | { readonly kind: 'UserChangePassword' | 'UserDelete'; readonly user: string }
  | { readonly kind: 'UserGrantRole' | 'UserRevokeRole'; readonly user: string; readonly role: string }
  | { readonly kind: 'RoleAdd' | 'RoleDelete'; readonly role: string }
  | {
      readonly kind: 'RoleGrantPermission' | 'RoleRevokePermission';
      readonly role: string;
      readonly permission: Permission;
    };

export interface AuthStatus {
  readonly isEnabled: boolean;
  /**
   * Changes with every change of users and roles, and is another one in another cluster. Undefined if this etcd does
   * not tell it.
   */
  readonly revision?: string;
}

const nothing = new Uint8Array();

/** `password`: for the calls that give a user one. It is not part of the call, because calls are logged. */
export async function changeAuth(
  channel: GrpcChannel,
  call: AuthCall,
  options: GrpcCallOptions,
  password?: string,
): Promise<void> {
  const limits = carriesPassword(call) ? patient(options) : options;
  await channel.unary(`Auth/${call.kind}`, requestOf(call, password), limits);
}

export const carriesPassword = (call: AuthCall): boolean =>
  call.kind === 'UserChangePassword' || (call.kind === 'UserAdd' && call.hasPassword === true);

/** bcrypt is slow on purpose, and `bcrypt-cost` may make it slower. */
const patient = (options: GrpcCallOptions): GrpcCallOptions => ({ ...options, deadline: 30_000 });

function requestOf(call: AuthCall, password: string | undefined): Uint8Array {
  switch (call.kind) {
    case 'AuthEnable':
    case 'AuthDisable':
      return nothing;
    case 'UserAdd':
      if (call.hasPassword) return credentials(call.user, password);
      // Without a password nobody can log in by one: the user is whoever has the certificate.
      return Buffer.concat([encodeBytes(1, call.user), encodeBytes(3, encodeInt(1, 1))]);
    case 'UserChangePassword':
      return credentials(call.user, password);
    case 'UserDelete':
      return encodeBytes(1, call.user);
    case 'UserGrantRole':
    case 'UserRevokeRole':
      return Buffer.concat([encodeBytes(1, call.user), encodeBytes(2, call.role)]);
    case 'RoleAdd':
    case 'RoleDelete':
      return encodeBytes(1, call.role);
    case 'RoleGrantPermission':
      return Buffer.concat([encodeBytes(1, call.role), encodeBytes(2, permissionMessage(call.permission))]);
    case 'RoleRevokePermission': {
      const { key, rangeEnd } = call.permission;
      return Buffer.concat([encodeBytes(1, call.role), encodeBytes(2, bytes(key)), encodeBytes(3, bytes(rangeEnd))]);
    }
  }
}

/** etcd accepts an empty password. */
function credentials(user: string, password: string | undefined): Uint8Array {
  if (!password) throw new Error(`there is no password for the user ${user}`);
  return Buffer.concat([encodeBytes(1, user), encodeBytes(2, password)]);
}

const permissionMessage = ({ access, key, rangeEnd }: Permission): Uint8Array =>
  Buffer.concat([encodeInt(1, accesses.indexOf(access)), encodeBytes(2, bytes(key)), encodeBytes(3, bytes(rangeEnd))]);

// Keys are bytes; a person may have granted any. Each character stands for one byte.
const bytes = (key: string): Buffer => Buffer.from(key, 'latin1');
const keyOf = (value: FieldValue): string => Buffer.from(bytesOf(value)).toString('latin1');

/** Codes of a server that cannot answer now: cancelled, too late, too much, unavailable. */
const passing: ReadonlySet<number> = new Set([1, 4, 8, 14]);

/** Code of a method that this etcd does not know. */
const unimplemented = 12;

export async function authStatus(channel: GrpcChannel, options: GrpcCallOptions): Promise<AuthStatus> {
  try {
    const answer = await channel.unary('Auth/AuthStatus', nothing, options);
    return readAnswer(channel, 'Auth/AuthStatus', () => statusIn(answer));
  } catch (error) {
    if (causeOf(error)?.code !== unimplemented) throw error;
    return { isEnabled: await refusesLogin(channel, options) };
  }
}

function statusIn(answer: Uint8Array): AuthStatus {
  let [isEnabled, revision, cluster] = [false, 0n, '0'];
  for (const [field, value] of fieldsOf(answer)) {
    if (field === 1) cluster = header(bytesOf(value)).clusterId;
    if (field === 2) isEnabled = integer(value) !== 0;
    if (field === 3) revision = numberOf(value);
  }
  return { isEnabled, revision: `${cluster} ${revision}` };
}

/** etcd 3.4 cannot be asked. With authentication switched off it refuses a login in other words than with it on. */
async function refusesLogin(channel: GrpcChannel, options: GrpcCallOptions): Promise<boolean> {
  try {
    await channel.unary('Auth/Authenticate', encodeBytes(1, 'root'), options);
    return true;
  } catch (error) {
    const { message } = causeOf(error) ?? {};
    if (message === undefined) throw error;
    if (/authentication is not enabled/.test(message)) return false;
    if (/invalid user ID or password|no password user|user does not exist/.test(message)) return true;
    throw error;
  }
}

/** `none`: etcd has the user without a password, and takes none. `why`: etcd answers something else. */
export type Login = 'right' | 'wrong' | 'none' | { readonly why: string };

/** Whether a user has this password. Authentication must be on. */
export async function login(
  channel: GrpcChannel,
  user: string,
  password: string,
  options: GrpcCallOptions,
): Promise<Login> {
  try {
    await channel.unary('Auth/Authenticate', credentials(user, password), patient(options));
    return 'right';
  } catch (error) {
    const answer = answerOf(error);
    if (!answer) throw error;
    if (/invalid user ID or password/.test(answer.message)) return 'wrong';
    if (/no password user/.test(answer.message)) return 'none';
    return { why: answer.message };
  }
}

const causeOf = (error: unknown): GrpcStatus | undefined =>
  error instanceof AgentError && error.cause instanceof GrpcStatus ? error.cause : undefined;

/** What etcd has answered instead of doing it. Undefined if it has not answered, or cannot now. */
export function answerOf(error: unknown): GrpcStatus | undefined {
  const cause = causeOf(error);
  if (!cause || passing.has(cause.code)) return undefined;
  // While the leader hands over, raft takes nothing. etcd has no code for it.
  return /raft proposal dropped/.test(cause.message) ? undefined : cause;
}

export const userList = (channel: GrpcChannel, options: GrpcCallOptions): Promise<string[]> =>
  texts(channel, 'Auth/UserList', nothing, options);

export const roleList = (channel: GrpcChannel, options: GrpcCallOptions): Promise<string[]> =>
  texts(channel, 'Auth/RoleList', nothing, options);

/** Returns the roles of a user. */
export const userGet = (channel: GrpcChannel, user: string, options: GrpcCallOptions): Promise<string[]> =>
  texts(channel, 'Auth/UserGet', encodeBytes(1, user), options);

async function texts(
  channel: GrpcChannel,
  method: string,
  request: Uint8Array,
  options: GrpcCallOptions,
): Promise<string[]> {
  const answer = await channel.unary(method, request, options);
  return readAnswer(channel, method, () => [...fieldsOf(answer)].flatMap(([field, v]) => (field === 2 ? text(v) : [])));
}

/** Returns the permissions of a role. */
export async function roleGet(channel: GrpcChannel, role: string, options: GrpcCallOptions): Promise<Permission[]> {
  const answer = await channel.unary('Auth/RoleGet', encodeBytes(1, role), options);
  return readAnswer(channel, 'Auth/RoleGet', () =>
    [...fieldsOf(answer)].flatMap(([field, value]) => (field === 2 ? permissionIn(bytesOf(value)) : [])),
  );
}

function permissionIn(message: Uint8Array): Permission {
  let [number, key, rangeEnd] = [0, '', ''];
  for (const [field, value] of fieldsOf(message)) {
    if (field === 1) number = integer(value);
    if (field === 2) key = keyOf(value);
    if (field === 3) rangeEnd = keyOf(value);
  }
  const access = accesses[number];
  if (access === undefined) throw new RangeError(`a permission has the unknown type ${number}`);
  return { access, key, rangeEnd };
}
