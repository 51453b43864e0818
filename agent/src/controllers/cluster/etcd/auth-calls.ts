import { type CallOptions, type GrpcChannel, GrpcStatus } from '../../../etcd/grpc.ts';
import { header, readAnswer } from '../../../etcd/maintenance.ts';
import {
  bytesOf,
  encodeBytes,
  encodeInt,
  type FieldValue,
  fieldsOf,
  integer,
  numberOf,
  text,
} from '../../../etcd/protobuf.ts';
import { AgentError } from '../../../lib/errors.ts';

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
  | { readonly kind: 'UserAdd' | 'UserDelete'; readonly user: string }
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

export async function changeAuth(channel: GrpcChannel, call: AuthCall, options: CallOptions): Promise<void> {
  await channel.unary(`Auth/${call.kind}`, requestOf(call), options);
}

function requestOf(call: AuthCall): Uint8Array {
  switch (call.kind) {
    case 'AuthEnable':
    case 'AuthDisable':
      return nothing;
    case 'UserAdd':
      // Without a password nobody can log in by one: the user is whoever has the certificate.
      return Buffer.concat([encodeBytes(1, call.user), encodeBytes(3, encodeInt(1, 1))]);
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

const permissionMessage = ({ access, key, rangeEnd }: Permission): Uint8Array =>
  Buffer.concat([encodeInt(1, accesses.indexOf(access)), encodeBytes(2, bytes(key)), encodeBytes(3, bytes(rangeEnd))]);

// Keys are bytes; a person may have granted any. Each character stands for one byte.
const bytes = (key: string): Buffer => Buffer.from(key, 'latin1');
const keyOf = (value: FieldValue): string => Buffer.from(bytesOf(value)).toString('latin1');

/** Code of a method that this etcd does not know. */
const unimplemented = 12;

export async function authStatus(channel: GrpcChannel, options: CallOptions): Promise<AuthStatus> {
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
async function refusesLogin(channel: GrpcChannel, options: CallOptions): Promise<boolean> {
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

const causeOf = (error: unknown): GrpcStatus | undefined =>
  error instanceof AgentError && error.cause instanceof GrpcStatus ? error.cause : undefined;

export const userList = (channel: GrpcChannel, options: CallOptions): Promise<string[]> =>
  texts(channel, 'Auth/UserList', nothing, options);

export const roleList = (channel: GrpcChannel, options: CallOptions): Promise<string[]> =>
  texts(channel, 'Auth/RoleList', nothing, options);

/** Returns the roles of a user. */
export const userGet = (channel: GrpcChannel, user: string, options: CallOptions): Promise<string[]> =>
  texts(channel, 'Auth/UserGet', encodeBytes(1, user), options);

async function texts(
  channel: GrpcChannel,
  method: string,
  request: Uint8Array,
  options: CallOptions,
): Promise<string[]> {
  const answer = await channel.unary(method, request, options);
  return readAnswer(channel, method, () => [...fieldsOf(answer)].flatMap(([field, v]) => (field === 2 ? text(v) : [])));
}

/** Returns the permissions of a role. */
export async function roleGet(channel: GrpcChannel, role: string, options: CallOptions): Promise<Permission[]> {
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
