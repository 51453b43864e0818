import { fieldsOf } from '../protobuf.ts';
import { type BucketVisitor, boltDamage } from './bolt-check.ts';
import { keyDamage, revisionOf } from './key-check.ts';

/**
 * Buckets of every etcd database. A database without them cannot be restored, or loses its leases or its authentication
 * settings.
 */
const needed = ['auth', 'authRoles', 'authUsers', 'key', 'lease', 'members', 'meta'];

const AUTH_ENABLED = Buffer.from('authEnabled');
const STORAGE_VERSION = Buffer.from('storageVersion');
const NOSPACE = 1n;
const CORRUPT = 2n;

type Check = (value: Buffer, key: Buffer) => boolean;

/**
 * Checks, by bucket, of the values that etcd parses during a restore and at its start, where it panics on values that it
 * cannot read. All versions from 3.4 on write this format. HashKV does not cover these buckets.
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

/** Settings that are restored with a database and lock clients out. */
export interface Switches {
  /** Authentication is enabled: etcd accepts only its own users. */
  readonly authEnabled: boolean;
  /** A CORRUPT alarm is set: etcd refuses every read and write. */
  readonly corruptAlarm: boolean;
  /** A NOSPACE alarm is set: etcd refuses every write. */
  readonly noSpaceAlarm: boolean;
}

/** A member as the database lists it. Its name is empty until it has started. */
export interface StoredMember {
  readonly id: string;
  readonly name: string;
  readonly peerUrls: string[];
  readonly clientUrls: string[];
  readonly isLearner?: boolean;
}

/** The alarms that are set, as etcd names them. */
export const alarmsIn = ({ corruptAlarm, noSpaceAlarm }: Omit<Switches, 'authEnabled'>): string[] => [
  ...(corruptAlarm ? ['CORRUPT'] : []),
  ...(noSpaceAlarm ? ['NOSPACE'] : []),
];

/** What a database says besides its keys. */
export interface DatabaseSettings extends Switches {
  readonly members: readonly StoredMember[];
}

export interface DatabaseFacts extends DatabaseSettings {
  /** What is damaged. Undefined if nothing is. */
  readonly damage?: string;
  /** Newest revision. Also correct if a compaction left no key at that revision; etcdutl then reports 0. */
  readonly revision: number;
  /** etcd 3.6 and newer. */
  readonly storageVersion?: string;
}

/** Reads every page and every entry of an etcd database; `size` in bytes. */
export async function readDatabase(file: string, size: number, signal?: AbortSignal): Promise<DatabaseFacts> {
  const missing = new Set(needed);
  const reader = new Reader();
  const visit: BucketVisitor = (bucket) => {
    missing.delete(bucket);
    return reader.visit(bucket);
  };
  const structure = await boltDamage(file, size, visit, signal);
  const lacks = missing.size > 0 ? `it lacks the buckets ${[...missing].join(', ')}` : undefined;
  const { wrong, revision, storageVersion, members } = reader;
  const { authEnabled, corruptAlarm, noSpaceAlarm } = reader;
  const switches = { authEnabled, corruptAlarm, noSpaceAlarm };
  return { damage: structure ?? wrong ?? lacks, revision, storageVersion, ...switches, members };
}

/** Reads only the settings of a database that is known to be intact. */
export async function readSettings(file: string, size: number, signal?: AbortSignal): Promise<DatabaseSettings> {
  const reader = new Reader();
  const isSetting = (bucket: string) => /^(auth|alarm|members)$/.test(bucket);
  await boltDamage(file, size, (bucket) => (isSetting(bucket) ? reader.visit(bucket) : undefined), signal);
  return reader;
}

class Reader {
  wrong: string | undefined;
  /** A new etcd begins at revision 1. */
  revision = 1;
  storageVersion: string | undefined;
  authEnabled = false;
  corruptAlarm = false;
  noSpaceAlarm = false;
  readonly members: StoredMember[] = [];

  visit(bucket: string): (key: Buffer, value: Buffer) => void {
    const check = Object.hasOwn(checks, bucket) ? checks[bucket] : undefined;
    return (key, value) => {
      if (check && !passes(check, value, key)) this.wrong ??= `etcd cannot read the contents of its bucket ${bucket}`;
      else this.#read(bucket, key, value);
    };
  }

  #read(bucket: string, key: Buffer, value: Buffer): void {
    switch (bucket) {
      case 'key':
        this.wrong ??= keyDamage(key, value);
        this.revision = Math.max(this.revision, revisionOf(key));
        break;
      case 'meta':
        if (/CompactRev$/.test(key.toString())) this.revision = Math.max(this.revision, revisionOf(value));
        if (key.equals(STORAGE_VERSION)) this.storageVersion = value.toString();
        break;
      case 'auth':
        if (key.equals(AUTH_ENABLED)) this.authEnabled = value[0] === 1;
        break;
      case 'members':
        this.members.push(memberIn(key, value));
        break;
      case 'alarm':
        for (const [field, kind] of fieldsOf(key)) {
          if (field === 2 && kind === CORRUPT) this.corruptAlarm = true;
          if (field === 2 && kind === NOSPACE) this.noSpaceAlarm = true;
        }
        break;
    }
  }
}

function byKey(known: Record<string, Check>): Check {
  return (value, key) => {
    const name = key.toString();
    return !Object.hasOwn(known, name) || known[name]!(value, key);
  };
}

function passes(check: Check, value: Buffer, key: Buffer): boolean {
  try {
    return check(value, key);
  } catch {
    return false;
  }
}

type FieldKind = 'number' | 'bytes' | ((bytes: Buffer) => boolean);

/**
 * Whether the bytes are a protobuf message whose fields, from 1 on, have these kinds. A newer etcd may write more
 * fields.
 */
function message(bytes: Buffer, kinds: readonly FieldKind[]): boolean {
  return [...fieldsOf(bytes)].every(([field, value]) => {
    const kind = kinds[field - 1];
    if (kind === undefined) return true;
    if (typeof value === 'bigint') return kind === 'number';
    return kind === 'bytes' || (kind !== 'number' && kind(Buffer.from(value)));
  });
}

const firstField = (bytes: Buffer) => [...fieldsOf(bytes)].find(([field]) => field === 1)?.[1];
/** A permission of a role: its type and a range of keys. */
const isPermission = (bytes: Buffer) => message(bytes, ['number', 'bytes', 'bytes']);
const named = (value: Buffer, key: Buffer) => key.equals(firstField(value) as Uint8Array);
const memberId = (key: Buffer) => BigInt(`0x${key}`);

function memberIn(key: Buffer, value: Buffer): StoredMember {
  const { name, peerURLs, clientURLs, isLearner } = JSON.parse(value.toString());
  const texts = (list: unknown) => (Array.isArray(list) ? list.filter((each) => typeof each === 'string') : []);
  return {
    id: memberId(key).toString(16),
    name: typeof name === 'string' ? name : '',
    peerUrls: texts(peerURLs),
    clientUrls: texts(clientURLs),
    isLearner: isLearner === true ? isLearner : undefined,
  };
}

function isJson(value: Buffer): boolean {
  return typeof JSON.parse(value.toString()) === 'object';
}

function isRevision(value: Buffer): boolean {
  return value.length >= 17 && value[8] === '_'.charCodeAt(0);
}
