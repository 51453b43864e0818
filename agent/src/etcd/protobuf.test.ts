import fc from 'fast-check';
import { encodeInt, fieldsOf, hexId, integer, text } from './protobuf.ts';

const read = (...bytes: number[]) => [...fieldsOf(Uint8Array.from(bytes))];

test('an integer is decoded as it was encoded', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 2 ** 28 }), fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n), (field, value) => {
      const fields = [...fieldsOf(encodeInt(field, value))];
      expect(fields).toEqual(value === 0n ? [] : [[field, BigInt.asUintN(64, value)]]);
    }),
    { seed: 1 },
  );
});

test('numbers are read as signed numbers or as ids', () => {
  const [[, value]] = [...fieldsOf(encodeInt(3, -1))] as [[number, bigint]];

  expect(integer(value)).toBe(-1);
  expect(hexId(value)).toBe('ffffffffffffffff');
  expect(hexId(0x0a0bn)).toBe('a0b');
});

test('fields of every wire type are distinguished, and unknown ones skipped', () => {
  const fields = read(0x08, 0x96, 0x01, 0x12, 2, 0x68, 0x69, 0x19, 1, 2, 3, 4, 5, 6, 7, 8, 0x25, 9, 9, 9, 9);

  expect(fields.map(([field]) => field)).toEqual([1, 2, 3, 4]);
  expect(fields[0]![1]).toBe(150n);
  expect(text(fields[1]![1])).toBe('hi');
  expect(fields[2]![1]).toEqual(Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8));
});

test('an empty message has no fields', () => {
  expect(read()).toEqual([]);
});

test.each([
  ['within a number', [0x08, 0x96]],
  ['after a tag', [0x08]],
  ['within bytes', [0x12, 5, 1]],
  ['within eight bytes', [0x19, 1, 2, 3]],
  ['with a length beyond everything', [0x12, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f]],
  ['with a number of more than 64 bits', [0x08, ...Array(11).fill(0xff)]],
  ['in a group', [0x0b, 0x0c]],
  ['in a field of no number', [0x02, 1, 1]],
])('a message that ends %s is refused', (_name, bytes) => {
  expect(() => read(...bytes)).toThrow(RangeError);
});

test('random bytes never cause an endless loop or another error', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      try {
        for (const [, value] of fieldsOf(bytes)) if (typeof value !== 'bigint') expect(value.length).toBeLessThan(201);
      } catch (error) {
        expect(error).toBeInstanceOf(RangeError);
      }
    }),
    { seed: 1 },
  );
});
