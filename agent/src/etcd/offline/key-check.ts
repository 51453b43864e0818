import { type FieldValue, fieldsOf, integer } from '../protobuf.ts';

/** Of a key in the bucket `key`: a revision, `_`, and the number within its transaction. */
const LENGTH = 17;
const UNDERSCORE = 0x5f;
const TOMBSTONE = 0x74;

/** The revision that an entry lies under, or that a compaction's mark holds. */
export const revisionOf = (bytes: Buffer): number => (bytes.length < 8 ? 0 : Number(bytes.readBigInt64BE()));

/**
 * What is wrong with an entry of the bucket `key`: the revision that it lies under, and a KeyValue {key = 1,
 * create_revision = 2, mod_revision = 3, version = 4, value = 5, lease = 6}. etcd serves what it finds there.
 */
export function keyDamage(key: Buffer, value: Buffer): string | undefined {
  const isTombstone = key.length === LENGTH + 1 && key[LENGTH] === TOMBSTONE;
  const revision = revisionOf(key);
  if ((key.length !== LENGTH && !isTombstone) || key[8] !== UNDERSCORE || revision < 1) {
    return 'it has a key that lies under no revision';
  }
  // `etcdutl snapshot restore --bump-revision` puts this under the revision that it jumps to.
  if (value.length === 0) return undefined;
  const where = `its entry of revision ${revision}`;
  const fields = parse(value);
  if (!fields) return `${where} is no key and value`;
  if (!(fields[1] instanceof Uint8Array) || fields[1].length === 0) return `${where} has an empty key`;
  if (isTombstone) return undefined;
  const [created, modified, version] = [numberOf(fields[2]), numberOf(fields[3]), numberOf(fields[4])];
  if (modified !== revision) return `${where} says that it is of revision ${modified}`;
  if (created < 1 || created > modified) return `${where} says that it was created in revision ${created}`;
  if (version < 1) return `${where} says that it is version ${version} of its key`;
  return undefined;
}

const numberOf = (value: FieldValue | undefined) => (typeof value === 'bigint' ? integer(value) : 0);

function parse(value: Buffer): Record<number, FieldValue> | undefined {
  try {
    return Object.fromEntries(fieldsOf(value));
  } catch {
    return undefined;
  }
}
