import type { World } from '../world/world.ts';

/** 64 bits as two unsigned halves. */
export interface Hash {
  high: number;
  low: number;
}

// An id, or a field that no decision depends on: the id counter, and a number that only grows.
const ID_OR_NOISE = /[a-z]#\d+|"(?:seq|rev)":\d+,?/g;

/**
 * The world as text. Ids are numbered in order of appearance, so that two worlds that differ only in the numbers of their ids
 * are equal. This covers whatever plan() writes into the record, because an id keeps its form there.
 */
export function canonical(world: World): string {
  const names = new Map<string, string>();
  return JSON.stringify(world).replace(ID_OR_NOISE, (found) => {
    if (found[1] !== '#') return '';
    let name = names.get(found);
    if (name === undefined) {
      name = found[0]! + names.size;
      names.set(found, name);
    }
    return name;
  });
}

/** Two 32-bit lanes of multiply and rotate, mixed at the end. */
export function hash(text: string): Hash {
  let a = 0xdeadbeef;
  let b = 0x41c6ce57;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    a = Math.imul(a ^ code, 0x9e3779b1);
    a = (a << 13) | (a >>> 19);
    b = Math.imul(b ^ code, 0x85ebca6b);
    b = (b << 17) | (b >>> 15);
  }
  a = Math.imul(a ^ (a >>> 16), 0x85ebca6b) ^ Math.imul(b ^ (b >>> 13), 0xc2b2ae35);
  b = Math.imul(b ^ (b >>> 16), 0x85ebca6b) ^ Math.imul(a ^ (a >>> 13), 0xc2b2ae35);
  return { high: (a ^ (a >>> 15)) >>> 0, low: (b ^ (b >>> 15)) >>> 0 };
}
