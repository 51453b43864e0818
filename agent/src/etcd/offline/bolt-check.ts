import { type FileHandle, open } from 'node:fs/promises';
import { endianness } from 'node:os';

const MAGIC = 0xed0cdaed;
const VERSION = 2;
/** Size in bytes of a meta page: the page header and the meta data. */
export const META_PAGE = 16 + 64;
/** Size in bytes of a page's header, of an element in its table, and of the bucket header before an inline page. */
export const HEADER = 16;
const BRANCH = 1;
const LEAF = 2;
const FREELIST = 16;
const NO_FREELIST = 2n ** 64n - 1n;

export class Damage extends Error {}

/**
 * Called with the name of every bucket. Returns a function that is called with each key and value in it, in order, or
 * undefined to skip the bucket.
 */
export type BucketVisitor = (bucket: string) => ((key: Buffer, value: Buffer) => void) | undefined;

export interface Page {
  readonly isBranch: boolean;
  readonly elements: readonly Element[];
}

export interface Element {
  readonly key: Buffer;
  /** In a branch: id of the page below. */
  readonly child: number;
  /** In a leaf: whether the value is a bucket. */
  readonly isBucket: boolean;
  readonly value: Buffer;
}

/**
 * Returns what is wrong with the structure of a bbolt database, the format of etcd's snapshots, or undefined. Reads every
 * page that can be reached, and holds only one of them in memory at a time.
 *
 * etcdutl has such a check, but some damage makes it collect errors until the memory is full, and it does not check inline
 * buckets.
 */
export async function boltDamage(
  file: string,
  size: number,
  visit: BucketVisitor,
  signal?: AbortSignal,
): Promise<string | undefined> {
  const handle = await open(file);
  try {
    await new BoltCheck(handle, size, signal).run(visit);
    return undefined;
  } catch (error) {
    if (error instanceof Damage) return error.message;
    throw error;
  } finally {
    await handle.close();
  }
}

class BoltCheck {
  readonly #handle: FileHandle;
  readonly #size: number;
  readonly #signal: AbortSignal | undefined;
  #pageSize = 0;
  /** For every page, 1 if something refers to it. */
  #used = new Uint8Array();

  constructor(handle: FileHandle, size: number, signal: AbortSignal | undefined) {
    this.#handle = handle;
    this.#size = size;
    this.#signal = signal;
  }

  async run(visit: BucketVisitor): Promise<void> {
    const meta = await this.#meta(0, 0);
    this.#pageSize = meta.pageSize;
    const other = await this.#meta(1, meta.pageSize);
    // When etcd sends a snapshot, it writes both meta pages. They differ only in the transaction id.
    if (meta.root !== other.root || meta.freelist !== other.freelist || meta.pages !== other.pages) {
      throw new Damage('its two meta pages differ');
    }
    if (meta.pages * meta.pageSize !== this.#size) {
      throw new Damage(`it has ${this.#size} bytes, not ${meta.pages} pages of ${meta.pageSize}`);
    }
    this.#used = new Uint8Array(meta.pages);
    this.#use(0, 2);
    await this.#buckets(meta.root, visit);
    if (meta.freelist !== NO_FREELIST) await this.#freelist(Number(meta.freelist));
  }

  async #meta(id: number, at: number) {
    const meta = metaOf(await this.#bytes(at, META_PAGE));
    if (!meta) throw new Damage(`page ${id} is not a meta page of a bbolt database`);
    return meta;
  }

