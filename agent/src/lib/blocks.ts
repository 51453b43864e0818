interface Block {
  readonly bytes: Buffer;
  readonly last: boolean;
}

/**
 * Regroups a body into blocks of `size` bytes. Only the last block is shorter. An empty body yields one empty block.
 * The blocks share `count` buffers in turn: a block stays valid until `count` later blocks have been requested.
 */
export async function* blocks(body: AsyncIterable<Uint8Array>, size: number, count: number): AsyncGenerator<Block> {
  const buffers: Buffer[] = [];
  let turn = 0;
  let filled = 0;
  // Allocated outside the pool and without zeroing, so that unused memory never becomes resident.
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
