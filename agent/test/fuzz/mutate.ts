import fc from 'fast-check';
import { jsonMutation, yamlMutation } from './mutate-json.ts';
import { protobufMessage, protobufMutation } from './mutate-protobuf.ts';
import { textMutation } from './mutate-text.ts';
import type { Kind, Target } from './target.ts';

/** Bytes. Longer inputs would only take time. YAML's parser takes seconds for some of 50 KB. */
const LONGEST = 512 * 1024;
const LONGEST_YAML = 16 * 1024;

/** A position in an input whose length is not known yet. */
export interface Place {
  readonly draw: number;
  readonly how: 'anywhere' | 'aligned' | 'anchor' | 'start';
}

export const place: fc.Arbitrary<Place> = fc.record({
  draw: fc.nat(0xffff_ffff),
  how: fc.constantFrom('anywhere', 'aligned', 'anchor', 'start'),
});

/** Changes an input, with the knowledge of the corpus and the target. */
export type Change = (input: Buffer, around: Around) => Buffer;

export interface Around {
  readonly corpus: readonly Buffer[];
  readonly anchors: (input: Buffer) => readonly number[];
}

function at({ draw, how }: Place, input: Buffer, { anchors }: Around): number {
  const { length } = input;
  if (length === 0) return 0;
  if (how === 'start') return draw % Math.min(length, 64);
  if (how === 'aligned') return (draw % length) & ~7;
  const known = how === 'anchor' ? anchors(input) : [];
  return Math.min(length, known.length > 0 ? known[draw % known.length]! : draw % length);
}

/** Lengths of slices: mostly short. */
const size = fc.oneof(fc.nat(9), fc.nat(300), fc.nat(20_000));
const width = fc.constantFrom(1, 2, 4, 8);

const interesting: readonly bigint[] = [
  ...[0n, 1n, 2n, 3n, 5n, 8n, 16n, 0x7fn, 0x80n, 0xffn, 0x100n, 0x7fffn, 0x8000n, 0xffffn, 0x1_0000n, 4096n, 65_536n],
  ...[0x7fff_ffffn, 0x8000_0000n, 0xffff_ffffn, 0x1_0000_0000n, 2n ** 40n, 2n ** 52n, 2n ** 53n, 2n ** 53n + 1n],
  ...[2n ** 63n - 1n, 2n ** 63n, 2n ** 64n - 1n],
];

function readNumber(input: Buffer, from: number, bytes: number, little: boolean): bigint {
  const slice = Buffer.from(input.subarray(from, from + bytes));
  return BigInt(`0x${(little ? slice.reverse() : slice).toString('hex') || '0'}`);
}

function withNumber(input: Buffer, from: number, bytes: number, little: boolean, value: bigint): Buffer {
  const hex = BigInt.asUintN(bytes * 8, value)
    .toString(16)
    .padStart(bytes * 2, '0');
  const encoded = Buffer.from(hex, 'hex');
  const copy = Buffer.from(input);
  (little ? encoded.reverse() : encoded).copy(copy, from);
  return copy;
}

const replaced = (input: Buffer, from: number, end: number, ...by: readonly Uint8Array[]): Buffer =>
  Buffer.concat([input.subarray(0, from), ...by, input.subarray(end)]);

/** Mutations that need no structure, or only its positions. */
export const byteMutation: fc.Arbitrary<Change> = fc.oneof(
  fc.tuple(place, fc.nat(7)).map(
    ([where, bit]): Change =>
      (input, around) => {
        const copy = Buffer.from(input);
        const position = at(where, input, around);
        if (position < copy.length) copy[position]! ^= 1 << bit;
        return copy;
      },
  ),
  fc.tuple(place, fc.nat(255)).map(
    ([where, value]): Change =>
      (input, around) => {
        const copy = Buffer.from(input);
        const position = at(where, input, around);
        if (position < copy.length) copy[position] = value;
        return copy;
      },
  ),
  fc.tuple(place, width, fc.boolean(), fc.constantFrom(...interesting)).map(
    ([where, bytes, little, value]): Change =>
      (input, around) =>
        withNumber(input, at(where, input, around), bytes, little, value),
  ),
  // Slightly wrong numbers, and numbers derived from the size of the input.
  fc.tuple(place, width, fc.boolean(), fc.integer({ min: -17, max: 17 })).map(
    ([where, bytes, little, step]): Change =>
      (input, around) => {
        const position = at(where, input, around);
        return withNumber(input, position, bytes, little, readNumber(input, position, bytes, little) + BigInt(step));
      },
  ),
  fc.tuple(place, width, fc.boolean(), fc.integer({ min: -2, max: 2 })).map(
    ([where, bytes, little, step]): Change =>
      (input, around) =>
        withNumber(input, at(where, input, around), bytes, little, BigInt(input.length) + BigInt(step)),
  ),
  fc.tuple(place, size).map(
    ([where, length]): Change =>
      (input, around) => {
        const from = at(where, input, around);
        return replaced(input, from, Math.min(input.length, from + length));
      },
  ),
  place.map(
    (where): Change =>
      (input, around) =>
        input.subarray(0, at(where, input, around)),
  ),
  fc.tuple(place, fc.uint8Array({ maxLength: 24 })).map(
    ([where, bytes]): Change =>
      (input, around) => {
        const from = at(where, input, around);
        return replaced(input, from, from, bytes);
      },
  ),
  fc.tuple(place, fc.constantFrom(0, 0x20, 0x30, 0x7f, 0x80, 0xff), size).map(
    ([where, value, length]): Change =>
      (input, around) => {
        const from = at(where, input, around);
        return replaced(input, from, from, Buffer.alloc(length, value));
      },
  ),
  fc.tuple(place, fc.constantFrom(0, 0xff), size).map(
    ([where, value, length]): Change =>
      (input, around) => {
        const from = at(where, input, around);
        return Buffer.from(input).fill(value, from, Math.min(input.length, from + length));
      },
  ),
  fc.tuple(place, place, size).map(
    ([from, to, length]): Change =>
      (input, around) => {
        const [start, target] = [at(from, input, around), at(to, input, around)];
        return replaced(input, target, target, input.subarray(start, start + length));
      },
  ),
  fc.tuple(place, place, size).map(
    ([one, other, length]): Change =>
      (input, around) => {
        const [a, b] = [at(one, input, around), at(other, input, around)];
        const count = Math.min(length, Math.abs(a - b), input.length - Math.max(a, b));
        const copy = Buffer.from(input);
        input.copy(copy, a, b, b + count);
        input.copy(copy, b, a, a + count);
        return copy;
      },
  ),
  fc.tuple(fc.nat(1_000), place, place, size).map(
    ([which, from, to, length]): Change =>
      (input, around) => {
        const other = around.corpus[which % around.corpus.length]!;
        const start = at(from, other, around);
        const target = at(to, input, around);
        return replaced(input, target, Math.min(input.length, target + length), other.subarray(start, start + length));
      },
  ),
);