  async #buckets(root: number, visitBucket: BucketVisitor): Promise<void> {
    const buckets: Element[] = [];
    await this.#tree(root, (element) => buckets.push(element));
    for (const { isBucket, value, key } of buckets) {
      // Do not report the bucket's name: in a damaged database it may be a value.
      const where = `a bucket of page ${root}`;
      const visitLeaf = visitBucket(key.toString());
      if (!isBucket || value.length < HEADER) throw new Damage(`${where} is not a bucket`);
      if (!visitLeaf) continue;
      const visit = (leaf: Element) => {
        if (leaf.isBucket) throw new Damage(`${where} contains a bucket`);
        visitLeaf(leaf.key, leaf.value);
      };
      const below = Number(uint64(value, 0));
      if (below !== 0) await this.#tree(below, visit);
      else inlineElements(value.subarray(HEADER), where).forEach(visit);
    }
  }

  /** Visits the leaves of a tree in order. Every key must be at least `first` and less than `end`. */
  async #tree(id: number, visit: (leaf: Element) => void, first?: Buffer, end?: Buffer): Promise<void> {
    const { isBranch, elements } = await this.#page(id);
    checkOrder(elements, `page ${id}`, first, end);
    if (!isBranch) return elements.forEach(visit);
    for (const [index, { child, key }] of elements.entries()) {
      await this.#tree(child, visit, key, elements[index + 1]?.key ?? end);
    }
  }

  async #page(id: number): Promise<Page> {
    const where = `page ${id}`;
    this.#use(id, 1);
    const at = id * this.#pageSize;
    const first = await this.#bytes(at, this.#pageSize);
    if (uint64(first, 0) !== BigInt(id)) throw new Damage(`${where} has the id of another page`);
    const overflow = uint32(first, 12);
    if (overflow === 0) return parse(first, first.length, where);
    this.#use(id + 1, overflow);
    const room = (overflow + 1) * this.#pageSize;
    const table = await this.#bytes(at, Math.min(room, tableEnd(first)));
    return parse(await this.#bytes(at, contentEnd(table, room, where)), room, where);
  }

  async #freelist(id: number): Promise<void> {
    this.#use(id, 1);
    const at = id * this.#pageSize;
    const header = await this.#bytes(at, HEADER + 8);
    if (uint64(header, 0) !== BigInt(id) || uint16(header, 8) !== FREELIST) {
      throw new Damage(`page ${id} is not a list of free pages`);
    }
    const overflow = uint32(header, 12);
    this.#use(id + 1, overflow);
    const count = uint16(header, 10);
    // If the count does not fit into 16 bits, the first entry holds it.
    const [skip, entries] = count === 0xffff ? [8, Number(uint64(header, HEADER))] : [0, count];
    if (HEADER + skip + entries * 8 > (overflow + 1) * this.#pageSize) {
      throw new Damage(`page ${id} lists more free pages than it has room for`);
    }
    const list = await this.#bytes(at + HEADER + skip, entries * 8);
    for (let entry = 0; entry < entries; entry++) this.#use(Number(uint64(list, entry * 8)), 1);
  }

  #use(from: number, count: number): void {
    if (from + count > this.#used.length) throw new Damage(`it refers to page ${from}, which does not exist`);
    for (let id = from; id < from + count; id++) {
      if (this.#used[id]) throw new Damage(`page ${id} is used twice`);
      this.#used[id] = 1;
    }
  }

  async #bytes(at: number, length: number): Promise<Buffer> {
    this.#signal?.throwIfAborted();
    if (at + length > this.#size) throw new Damage(`it ends before byte ${at + length}`);
    const { buffer, bytesRead } = await this.#handle.read(Buffer.allocUnsafeSlow(length), 0, length, at);
    if (bytesRead !== length) throw new Damage(`it ends before byte ${at + length}`);
    return buffer;
  }
}

export interface BoltMeta {
  readonly pageSize: number;
  /** Page of the root bucket, which contains all others. */
  readonly root: number;
  readonly freelist: bigint;
  readonly pages: number;
  readonly transaction: bigint;
}

/** Parses a meta page. Returns undefined if it is not a meta page or was written only partly. */
export function metaOf(page: Buffer): BoltMeta | undefined {
  const meta = page.subarray(HEADER);
  const pageSize = uint32(meta, 8);
  const isWhole =
    isPageSize(pageSize) &&
    uint32(meta, 0) === MAGIC &&
    uint32(meta, 4) === VERSION &&
    uint64(meta, 56) === fnv1a(meta.subarray(0, 56));
  if (!isWhole) return undefined;
  return {
    pageSize,
    root: Number(uint64(meta, 16)),
    freelist: uint64(meta, 32),
    pages: Number(uint64(meta, 40)),
    transaction: uint64(meta, 48),
  };
}

