import { createHash } from 'node:crypto';
import type { Random } from './random.ts';

export interface Mutation {
  /** Description for people: the damage and its position. */
  readonly what: string;
  readonly bytes: Buffer;
}

type Mutate = (bytes: Buffer, random: Random, page: number) => Mutation;

/** Damage to any bytes; `page` is the size of the blocks that are swapped, zeroed and repeated. */
const anywhere: Record<string, Mutate> = {
  'one bit': (bytes, random) => flip(bytes, [random.below(bytes.length * 8)]),
  'some bits': (bytes, random) => flip(bytes, bits(random, random.between(2, 64), 0, bytes.length)),
  'bits of one block': (bytes, random, page) => {
    const at = random.below(bytes.length);
    return flip(bytes, bits(random, random.between(1, 9), at, Math.min(at + page, bytes.length)));
  },
  cut: (bytes, random, page) => {
    const { length } = bytes;
    const to = random.pick([
      () => 0,
      () => random.below(Math.min(page, length)),
      () => random.between(Math.min(page, length), Math.min(2 * page, length + 1)),
      () => random.below(length),
      () => random.below(Math.ceil(length / page)) * page,
      () => random.below(Math.ceil(length / 512)) * 512,
      () => length - random.between(1, 17),
      () => length - random.between(17, 33),
    ])();
    return { what: `cut to ${to} of ${length} bytes`, bytes: bytes.subarray(0, Math.max(0, to)) };
  },
  'swapped blocks': (bytes, random, page) => {
    const size = random.pick([page, page, 512, random.between(1, page)]);
    const [a, b] = [block(bytes, random, size), block(bytes, random, size)];
    const swapped = Buffer.from(bytes);
    swapped.set(bytes.subarray(b, b + size), a);
    swapped.set(bytes.subarray(a, a + size), b);
    return { what: `${size} bytes at ${a} and ${b} swapped`, bytes: swapped };
  },
  'zeroed block': (bytes, random, page) => {
    const size = random.pick([page, page, 512, random.between(1, page)]);
    const at = block(bytes, random, size);
    return { what: `${size} bytes at ${at} zeroed`, bytes: Buffer.from(bytes).fill(0, at, at + size) };
  },
  'block over another': (bytes, random, page) => {
    const size = random.pick([page, page, 512]);
    const [from, to] = [block(bytes, random, size), block(bytes, random, size)];
    const copied = Buffer.from(bytes);
    copied.set(bytes.subarray(from, from + size), to);
    return { what: `${size} bytes of ${from} over ${to}`, bytes: copied };
  },
  'block twice': (bytes, random, page) => {
    const at = block(bytes, random, page);
    const [before, after] = [bytes.subarray(0, at + page), bytes.subarray(at)];
    return { what: `${page} bytes at ${at} twice`, bytes: Buffer.concat([before, after]) };
  },
  appended: (bytes, random, page) => {
    const length = random.pick([1, 16, 32, 512, page, random.between(1, 2 * page)]);
    const more = random.pick([Buffer.alloc(length), random.bytes(length), bytes.subarray(0, length)]);
    return { what: `${more.length} bytes appended`, bytes: Buffer.concat([bytes, more]) };
  },
};

