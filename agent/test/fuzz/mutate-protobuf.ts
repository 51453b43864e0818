import fc from 'fast-check';
import type { Around, Change } from './mutate.ts';

/** A field. The length of `bytes` is set when the field is encoded. */
interface Field {
  readonly number: number;
  readonly wire: 0 | 1 | 2 | 5;
  readonly value: bigint;
  readonly bytes: Buffer;
}

function varint(value: bigint): Buffer {
  const bytes: number[] = [];
  let rest = BigInt.asUintN(64, value);
  for (; rest > 127n; rest >>= 7n) bytes.push(Number(rest & 127n) | 128);
  return Buffer.from([...bytes, Number(rest)]);
}

const encode = (fields: readonly Field[]): Buffer =>
  Buffer.concat(
    fields.flatMap(({ number, wire, value, bytes }) => [
      varint((BigInt(number) << 3n) | BigInt(wire)),
      ...(wire === 0 ? [varint(value)] : wire === 2 ? [varint(BigInt(bytes.length)), bytes] : [fixed(bytes, wire)]),
    ]),
  );

const fixed = (bytes: Buffer, wire: 1 | 5): Buffer => {
  const all = Buffer.alloc(wire === 1 ? 8 : 4);
  bytes.copy(all);
  return all;
};

/** Returns undefined if the bytes are not a message. A separate decoder, because the agent's decoder is under test. */
function decode(message: Buffer): Field[] | undefined {
  const fields: Field[] = [];
  let at = 0;
  const number = (): bigint | undefined => {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = message[at++];
      if (byte === undefined) return undefined;
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) return value;
    }
    return undefined;
  };
  while (at < message.length) {
    const tag = number();
    if (tag === undefined || tag >> 3n === 0n || tag >> 3n > 1_000n) return undefined;
    const wire = Number(tag & 7n) as Field['wire'];
    if (![0, 1, 2, 5].includes(wire)) return undefined;
    const value = wire === 0 || wire === 2 ? number() : wire === 1 ? 8n : 4n;
    if (value === undefined) return undefined;
    const length = wire === 0 ? 0 : Number(value);
    if (at + length > message.length) return undefined;
    fields.push({ number: Number(tag >> 3n), wire, value, bytes: message.subarray(at, at + length) });
    at += length;
  }
  return fields;
}

const value = fc.oneof(
  fc.bigInt(0n, 2n ** 64n - 1n),
  fc.constantFrom(0n, 1n, 2n ** 31n, 2n ** 32n, 2n ** 53n, 2n ** 63n - 1n, 2n ** 63n, 2n ** 64n - 1n),
);
const wire = fc.constantFrom<Field['wire'][]>(0, 1, 2, 5);
const number = fc.oneof(
  { weight: 9, arbitrary: fc.integer({ min: 1, max: 15 }) },
  fc.integer({ min: 1, max: 2 ** 29 - 1 }),
);

/** A random message: fields of any number and type, with nested messages. */
export const protobufMessage: fc.Arbitrary<Buffer> = fc.letrec<{ message: Buffer; field: Field }>((tie) => ({
  message: fc.array(tie('field'), { maxLength: 8 }).map(encode),
  field: fc.record({
    number,
    wire,
    value,
    bytes: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)),
      tie('message'),
    ),
  }),
})).message;

type Edit = (fields: readonly Field[], which: number) => readonly Field[];

const edit: fc.Arbitrary<Edit> = fc.oneof(
  fc.constant<Edit>((fields, which) => fields.toSpliced(which, 1)),
  fc.constant<Edit>((fields, which) => fields.toSpliced(which, 0, fields[which]!)),
  value.map(
    (to): Edit =>
      (fields, which) =>
        fields.with(which, { ...fields[which]!, value: to }),
  ),
  number.map(
    (to): Edit =>
      (fields, which) =>
        fields.with(which, { ...fields[which]!, number: to }),
  ),
  wire.map(
    (to): Edit =>
      (fields, which) =>
        fields.with(which, { ...fields[which]!, wire: to }),
  ),
  fc.uint8Array({ maxLength: 40 }).map(
    (to): Edit =>
      (fields, which) =>
        fields.with(which, { ...fields[which]!, bytes: Buffer.from(to) }),
  ),
  fc.nat(60).map(
    (length): Edit =>
      (fields, which) =>
        fields.with(which, { ...fields[which]!, bytes: fields[which]!.bytes.subarray(0, length) }),
  ),
  fc.constant<Edit>((fields, which) => fields.with(which, { ...fields[which]!, bytes: encode(fields) })),
);

/** Changes one field, here or in a nested message, and keeps the message well-formed. */
export const protobufMutation: fc.Arbitrary<Change> = fc
  .tuple(fc.array(fc.nat(40), { minLength: 1, maxLength: 3 }), edit)
  .map(([path, change]): Change => {
    const inside = (message: Buffer, depth: number): Buffer => {
      const fields = decode(message);
      if (!fields || fields.length === 0) return message;
      const which = path[depth]! % fields.length;
      const { wire: type, bytes } = fields[which]!;
      const isInner = depth + 1 < path.length && type === 2 && (decode(bytes)?.length ?? 0) > 0;
      return encode(
        isInner ? fields.with(which, { ...fields[which]!, bytes: inside(bytes, depth + 1) }) : change(fields, which),
      );
    };
    return (input: Buffer, _: Around) => inside(input, 0);
  });
