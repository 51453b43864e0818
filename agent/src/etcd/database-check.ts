import { type BucketVisitor, boltDamage } from './bolt-check.ts';
import { fieldsOf } from './protobuf.ts';

/** Every etcd has them; one that lacks them cannot be restored, or comes back without its leases or its auth. */
const needed = ['auth', 'authRoles', 'authUsers', 'key', 'lease', 'members', 'meta'];

type Check = (value: Buffer, key: Buffer) => boolean;

/**
 * By bucket: what etcd parses when it is restored and when it starts, where it panics about what it cannot read. All
 * versions from 3.4 on write it so. HashKV says nothing of these; the keys themselves are left to it.
 */
const checks: Record<string, Check> = {
  alarm: (_, key) => message(key, ['number', 'number']),
  authRoles: (value, key) => named(value, key) && message(value, ['bytes', isPermission]),
  authUsers: (value, key) => named(value, key) && message(value, ['bytes', 'bytes', 'bytes', 'bytes']),
  cluster: byKey({
    clusterVersion: (value) => /^\d+\.\d+\.0$/.test(value.toString()),
    downgrade: isJson,
  }),
  lease: (value, key) => message(value, ['number', 'number', 'number']) && firstField(value) === key.readBigUInt64BE(),
  members: (value, key) => isJson(value) && value.includes(`"id":${memberId(key)},`),
  members_removed: (_, key) => memberId(key) > 0n,
  meta: byKey({
    confState: isJson,
    consistent_index: (value) => value.length === 8,
    finishedCompactRev: isRevision,
    scheduledCompactRev: isRevision,
    storageVersion: (value) => /^\d+\.\d+\.\d+/.test(value.toString()),
    term: (value) => value.length === 8,
  }),
};

/** What is wrong with an etcd database, apart from what its keys hold; undefined when nothing is. `size` in bytes. */
export async function databaseDamage(file: string, size: number, signal?: AbortSignal): Promise<string | undefined> {
  const missing = new Set(needed);
  let unreadable: string | undefined;
  const visit: BucketVisitor = (bucket) => {
    missing.delete(bucket);
    const check = checks[bucket];
    return (key, value) => {
      if (check && !passes(check, value, key)) unreadable ??= `etcd cannot read what its bucket ${bucket} holds`;
    };
  };
  const damage = (await boltDamage(file, size, visit, signal)) ?? unreadable;
  if (damage || missing.size === 0) return damage;
  return `it lacks the buckets ${[...missing].join(', ')}`;
}

function byKey(known: Record<string, Check>): Check {
  return (value, key) => known[key.toString()]?.(value, key) ?? true;
}

function passes(check: Check, value: Buffer, key: Buffer): boolean {
  try {
    return check(value, key);
  } catch {
    return false;
  }
}

type FieldKind = 'number' | 'bytes' | ((bytes: Buffer) => boolean);

/** A protobuf message whose fields from 1 on are of these kinds; a later etcd may have more of them. */
function message(bytes: Buffer, kinds: readonly FieldKind[]): boolean {
  return [...fieldsOf(bytes)].every(([field, value]) => {
    const kind = kinds[field - 1];
    if (kind === undefined) return true;
    if (typeof value === 'bigint') return kind === 'number';
    return kind === 'bytes' || (kind !== 'number' && kind(Buffer.from(value)));
  });
}

const firstField = (bytes: Buffer) => [...fieldsOf(bytes)].find(([field]) => field === 1)?.[1];
/** What a role allows: a kind, and a range of keys. */
const isPermission = (bytes: Buffer) => message(bytes, ['number', 'bytes', 'bytes']);
const named = (value: Buffer, key: Buffer) => key.equals(firstField(value) as Uint8Array);
const memberId = (key: Buffer) => BigInt(`0x${key}`);

function isJson(value: Buffer): boolean {
  return typeof JSON.parse(value.toString()) === 'object';
}

function isRevision(value: Buffer): boolean {
  return value.length >= 17 && value[8] === '_'.charCodeAt(0);
}
