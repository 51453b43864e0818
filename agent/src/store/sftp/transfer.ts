import { blocks } from '../../lib/blocks.ts';
import { freeBuffers, garbageCounter } from '../../lib/memory.ts';
import type { SftpSession } from './session.ts';

/** ssh2 splits what is longer when the server is not OpenSSH, at the cost of a round trip. */
const BLOCK = 31 * 1024;
/** Hides the round trips of a line that holds 1 MiB: 50 MB/s at 20 ms. */
const UNDER_WAY = 32;

/** ssh2 copies every byte into new buffers so many times. */
const COPIES = 4;
/** Bytes after which also those are freed that a quick collection does not find; it takes some milliseconds. */
const THOROUGH = 32 * 1024 * 1024;

/** Names the file in what the server refuses. */
export type Explain = <T>(call: Promise<T>) => Promise<T>;

/** Writes a body with many requests under way; resolves when all are answered, to the number of bytes. */
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

/** Reads `size` bytes with many requests under way, at most 1 MiB ahead of who takes them. */
export async function* readAll(
  session: SftpSession,
  handle: Buffer,
  size: number,
  explain: Explain,
): AsyncGenerator<Uint8Array> {
  const underWay: Promise<Buffer>[] = [];
  // Used in turn: new ones would live long enough to escape the quick collections of garbage.
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

/** A server may answer with less than was asked for; at the end of the file with nothing. */
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

/** Its failure is looked at in its turn, and is not one that nobody handles. */
function heard<T>(call: Promise<T>): Promise<T> {
  call.catch(() => {});
  return call;
}

/** Keeps the memory of a long transfer as small as that of a short one. */
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
