import type {
  ConditionStatus,
  EtcdPermissionSpec,
  EtcdUserSpec,
  EtcdUserStatus,
} from '../../../../src/resource/types.ts';
import type { KubeObject } from '../../kube/objects.ts';
import type { Problem } from '../../protocol/reasons.ts';
import type { UserReason } from '../../protocol/user-reasons.ts';
import type { Access, Permission } from '../etcd/auth-calls.ts';
import type { SeenCertificate } from '../port/observed.ts';

/** An EtcdUser as the API server returns it. */
export interface EtcdUserObject extends KubeObject {
  readonly spec: EtcdUserSpec;
  readonly status?: UserStatus;
}

export interface UserStatus extends EtcdUserStatus {
  readonly conditions?: readonly UserCondition[];
}

export interface UserCondition extends ConditionStatus {
  readonly type: 'Ready' | 'Reconciling' | 'Stalled';
  readonly reason: UserReason;
}

export const userNameOf = ({ metadata, spec }: EtcdUserObject): string => spec.userName ?? metadata.name;

/** The Secret that is filled for this user. */
export const secretOf = ({ spec }: EtcdUserObject): string | undefined => spec.passwordSecret ?? spec.certificateSecret;

/** It is being deleted, and something else holds it. */
export const isGoing = ({ metadata }: EtcdUserObject): boolean => metadata.deletionTimestamp !== undefined;

/** Of two that were made in the same second, the first by name. */
export const oldestFirst = (users: readonly EtcdUserObject[]): EtcdUserObject[] =>
  users.toSorted((a, b) => (age(a) < age(b) ? -1 : 1));
const age = ({ metadata }: EtcdUserObject): string => `${metadata.creationTimestamp} ${metadata.name}`;

/** Of those with one name in etcd, the one that has the user. */
export const eldest = (users: readonly EtcdUserObject[]): EtcdUserObject[] =>
  [...Map.groupBy(oldestFirst(users), userNameOf).values()].map(([first]) => first!);

/** Start and end of a range that has every key, as etcd writes it. */
const zero = '\0';

/** The permissions as etcd has them, each range once. Undefined if one is of a kind that is not known here. */
export function permissionsOf({ spec: { permissions = [] } }: EtcdUserObject): Permission[] | undefined {
  const found = permissions.map(permissionOf);
  if (found.includes(undefined)) return undefined;
  const ranges = Map.groupBy(found as Permission[], rangeOf);
  return [...ranges.values()].map((same) => ({ ...same[0]!, access: accessOf(same)! }));
}

/** Of permissions for the same keys. Undefined if there is none. */
export const accessOf = (same: readonly Permission[]): Access | undefined =>
  same.every(({ access }) => access === same[0]!.access) ? same[0]?.access : 'ReadWrite';

/** Identifies the keys of a permission. */
export const rangeOf = ({ key, rangeEnd }: Permission): string => JSON.stringify([key, rangeEnd]);

function permissionOf({ prefix, key, range, all, access }: EtcdPermissionSpec): Permission | undefined {
  if (all) return { access, key: zero, rangeEnd: zero };
  // The custom resource forbids empty texts. Here an empty one would mean other keys than its reader expects.
  if (prefix === '' || key === '' || range?.from === '' || range?.to === '') return undefined;
  if (prefix !== undefined) return { access, key: bytesOf(prefix), rangeEnd: endOf(bytesOf(prefix)) };
  if (key !== undefined) return { access, key: bytesOf(key), rangeEnd: '' };
  if (range) return { access, key: bytesOf(range.from), rangeEnd: bytesOf(range.to) };
  return undefined;
}

/** A character for each byte. */
const bytesOf = (text: string): string => Buffer.from(text).toString('latin1');

/** The first key after all keys with this prefix. No byte of UTF-8 is 0xff. */
const endOf = (prefix: string): string =>
  prefix.slice(0, -1) + String.fromCharCode(prefix.charCodeAt(prefix.length - 1) + 1);

/** An EtcdUser that names a Secret for its certificate. */
export interface UserWish {
  readonly secret: string;
  /** Common name: the user in etcd. */
  readonly user: string;
  /** False while it is not known whether etcd has this user for the EtcdUser. A certificate that is there is renewed. */
  readonly isAccepted: boolean;
}

/** The certificate of a user. */
export interface UserCertificate {
  readonly certificate?: SeenCertificate;
  /** Why there is none, or why it is not renewed. */
  readonly problem?: Problem;
}
