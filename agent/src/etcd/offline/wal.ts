import { open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fieldsOf, hexId } from '../protobuf.ts';

// The write-ahead log, the same in 3.4 to 3.7: frames of a little-endian length, whose highest byte tells the padding
// behind it, and a Record {type = 1, crc = 2, data = 3}. A length of zero is where nothing was written yet.
const METADATA_RECORD = 1n;
/** Far more than the records before and the metadata take; the file itself is 64 MiB from the start. */
const HEAD = 64 * 1024;

export interface WalIdentity {
  readonly memberId: string;
  readonly clusterId: string;
}

export const walDirectory = (dataDir: string) => join(dataDir, 'member', 'wal');

/** Names of the log's files, oldest first; none: the member never started. */
export async function walFiles(directory: string): Promise<string[]> {
  return (await readdir(directory).catch(() => [])).filter((name) => name.endsWith('.wal')).sort();
}

/** Member and cluster id of a data directory, from the first records of its log; the metadata's are {nodeID = 1, clusterID = 2}. */
export async function walIdentity(
  dataDir: string,
  directory = walDirectory(dataDir),
): Promise<WalIdentity | undefined> {
  const [first] = await walFiles(directory);
  if (!first) return undefined;
  for (const { record } of framesOf(await readAt(join(directory, first), 0, HEAD))) {
    const fields = Object.fromEntries(fieldsOf(record));
    if (fields[1] !== METADATA_RECORD) continue;
    const ids = Object.fromEntries(fieldsOf(fields[3] as Uint8Array));
    return { memberId: hexId(ids[1]!), clusterId: hexId(ids[2]!) };
  }
  return undefined;
}

/** The whole frames at the beginning of a piece of the log, and where each ends. */
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
