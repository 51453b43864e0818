import { type FileHandle, open } from 'node:fs/promises';
import {
  Damage,
  type Element,
  HEADER,
  inlineElements,
  META_PAGE,
  metaOf,
  type Page,
  parse,
  uint32,
  uint64,
} from './bolt-check.ts';

/** Possible page sizes: those of the memory pages of common machines. */
const PAGE_SIZES = [4096, 16_384, 65_536];
const REVISION = 8;
/** A tree of so many levels would be larger than any disk. */
const DEEPEST = 64;

export interface BackendState {
  /** Newest revision in the database. */
  readonly revision: number;
  /** Raft index of the last entry that was applied to the database. */
  readonly consistentIndex: number;
}

/**
 * Reads how far etcd's database has come, even if it was not closed. Like etcd, it uses the newer intact one of the two meta
 * pages. Reads only the pages that lead to these values. Throws Damage if one of them is damaged.
 */
export async function backendState(file: string): Promise<BackendState> {
  const handle = await open(file);
  try {
    const tree = await Tree.of(handle);
    const newest = (await tree.last(await tree.bucket('key')))?.key;
    const meta = await tree.bucket('meta');
    const index = (await tree.find(meta, 'consistent_index'))?.value;
    // Compaction removes even the newest entry if it is a deletion. etcd then starts at the compacted revision.
    const compacted = await Promise.all(
      ['scheduledCompactRev', 'finishedCompactRev'].map(async (name) => (await tree.find(meta, name))?.value),
    );
    return {
      revision: Math.max(1, ...[newest, ...compacted].map(mainRevision)),
      consistentIndex: index?.length === 8 ? Number(index.readBigUInt64BE()) : 0,
    };
  } finally {
    await handle.close();
  }
}

/** Returns true for the database of an etcd that has just begun: it has neither keys nor members. Throws Damage. */
export async function isBlank(file: string): Promise<boolean> {
  const handle = await open(file);
  try {
    if ((await handle.stat()).size === 0) return true;
    const tree = await Tree.of(handle);
    const newest = ['key', 'members'].map(async (name) => {
      const isThere = await tree.has(name);
      return isThere && (await tree.last(await tree.bucket(name)));
    });
    return (await Promise.all(newest)).every((element) => !element);
  } finally {
    await handle.close();
  }
}

/** Returns the values of a small bucket, in the order of its keys. Throws Damage. */
export async function backendValues(file: string, bucket: string): Promise<Buffer[]> {
  const handle = await open(file);
  try {
    const tree = await Tree.of(handle);
    return await tree.values(await tree.bucket(bucket));
  } finally {
    await handle.close();
  }
}

const mainRevision = (bytes: Buffer | undefined): number =>
  bytes && bytes.length >= REVISION ? Number(bytes.readBigInt64BE()) : 0;

/** Root of a bucket: the id of a page, or the page itself if the bucket is inline. */
type Root = number | Page;

class Tree {
  readonly #handle: FileHandle;
  readonly #pageSize: number;
  readonly #root: number;
  readonly #size: number;

  private constructor(handle: FileHandle, pageSize: number, root: number, size: number) {
    this.#handle = handle;
    this.#pageSize = pageSize;
    this.#root = root;
    this.#size = size;
  }

  static async of(handle: FileHandle): Promise<Tree> {
    const found = await Promise.all(
      [0, ...PAGE_SIZES].map((at) => read(handle, at, META_PAGE).then(metaOf, undefinedIfDamaged)),
    );
    const [newest] = found.filter((meta) => meta !== undefined).sort((a, b) => Number(b.transaction - a.transaction));
    if (!newest) throw new Damage('it has no valid meta page');
    return new Tree(handle, newest.pageSize, newest.root, (await handle.stat()).size);
  }

  async has(bucket: string): Promise<boolean> {
    return (await this.find(this.#root, bucket)) !== undefined;
  }

  async bucket(name: string): Promise<Root> {
    const found = await this.find(this.#root, name);
    if (!found?.isBucket || found.value.length < HEADER) throw new Damage(`it has no bucket ${name}`);
    const below = Number(uint64(found.value, 0));
    return below === 0 ? { isBranch: false, elements: inlineElements(found.value.subarray(HEADER), name) } : below;
  }

  async find(root: Root, name: string, depth = 0): Promise<Element | undefined> {
    const key = Buffer.from(name);
    const { isBranch, elements } = await this.#page(root, depth);
    if (!isBranch) return elements.find((element) => element.key.equals(key));
    const below = elements.findLast((element) => element.key.compare(key) <= 0);
    return below && this.find(below.child, name, depth + 1);
  }

  async last(root: Root, depth = 0): Promise<Element | undefined> {
    const { isBranch, elements } = await this.#page(root, depth);
    const last = elements.at(-1);
    return isBranch && last ? this.last(last.child, depth + 1) : last;
  }

  async values(root: Root, seen = new Set<Root>()): Promise<Buffer[]> {
    if (seen.has(root)) throw new Damage(`page ${root} is used twice`);
    seen.add(root);
    const { isBranch, elements } = await this.#page(root, 0);
    if (!isBranch) return elements.map(({ value }) => value);
    const below: Buffer[] = [];
    for (const { child } of elements) below.push(...(await this.values(child, seen)));
    return below;
  }

  async #page(root: Root, depth: number): Promise<Page> {
    if (typeof root !== 'number') return root;
    if (depth > DEEPEST) throw new Damage(`page ${root} is below itself`);
    const at = root * this.#pageSize;
    const first = await this.#read(at, this.#pageSize);
    if (uint64(first, 0) !== BigInt(root)) throw new Damage(`page ${root} has the id of another page`);
    const overflow = uint32(first, 12);
    const whole = overflow === 0 ? first : await this.#read(at, (overflow + 1) * this.#pageSize);
    return parse(whole, whole.length, `page ${root}`);
  }

  /** Compares with the size first: the length comes from the file, and a damaged one may be gigabytes. */
  async #read(at: number, length: number): Promise<Buffer> {
    if (at + length > this.#size) throw new Damage(`it ends before byte ${at + length}`);
    return read(this.#handle, at, length);
  }
}

function undefinedIfDamaged(error: unknown): undefined {
  if (!(error instanceof Damage)) throw error;
}

async function read(handle: FileHandle, at: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, at);
  if (bytesRead !== length) throw new Damage(`it ends before byte ${at + length}`);
  return buffer;
}
