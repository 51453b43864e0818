import type { Hash } from './canonical.ts';

/**
 * Numbers states in the order they are found. Open addressing over 64-bit hashes: 12 bytes a state, no objects.
 * Two different states share a hash with a chance of n²/2⁶⁵: 3·10⁻⁸ for a million, 3·10⁻⁶ for ten million.
 */
export class StateSet {
  #capacity = 1 << 12;
  #high = new Uint32Array(this.#capacity);
  #low = new Uint32Array(this.#capacity);
  #number = new Int32Array(this.#capacity).fill(-1);
  size = 0;

  /** The number of the state, and whether it is new. */
  add(hash: Hash): { number: number; isNew: boolean } {
    if (this.size * 2 > this.#capacity) this.#grow();
    const slot = this.#slot(hash.high, hash.low);
    const found = this.#number[slot]!;
    if (found >= 0) return { number: found, isNew: false };
    this.#put(slot, hash.high, hash.low, this.size);
    return { number: this.size++, isNew: true };
  }

  #slot(high: number, low: number): number {
    const mask = this.#capacity - 1;
    let slot = low & mask;
    while (this.#number[slot]! >= 0 && (this.#low[slot] !== low || this.#high[slot] !== high)) slot = (slot + 1) & mask;
    return slot;
  }

  #put(slot: number, high: number, low: number, number: number): void {
    this.#high[slot] = high;
    this.#low[slot] = low;
    this.#number[slot] = number;
  }

  #grow(): void {
    const [high, low, number] = [this.#high, this.#low, this.#number];
    this.#capacity *= 4;
    this.#high = new Uint32Array(this.#capacity);
    this.#low = new Uint32Array(this.#capacity);
    this.#number = new Int32Array(this.#capacity).fill(-1);
    for (let i = 0; i < number.length; i++) {
      if (number[i]! >= 0) this.#put(this.#slot(high[i]!, low[i]!), high[i]!, low[i]!, number[i]!);
    }
  }
}