/** Damage that understands the format of bbolt, and leaves most of the database intact. */
const inDatabase: Record<string, Mutate> = {
  'head of a page': (bytes, random, page) => {
    const at = random.below(bytes.length / page) * page;
    return flip(bytes, bits(random, random.between(1, 4), at, at + 80));
  },
  'number in a page': (bytes, random, page) => {
    const at = random.below(bytes.length / page) * page + random.below(12) * 8;
    const value = random.pick([0n, 1n, 2n, 3n, BigInt(random.below(bytes.length / page)), 2n ** 32n, 2n ** 63n]);
    const changed = Buffer.from(bytes);
    changed.writeBigUInt64LE(value, at);
    return { what: `${value} at ${at}`, bytes: changed };
  },
  'small bucket': (bytes, random) => {
    const at = random.pick(
      find(bytes, random.pick(['alarm', 'auth', 'confState', 'lease', 'members', 'meta', 'somebody'])),
    );
    return flip(bytes, bits(random, random.between(1, 3), Math.max(0, at - 24), at + 64));
  },
  'meta page, its checksum right': (bytes, random, page) => {
    const at = random.below(2) * page + 16;
    const changed = Buffer.from(bytes);
    const field = random.pick([8, 16, 24, 32, 40, 48]);
    changed.writeUInt32LE(random.pick([0, 1, 2, random.below(bytes.length / page), 0xffffffff]), at + field);
    changed.writeBigUInt64LE(fnv1a(changed.subarray(at, at + 56)), at + 56);
    return { what: `meta page ${at} changed at ${field}, with its checksum`, bytes: changed };
  },
  'another value': (bytes, random) => replaceText(bytes, random, VALUE, 'value-'.length),
  'another key': (bytes, random) => replaceText(bytes, random, KEY, 'key-'.length),
  'another revision': (bytes, random) => {
    // A revision is a number of eight bytes, `_`, and a number of eight bytes.
    const at = random.pick(find(bytes, Buffer.from('_\0\0\0\0\0\0\0')));
    return flip(bytes, bits(random, 1, at - 8, at));
  },
};

/** Beginning of the keys and values in the mutated database; five digits follow. */
export const VALUE = 'value-';
export const KEY = 'key-';

const kindsOfDatabase = { ...anywhere, ...inDatabase };
export const kinds = Object.keys(kindsOfDatabase);

/**
 * Returns the n-th mutation of a database, with or without trailer: all kinds take turns. It always differs from the
 * original.
 */
export function mutateDatabase(bytes: Buffer, n: number, random: Random): Mutation {
  return mutate(kindsOfDatabase, bytes, n, random, bytes.readUInt32LE(24));
}

/** The same for bytes without a known structure. */
export function mutateBytes(bytes: Buffer, n: number, random: Random): Mutation {
  return mutate(anywhere, bytes, n, random, 512);
}

function mutate(table: Record<string, Mutate>, bytes: Buffer, n: number, random: Random, page: number): Mutation {
  const names = Object.keys(table);
  const name = names[n % names.length]!;
  for (;;) {
    const mutation = table[name]!(bytes, random, page);
    if (!mutation.bytes.equals(bytes)) return { ...mutation, what: `${name}: ${mutation.what}` };
  }
}

/** Returns the database with the trailer that etcd would send after it. */
export function seal(database: Buffer): Buffer {
  return Buffer.concat([database, createHash('sha256').update(database).digest()]);
}

function flip(bytes: Buffer, positions: readonly number[]): Mutation {
  const flipped = Buffer.from(bytes);
  for (const bit of positions) flipped[bit >> 3]! ^= 1 << (bit & 7);
  const first = Math.min(...positions) >> 3;
  return { what: `${positions.length} bits flipped from ${first}`, bytes: flipped };
}

const bits = (random: Random, count: number, from: number, end: number): number[] =>
  Array.from({ length: count }, () => random.between(from * 8, end * 8));

const block = (bytes: Buffer, random: Random, size: number): number =>
  random.below(Math.max(1, Math.floor(bytes.length / size))) * size;

function find(bytes: Buffer, text: string | Buffer): number[] {
  const found: number[] = [];
  for (let at = bytes.indexOf(text); at >= 0; at = bytes.indexOf(text, at + 1)) found.push(at);
  return found;
}

function replaceText(bytes: Buffer, random: Random, text: string, length: number): Mutation {
  const at = random.pick(find(bytes, text)) + length;
  const changed = Buffer.from(bytes);
  changed.write(String(random.below(100_000)).padStart(5, '0'), at, 'latin1');
  return { what: `the text at ${at} replaced`, bytes: changed };
}

/** The checksum of a meta page. */
export function fnv1a(bytes: Uint8Array): bigint {
  let hash = 0xcbf29ce484222325n;
  for (const byte of bytes) hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
  return hash;
}
