import { open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { unlessMissing } from '../../lib/files/directories.ts';
import { bytesOf, fieldsOf, hexId } from '../protobuf.ts';

// Format of the write-ahead log in etcd 3.4 to 3.7: each frame is a little-endian length, whose highest byte holds the
// padding after the record, and a Record {type = 1, crc = 2, data = 3}. A length of zero marks the end of the written
// part.
const METADATA_RECORD = 1n;
/** Bytes, far more than the metadata and the records before it need. A new file already has 64 MiB. */
const HEAD = 64 * 1024;

export interface WalIdentity {
  readonly memberId: string;
  readonly clusterId: string;
}

export const walDirectory = (dataDir: string) => join(dataDir, 'member', 'wal');

/** Returns the names of the log's files, oldest first. Empty if the member has never started. Throws if they cannot be listed. */
export async function walFiles(directory: string): Promise<string[]> {
  return ((await unlessMissing(readdir(directory))) ?? []).filter((name) => name.endsWith('.wal')).sort();
}

/**
 * Reads the member id and the cluster id of a data directory from the first records of its log. The metadata are
 * {nodeID = 1, clusterID = 2}. Undefined if there is no log. Throws a RangeError if they are damaged or missing in it.
 */
export async function walIdentity(
  dataDir: string,
  directory = walDirectory(dataDir),
): Promise<WalIdentity | undefined> {
  const [first] = await walFiles(directory);
  if (!first) return undefined;
  for (const { record } of framesOf(await readAt(join(directory, first), 0, HEAD))) {
    const fields = Object.fromEntries(fieldsOf(record));
    if (fields[1] !== METADATA_RECORD) continue;
    const ids = Object.fromEntries(fieldsOf(bytesOf(fields[3])));
    return { memberId: hexId(ids[1]), clusterId: hexId(ids[2]) };
  }
  throw new RangeError(`${join(directory, first)}: no cluster id in its first records`);
}

/** Yields the complete frames at the beginning of a piece of the log, and where each ends. */
export function* framesOf(wal: Buffer): Generator<{ record: Buffer; end: number }> {
  for (let at = 0; at + 8 <= wal.length; ) {
    const length = wal.readUIntLE(at, 6);
    const padding = wal[at + 7]! & 0x80 ? wal[at + 7]! & 0x7 : 0;
    const end = at + 8 + length + padding;
    if (length === 0 || end > wal.length) return;
    yield { record: wal.subarray(at + 8, at + 8 + length), end };
    at = end;
  }
}

export async function readAt(path: string, at: number, size: number): Promise<Buffer> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(size), 0, size, at);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}
