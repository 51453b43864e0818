import { bytesOf, encodeBytes, encodeInt, type FieldValue, fieldsOf } from '../../../etcd/protobuf.ts';

// What a backup asks of etcd, and nothing else. A request is read, and a new one is made of what was understood: etcd never
// parses a caller's bytes, which it might read in another way.

/** How long a call may take: `short` and `long` until its answer, `stream` as long as bytes flow. */
export type Pace = 'short' | 'long' | 'stream';

export interface AllowedCall {
  /** For GrpcChannel. */
  readonly method: string;
  readonly pace: Pace;
  /** The request for etcd. Undefined if the caller's is not one of a backup. */
  readonly request: (asked: Uint8Array) => Uint8Array | undefined;
}

type Rule = 'number' | 'zero' | 'empty' | ((value: FieldValue) => boolean);

/** The fields of a message. Undefined if it has a field without a rule, one that breaks it, or one twice. */
function only(rules: Readonly<Record<number, Rule>>, message: Uint8Array): Map<number, FieldValue> | undefined {
  const found = new Map<number, FieldValue>();
  try {
    for (const [field, value] of fieldsOf(message)) {
      const rule = rules[field];
      if (rule === undefined || found.has(field) || !obeys(rule, value)) return undefined;
      found.set(field, value);
    }
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
  return found;
}

function obeys(rule: Rule, value: FieldValue): boolean {
  if (typeof rule === 'function') return rule(value);
  if (rule === 'number') return typeof value === 'bigint';
  return rule === 'zero' ? value === 0n : value instanceof Uint8Array && value.length === 0;
}

const numberIn = (found: Map<number, FieldValue>, field: number): Uint8Array => {
  const value = found.get(field);
  return typeof value === 'bigint' ? encodeInt(field, value) : new Uint8Array();
};

const nothing = (asked: Uint8Array): Uint8Array | undefined => (asked.length === 0 ? new Uint8Array() : undefined);

const health = Buffer.from('health');

/** A read that proves the quorum, or that a revision is still there, and shows whether a key `health` exists. */
function rangeOfHealth(asked: Uint8Array): Uint8Array | undefined {
  const found = only(
    {
      1: (key) => key instanceof Uint8Array && health.equals(key),
      2: 'empty',
      ...{ 3: 'zero', 4: 'number', 5: 'zero', 6: 'zero', 7: 'number', 8: 'zero' },
      9: (countOnly) => countOnly === 1n,
      ...{ 10: 'zero', 11: 'zero', 12: 'zero', 13: 'zero' },
    },
    asked,
  );
  if (!found?.has(1) || !found.has(9)) return undefined;
  return Buffer.concat([encodeBytes(1, health), numberIn(found, 4), numberIn(found, 7), encodeInt(9, 1)]);
}

const calls: readonly AllowedCall[] = [
  { method: 'Maintenance/Status', pace: 'short', request: nothing },
  {
    method: 'Maintenance/HashKV',
    pace: 'long',
    request: (asked) => {
      const found = only({ 1: 'number' }, asked);
      return found && numberIn(found, 1);
    },
  },
  { method: 'Maintenance/Snapshot', pace: 'stream', request: nothing },
  {
    // The first field is the action: 0 lists the alarms, others raise or clear one.
    method: 'Maintenance/Alarm',
    pace: 'short',
    request: (asked) => only({ 1: 'zero', 2: 'zero', 3: 'zero' }, asked) && new Uint8Array(),
  },
  {
    method: 'Cluster/MemberList',
    pace: 'short',
    request: (asked) => {
      const found = only({ 1: 'number' }, asked);
      return found && numberIn(found, 1);
    },
  },
  { method: 'KV/Range', pace: 'short', request: rangeOfHealth },
];

const byPath = new Map(calls.map((call) => [`/etcdserverpb.${call.method}`, call]));

/** The call with this HTTP path, if backups need it. */
export const callAt = (path: string | undefined): AllowedCall | undefined => byPath.get(path ?? '');

export const memberList = 'Cluster/MemberList';

/**
 * Makes the URLs for clients in a member list lead to the backup ports of the members, because the caller is refused at the
 * others. All members have the same ports; a URL with another port is left out.
 */
export function withBackupUrls(
  answer: Uint8Array,
  ports: { readonly client: string; readonly backup: number },
): Buffer {
  return rewritten(answer, 2, (member) => {
    const url = (text: Uint8Array) => backupUrl(Buffer.from(text).toString('utf8'), ports);
    return rewritten(member, 4, (text) => url(text));
  });
}

function backupUrl(text: string, ports: { readonly client: string; readonly backup: number }): Buffer | undefined {
  const url = URL.parse(text);
  if (url?.port !== ports.client) return undefined;
  url.protocol = 'https:';
  url.port = String(ports.backup);
  return Buffer.from(url.origin);
}

/** A message with another value in every occurrence of a field, or without it. */
function rewritten(message: Uint8Array, wanted: number, change: (value: Uint8Array) => Uint8Array | undefined): Buffer {
  const parts: Uint8Array[] = [];
  for (const [field, value] of fieldsOf(message)) {
    const now = field === wanted ? change(bytesOf(value)) : value;
    if (now === undefined) continue;
    parts.push(typeof now === 'bigint' ? encodeInt(field, now) : encodeBytes(field, now));
  }
  return Buffer.concat(parts);
}
