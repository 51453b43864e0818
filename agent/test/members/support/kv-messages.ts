import { encodeInt, fieldsOf, hexId, integer, text } from '../../../src/etcd/protobuf.ts';

/** The messages of etcd's KV and Watch services that the writer and the watcher need. */

/** Header of every answer: the member that sent it, and its raft term and revision. */
export interface Header {
  readonly clusterId: string;
  readonly memberId: string;
  readonly revision: number;
  readonly term: number;
}

export interface KeyValue {
  readonly key: string;
  readonly value: string;
  readonly modRevision: number;
}

export interface WatchAnswer {
  readonly header: Header;
  readonly canceled: boolean;
  /** The watch was refused because history before this revision is gone. 0 if it was not refused. */
  readonly compactRevision: number;
  readonly events: readonly (KeyValue & { readonly deleted: boolean })[];
}

export function encodeBytes(field: number, value: Uint8Array | string): Uint8Array {
  const bytes = Buffer.from(value as string);
  // Only the length, without the tag that encodeInt writes: a field number below 16 takes one byte.
  const length = bytes.length === 0 ? Buffer.of(0) : Buffer.from(encodeInt(1, bytes.length)).subarray(1);
  return Buffer.concat([Buffer.of((field << 3) | 2), length, bytes]);
}

export const put = (key: string, value: string): Uint8Array =>
  Buffer.concat([encodeBytes(1, key), encodeBytes(2, value)]);

export interface RangeOptions {
  readonly end?: string;
  readonly limit?: number;
  readonly revision?: number;
  readonly serializable?: boolean;
}

export const range = (key: string, { end, limit = 0, revision = 0, serializable }: RangeOptions = {}): Uint8Array =>
  Buffer.concat([
    encodeBytes(1, key),
    ...(end === undefined ? [] : [encodeBytes(2, end)]),
    encodeInt(3, limit),
    encodeInt(4, revision),
    encodeInt(7, serializable ? 1 : 0),
  ]);

/** Puts `to` if the value is `from`; otherwise reads the value. */
export function compareAndSwap(key: string, from: string, to: string): Uint8Array {
  const VALUE = 3;
  const compare = Buffer.concat([encodeInt(2, VALUE), encodeBytes(3, key), encodeBytes(7, from)]);
  return Buffer.concat([
    encodeBytes(1, compare),
    encodeBytes(2, encodeBytes(2, put(key, to))),
    encodeBytes(3, encodeBytes(1, range(key))),
  ]);
}

export const watch = (prefix: string, startRevision: number): Uint8Array =>
  encodeBytes(
    1,
    Buffer.concat([encodeBytes(1, prefix), encodeBytes(2, afterPrefix(prefix)), encodeInt(3, startRevision)]),
  );

/** Returns the first key after all keys with this prefix. */
export const afterPrefix = (prefix: string): string =>
  prefix.slice(0, -1) + String.fromCharCode(prefix.charCodeAt(prefix.length - 1) + 1);

export function headerOf(message: Uint8Array): Header {
  const found = { clusterId: '0', memberId: '0', revision: 0, term: 0 };
  for (const [field, value] of fieldsOf(firstField(message))) {
    if (field === 1) found.clusterId = hexId(value);
    if (field === 2) found.memberId = hexId(value);
    if (field === 3) found.revision = integer(value);
    if (field === 4) found.term = integer(value);
  }
  return found;
}

function firstField(message: Uint8Array): Uint8Array {
  for (const [field, value] of fieldsOf(message)) if (field === 1) return value as Uint8Array;
  return new Uint8Array();
}

function keyValue(message: Uint8Array): KeyValue {
  const found = { key: '', value: '', modRevision: 0 };
  for (const [field, value] of fieldsOf(message)) {
    if (field === 1) found.key = text(value);
    if (field === 3) found.modRevision = integer(value);
    if (field === 5) found.value = text(value);
  }
  return found;
}

export interface RangeAnswer {
  readonly header: Header;
  readonly kvs: readonly KeyValue[];
}

export function rangeAnswer(message: Uint8Array): RangeAnswer {
  const kvs: KeyValue[] = [];
  for (const [field, value] of fieldsOf(message)) if (field === 2) kvs.push(keyValue(value as Uint8Array));
  return { header: headerOf(message), kvs };
}

/** Result of a swap: true if it was made, and otherwise the value that was found. */
export function swapAnswer(message: Uint8Array): { header: Header; swapped: boolean; found?: string } {
  let swapped = false;
  let found: string | undefined;
  for (const [field, value] of fieldsOf(message)) {
    if (field === 2) swapped = value !== 0n;
    if (field !== 3) continue;
    for (const [kind, answer] of fieldsOf(value as Uint8Array))
      if (kind === 1) found = rangeAnswer(answer as Uint8Array).kvs[0]?.value;
  }
  return { header: headerOf(message), swapped, ...(found !== undefined && { found }) };
}

export function watchAnswer(message: Uint8Array): WatchAnswer {
  const found = { canceled: false, compactRevision: 0 };
  const events: (KeyValue & { deleted: boolean })[] = [];
  for (const [field, value] of fieldsOf(message)) {
    if (field === 4) found.canceled = value !== 0n;
    if (field === 5) found.compactRevision = integer(value);
    if (field === 11) events.push(event(value as Uint8Array));
  }
  return { header: headerOf(message), ...found, events };
}

function event(message: Uint8Array): KeyValue & { deleted: boolean } {
  let deleted = false;
  let kv: KeyValue = { key: '', value: '', modRevision: 0 };
  for (const [field, value] of fieldsOf(message)) {
    if (field === 1) deleted = value !== 0n;
    if (field === 2) kv = keyValue(value as Uint8Array);
  }
  return { ...kv, deleted };
}