/** In PEM: the decoded bytes, so that mutations reach the certificate. */
const derMutation: fc.Arbitrary<Change> = fc.tuple(fc.nat(20), byteMutation).map(
  ([which, change]): Change =>
    (input, around) => {
      const blocks = [...input.toString('latin1').matchAll(/-----BEGIN ([^-\n]*)-----([^-]*)-----END [^-\n]*-----/g)];
      const block = blocks[which % blocks.length];
      if (!block) return input;
      const changed = change(Buffer.from(block[2]!, 'base64'), { ...around, anchors: tagsOf });
      const body = changed.toString('base64').replaceAll(/(.{64})/g, '$1\n');
      const text = `-----BEGIN ${block[1]}-----\n${body}\n-----END ${block[1]}-----`;
      return replaced(input, block.index, block.index + block[0].length, Buffer.from(text));
    },
);

/** Positions of DER's tags and lengths. */
function tagsOf(der: Buffer): number[] {
  const found: number[] = [];
  const walk = (from: number, end: number): void => {
    for (let position = from; position + 2 <= end && found.length < 1_000; ) {
      found.push(position, position + 1);
      let length = der[position + 1]!;
      let start = position + 2;
      if (length & 0x80) {
        const bytes = length & 0x7f;
        length = Number(readNumber(der, start, Math.min(bytes, 6), false));
        start += bytes;
      }
      if (der[position]! & 0x20) walk(start, Math.min(end, start + length));
      position = start + length;
    }
  };
  walk(0, der.length);
  return found;
}

const mutations: Record<Kind, fc.Arbitrary<Change>> = {
  bytes: byteMutation,
  protobuf: fc.oneof({ weight: 3, arbitrary: protobufMutation }, byteMutation),
  json: fc.oneof({ weight: 5, arbitrary: jsonMutation }, textMutation, byteMutation),
  yaml: fc.oneof({ weight: 3, arbitrary: yamlMutation }, { weight: 3, arbitrary: textMutation }, byteMutation),
  text: fc.oneof({ weight: 2, arbitrary: textMutation }, byteMutation),
  pem: fc.oneof({ weight: 3, arbitrary: derMutation }, textMutation, byteMutation),
};

/** Draws inputs for a target: a file of the corpus, changed a few times, mostly with corrected checksums. */
export function inputsOf(target: Target, corpus: readonly Buffer[]): fc.Arbitrary<Buffer> {
  const { kind, repair, anchors = () => [] } = target;
  const around: Around = { corpus, anchors };
  // Mostly one change: a document with five mistakes is refused because of the first.
  const many = fc.array(mutations[kind], { minLength: 2, maxLength: 5, size: 'max' });
  const changes = fc.oneof({ weight: 2, arbitrary: fc.tuple(mutations[kind]) }, many);
  const mutated = fc.tuple(fc.nat(corpus.length - 1), changes, fc.nat(9)).map(([entry, list, luck]) => {
    const bytes = (list as readonly Change[]).reduce(
      (input, change) => change(input, around).subarray(0, kind === 'yaml' ? LONGEST_YAML : LONGEST),
      corpus[entry]!,
    );
    return repair && luck > 0 ? repair(bytes) : bytes;
  });
  return kind === 'protobuf' ? fc.oneof({ weight: 3, arbitrary: mutated }, protobufMessage) : mutated;
}
