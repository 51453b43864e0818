type Bytes = AsyncIterable<Uint8Array>;

const MAGIC = 0xfd2fb528;
const SKIPPABLE = 0x184d2a5;
const RLE = 1;

/** How many bytes come next, and whether they must be parsed. */
interface Step {
  readonly bytes: number;
  readonly read?: true;
}

/**
 * Yields the same bytes in chunks that never extend beyond the end of a frame: Node's decompressor ignores bytes that follow
 * a frame in the same chunk. `pzstd`, `zstd --rsyncable` and `cat a.zst b.zst` write several frames.
 */
export async function* splitFrames(source: Bytes): Bytes {
  let frame = stepsOfFrame();
  let step = frame.next().value as Step;
  let left = step.bytes;
  let head = Buffer.alloc(0);
  let isBetween = true;
  for await (const chunk of source) {
    let from = 0;
    for (let at = 0; at < chunk.length; ) {
      isBetween = false;
      const end = Math.min(chunk.length, at + left);
      if (step.read) head = Buffer.concat([head, chunk.subarray(at, end)]);
      left -= end - at;
      at = end;
      while (left === 0 && !isBetween) {
        const next = frame.next(head);
        head = Buffer.alloc(0);
        if (next.done) {
          yield chunk.subarray(from, at);
          from = at;
          isBetween = true;
          frame = stepsOfFrame();
        }
        step = next.done ? (frame.next().value as Step) : next.value;
        left = step.bytes;
      }
    }
    if (from < chunk.length) yield chunk.subarray(from);
  }
  if (!isBetween) throw new Error('the last frame is truncated');
}

/** RFC 8878: a frame has a header, blocks that each state their length, and optionally a checksum. */
function* stepsOfFrame(): Generator<Step, void, Buffer> {
  const magic = (yield { bytes: 4, read: true }).readUInt32LE();
  if (magic >>> 4 === SKIPPABLE) {
    const size = (yield { bytes: 4, read: true }).readUInt32LE();
    yield { bytes: size };
    return;
  }
  if (magic !== MAGIC) throw new Error('this is not the beginning of a zstd frame');
  const descriptor = (yield { bytes: 1, read: true })[0]!;
  yield { bytes: restOfHeader(descriptor) };
  for (let isLast = false; !isLast; ) {
    const block = (yield { bytes: 3, read: true }).readUIntLE(0, 3);
    isLast = (block & 1) === 1;
    yield { bytes: ((block >> 1) & 3) === RLE ? 1 : block >> 3 };
  }
  if (descriptor & 4) yield { bytes: 4 };
}

function restOfHeader(descriptor: number): number {
  const isSingleSegment = (descriptor & 32) !== 0;
  const window = isSingleSegment ? 0 : 1;
  const dictionary = [0, 1, 2, 4][descriptor & 3]!;
  const contentSize = [isSingleSegment ? 1 : 0, 2, 4, 8][descriptor >> 6]!;
  return window + dictionary + contentSize;
}
