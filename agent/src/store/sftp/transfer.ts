import { blocks } from '../../lib/blocks.ts';
import { freeBuffers, garbageCounter } from '../../lib/memory.ts';
import type { SftpSession } from './session.ts';

/** Bytes. If the server is not OpenSSH, ssh2 splits longer blocks, which costs a round trip. */
const BLOCK = 31 * 1024;
/**
 * Requests in flight. Together they fill a line that holds 1 MiB (50 MB/s at 20 ms), so that round trips cost
 * nothing.
 */
const UNDER_WAY = 32;

/** How many times ssh2 copies every byte into new buffers. */
const COPIES = 4;
/** Bytes between two full collections, which free what a quick collection misses and take some milliseconds. */
const THOROUGH = 32 * 1024 * 1024;

/** Adds the file's name to errors of the server. */
export type Explain = <T>(call: Promise<T>) => Promise<T>;

/** Writes a body with many requests in flight. Resolves to the number of bytes once all requests are answered. */
export async function writeAll(
  session: SftpSession,
  handle: Buffer,
  body: AsyncIterable<Uint8Array>,
  explain: Explain,
): Promise<number> {
  const underWay: Promise<void>[] = [];
  const passed = copiesCounter();
  let at = 0;
  for await (const { bytes } of blocks(body, BLOCK, UNDER_WAY + 1)) {
    if (underWay.length === UNDER_WAY) await explain(underWay.shift()!);
    const position = at;
    const write = session.request((sftp, done) => sftp.write(handle, bytes, 0, bytes.length, position, done));
    underWay.push(heard(write));
    passed(bytes.length);
    at += bytes.length;
  }
  for (const write of underWay) await explain(write);
  return at;
}

/** Reads `size` bytes with many requests in flight, at most 1 MiB ahead of the consumer. */
export async function* readAll(
  session: SftpSession,
  handle: Buffer,
  size: number,
  explain: Explain,
): AsyncGenerator<Uint8Array> {
  const underWay: Promise<Buffer>[] = [];
  // Buffers are reused in turn: new ones would live long enough to escape the quick garbage collections.
  const buffers: Buffer[] = [];
  const passed = copiesCounter();
  let asked = 0;
  for (let at = 0; at < size; ) {
    for (; asked < size && underWay.length < UNDER_WAY; asked += BLOCK) {
      const turn = (asked / BLOCK) % UNDER_WAY;
      buffers[turn] ??= Buffer.allocUnsafeSlow(Math.min(BLOCK, size - asked));
      underWay.push(heard(readBlock(session, handle, asked, buffers[turn].subarray(0, size - asked))));
    }
    const block = await explain(underWay.shift()!);
    at += block.length;
    passed(block.length);
    yield Buffer.from(block);
    if (block.length < BLOCK && at < size) return;
  }
}

/** Reads until the block is full or the file ends. A server may return fewer bytes than requested. */
async function readBlock(session: SftpSession, handle: Buffer, from: number, block: Buffer): Promise<Buffer> {
  let filled = 0;
  while (filled < block.length) {
    const read = await session.request<number>((sftp, done) =>
      sftp.read(handle, block, filled, block.length - filled, from + filled, done),
    );
    if (read === 0) break;
    filled += read;
  }
  return block.subarray(0, filled);
}

/** Prevents an unhandled rejection: the caller awaits each request in its turn. */
function heard<T>(call: Promise<T>): Promise<T> {
  call.catch(() => {});
  return call;
}

/**
 * Counts the bytes of a transfer and frees their buffers, so that memory does not grow with the length of the
 * transfer.
 */
function copiesCounter(): (bytes: number) => void {
  const quick = garbageCounter();
  let since = 0;
  return (bytes) => {
    quick(COPIES * bytes);
    since += bytes;
    if (since < THOROUGH) return;
    since = 0;
    freeBuffers();
  };
}