/** A power of two. Smaller pages could not hold a header and a table. */
const isPageSize = (bytes: number): boolean => bytes >= 512 && bytes <= 2 ** 20 && (bytes & (bytes - 1)) === 0;

/** Parses a page: bbolt writes keys and values one after the other, in the order of the table before them. */
export function parse(page: Buffer, room: number, where: string): Page {
  if (page.length < HEADER) throw new Damage(`${where} is truncated`);
  const flags = uint16(page, 8);
  const isBranch = flags === BRANCH;
  if (!isBranch && flags !== LEAF) throw new Damage(`${where} is neither a branch nor a leaf`);
  contentEnd(page, room, where);
  let at = tableEnd(page);
  const elements: Element[] = [];
  for (let entry = HEADER; entry < tableEnd(page); entry += HEADER) {
    const [flag, position] = isBranch ? [0, uint32(page, entry)] : [uint32(page, entry), uint32(page, entry + 4)];
    const { keySize, valueSize } = sizes(page, entry, isBranch);
    if (entry + position !== at || flag > 1) throw new Damage(`${where} has a table that does not fit its content`);
    elements.push({
      key: page.subarray(at, at + keySize),
      value: page.subarray(at + keySize, at + keySize + valueSize),
      isBucket: flag === 1,
      child: isBranch ? Number(uint64(page, entry + 8)) : 0,
    });
    at += keySize + valueSize;
  }
  if (isBranch && elements.length === 0) throw new Damage(`${where} is a branch without children`);
  return { isBranch, elements };
}

/** Parses an inline bucket: a small bucket is stored in its parent as a leaf page. */
export function inlineElements(bytes: Buffer, where: string): readonly Element[] {
  const { isBranch, elements } = parse(bytes, bytes.length, where);
  if (isBranch) throw new Damage(`${where} is inline but has branches`);
  checkOrder(elements, where);
  return elements;
}

const tableEnd = (page: Buffer) => HEADER * (uint16(page, 10) + 1);

function contentEnd(page: Buffer, room: number, where: string): number {
  let end = tableEnd(page);
  const isBranch = uint16(page, 8) === BRANCH;
  for (let entry = HEADER; entry < tableEnd(page) && end <= room; entry += HEADER) {
    const { keySize, valueSize } = sizes(page, entry, isBranch);
    end += keySize + valueSize;
  }
  if (end > room) throw new Damage(`${where} has more content than room`);
  return end;
}

function sizes(page: Buffer, entry: number, isBranch: boolean): { keySize: number; valueSize: number } {
  if (entry + HEADER > page.length) throw new Damage('a page is truncated');
  if (isBranch) return { keySize: uint32(page, entry + 4), valueSize: 0 };
  return { keySize: uint32(page, entry + 8), valueSize: uint32(page, entry + 12) };
}

function checkOrder(elements: readonly Element[], where: string, first?: Buffer, end?: Buffer): void {
  let previous: Buffer | undefined;
  for (const { key } of elements) {
    const ascends = previous ? previous.compare(key) < 0 : !first || first.compare(key) <= 0;
    if (!ascends || (end && key.compare(end) >= 0)) throw new Damage(`${where} has keys out of order`);
    previous = key;
  }
}

// bbolt writes numbers in the byte order of the machine.
const little = endianness() === 'LE';
const uint16 = (bytes: Buffer, at: number) => (little ? bytes.readUInt16LE(at) : bytes.readUInt16BE(at));
export const uint32 = (bytes: Buffer, at: number) => (little ? bytes.readUInt32LE(at) : bytes.readUInt32BE(at));
export const uint64 = (bytes: Buffer, at: number) => (little ? bytes.readBigUInt64LE(at) : bytes.readBigUInt64BE(at));

function fnv1a(bytes: Uint8Array): bigint {
  let hash = 0xcbf29ce484222325n;
  for (const byte of bytes) hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
  return hash;
}
