interface Block {
  readonly bytes: Buffer;
  readonly last: boolean;
}

/**
 * Regroups a body into blocks of `size` bytes; only the last is shorter, and an empty body is one empty block. The
 * blocks lie in `count` buffers that are used in turn: one is good until `count` later ones have been asked for.
 */
export async function* blocks(body: AsyncIterable<Uint8Array>, size: number, count: number): AsyncGenerator<Block> {
  const buffers: Buffer[] = [];
  let turn = 0;
  let filled = 0;
  // Not from the pool and not zeroed: memory that is never written to is never resident.
  const current = () => (buffers[turn] ??= Buffer.allocUnsafeSlow(size));
  for await (const chunk of body) {
    for (let from = 0; from < chunk.length; ) {
      if (filled === size) {
        yield { bytes: current(), last: false };
        turn = (turn + 1) % count;
        filled = 0;
      }
      const to = Math.min(chunk.length, from + size - filled);
      current().set(chunk.subarray(from, to), filled);
      filled += to - from;
      from = to;
    }
  }
  yield { bytes: current().subarray(0, filled), last: true };
}
