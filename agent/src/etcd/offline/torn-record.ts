import { type FieldValue, fieldsOf } from '../protobuf.ts';

/** Bytes. A disk writes a sector as a whole or not at all. */
const SECTOR = 512;

/**
 * Whether a power failure cut this record off: a sector of it was never written, and its checksum is wrong. The log is filled with
 * zeros in advance, so its length alone does not show that.
 *
 * @param offset in the file
 * @param before the checksum of the record before
 */
export const isTorn = (record: Buffer, offset: number, before: number): boolean =>
  hasEmptySector(record, offset) && !isSound(record, before);

function hasEmptySector(record: Buffer, offset: number): boolean {
  for (let at = 0; at < record.length; ) {
    const end = Math.min(record.length, at + SECTOR - ((offset + at) % SECTOR));
    if (record.subarray(at, end).every((byte) => byte === 0)) return true;
    at = end;
  }
  return false;
}

/** A value of zeros has such sectors too. */
function isSound(record: Buffer, before: number): boolean {
  try {
    const fields: Record<number, FieldValue> = Object.fromEntries(fieldsOf(record));
    const { 2: crc, 3: data = new Uint8Array() } = fields;
    return typeof data !== 'bigint' && crc === BigInt(castagnoli(before, data));
  } catch {
    return false;
  }
}

const table = Uint32Array.from({ length: 256 }, (_, byte) => {
  let rest = byte;
  for (let bit = 0; bit < 8; bit++) rest = rest & 1 ? (rest >>> 1) ^ 0x82f63b78 : rest >>> 1;
  return rest;
});

/** Continues a CRC-32C, with which etcd sums up the data of all records. */
function castagnoli(before: number, data: Uint8Array): number {
  let rest = ~before >>> 0;
  for (const byte of data) rest = table[(rest ^ byte) & 255]! ^ (rest >>> 8);
  return ~rest >>> 0;
}
