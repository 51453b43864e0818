/** What a worker reports about its input, even while it hangs: only shared memory can be read then. */
export class Current {
  /** Number of inputs so far, and the length of the present one. */
  readonly #head: Int32Array;
  readonly #bytes: Uint8Array;
  readonly memory: SharedArrayBuffer;

  constructor(memory = new SharedArrayBuffer(8 + 4 * 1024 * 1024)) {
    this.memory = memory;
    this.#head = new Int32Array(memory, 0, 2);
    this.#bytes = new Uint8Array(memory, 8);
  }

  begin(input: Buffer): void {
    this.#bytes.set(input.subarray(0, this.#bytes.length));
    Atomics.store(this.#head, 1, Math.min(input.length, this.#bytes.length));
    Atomics.add(this.#head, 0, 1);
  }

  get count(): number {
    return Atomics.load(this.#head, 0);
  }

  get input(): Buffer {
    return Buffer.from(this.#bytes.slice(0, Atomics.load(this.#head, 1)));
  }
}
