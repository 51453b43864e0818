/** Value of a protobuf field: numbers as bigint, everything else as bytes. */
export type FieldValue = bigint | Uint8Array;

function varint(value: bigint): number[] {
  const bytes: number[] = [];
  let rest = BigInt.asUintN(64, value);
  while (rest > 127n) {
    bytes.push(Number(rest & 127n) | 128);
    rest >>= 7n;
  }
  return [...bytes, Number(rest)];
}

/** Encodes one integer field. As in proto3, a zero is omitted. */
export function encodeInt(field: number, value: bigint | number): Uint8Array {
  const wide = BigInt(value);
  return wide === 0n ? new Uint8Array() : Uint8Array.from([...varint(BigInt(field << 3)), ...varint(wide)]);
}

/** Encodes one field of bytes or text. */
export function encodeBytes(field: number, value: Uint8Array | string): Uint8Array {
  const bytes = Buffer.from(value);
  return Buffer.concat([
    Uint8Array.from([...varint(BigInt((field << 3) | 2)), ...varint(BigInt(bytes.length))]),
    bytes,
  ]);
}

/** Yields the fields of a message. Throws a RangeError if the message is malformed. */
export function* fieldsOf(message: Uint8Array): Generator<[number: number, value: FieldValue]> {
  let at = 0;
  const readVarint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = message[at++];
      if (byte === undefined) throw new RangeError('message ends within a number');
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) return value;
    }
    throw new RangeError('number of more than 64 bits');
  };
  const readBytes = (length: number): Uint8Array => {
    if (at + length > message.length) throw new RangeError('message ends within a field');
    at += length;
    return message.subarray(at - length, at);
  };
  while (at < message.length) {
    const tag = Number(readVarint());
    const field = tag >>> 3;
    if (field === 0) throw new RangeError('no field has the number 0');
    switch (tag & 7) {
      case 0:
        yield [field, readVarint()];
        break;
      case 1:
        yield [field, readBytes(8)];
        break;
      case 2:
        yield [field, readBytes(Number(readVarint()))];
        break;
      case 5:
        yield [field, readBytes(4)];
        break;
      default:
        throw new RangeError(`unknown wire type ${tag & 7}`);
    }
  }
}

/** A message inside a message. Like the functions below, throws a RangeError for a field of another type. */
export function bytesOf(value: FieldValue | undefined): Uint8Array {
  if (value instanceof Uint8Array) return value;
  throw new RangeError(`a field ${value === undefined ? 'is missing' : 'holds a number, not bytes'}`);
}

export function numberOf(value: FieldValue | undefined): bigint {
  if (typeof value === 'bigint') return value;
  throw new RangeError(`a field ${value === undefined ? 'is missing' : 'holds bytes, not a number'}`);
}

export const text = (value: FieldValue): string => Buffer.from(bytesOf(value)).toString('utf8');
/** A signed or unsigned number that fits a double: sizes, revisions, raft indexes. */
export const integer = (value: FieldValue): number => Number(BigInt.asIntN(64, numberOf(value)));
/** A 64-bit id in hex, as etcdctl prints it. */
export const hexId = (value: FieldValue | undefined): string => numberOf(value).toString(16);
export const idOf = (hex: string): bigint => BigInt(`0x${hex}`);
