import { type FieldValue, fieldsOf, integer } from '../protobuf.ts';

/** Size in bytes of a key in the bucket `key`: a revision, `_`, and the number within the transaction. */
const LENGTH = 17;
const UNDERSCORE = 0x5f;
const TOMBSTONE = 0x74;

/** Reads the revision from the key of an entry or from the value of a compaction marker. */
export const revisionOf = (bytes: Buffer): number => (bytes.length < 8 ? 0 : Number(bytes.readBigInt64BE()));

/**
 * Returns what is wrong with an entry of the bucket `key`, or undefined. Its key is a revision, its value is a KeyValue
 * {key = 1, create_revision = 2, mod_revision = 3, version = 4, value = 5, lease = 6}. etcd serves these values unchecked.
 */
export function keyDamage(key: Buffer, value: Buffer): string | undefined {
  const isTombstone = key.length === LENGTH + 1 && key[LENGTH] === TOMBSTONE;
  const revision = revisionOf(key);
  if ((key.length !== LENGTH && !isTombstone) || key[8] !== UNDERSCORE || revision < 1) {
    return 'it has a key without a valid revision';
  }
  // `etcdutl snapshot restore --bump-revision` writes an empty value at the new revision.
  if (value.length === 0) return undefined;
  const where = `its entry of revision ${revision}`;
  const fields = parse(value);
  if (!fields) return `${where} is not a key with a value`;
  if (!(fields[1] instanceof Uint8Array) || fields[1].length === 0) return `${where} has an empty key`;
  if (isTombstone) return undefined;
  const [created, modified, version] = [numberOf(fields[2]), numberOf(fields[3]), numberOf(fields[4])];
  if (modified !== revision) return `${where} claims to be of revision ${modified}`;
  if (created < 1 || created > modified) return `${where} claims to have been created at revision ${created}`;
  if (version < 1) return `${where} claims to be version ${version} of its key`;
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
