import { open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fieldsOf, hexId } from './protobuf.ts';

const METADATA_RECORD = 1n;
/** Far more than the records before and the metadata take; the file itself is 64 MiB from the start. */
const HEAD = 64 * 1024;

/**
 * Member and cluster id of a data directory, from the first records of its write-ahead log: frames of a little-endian
 * length and a Record {type = 1, crc = 2, data = 3}; the metadata record's data are {nodeID = 1, clusterID = 2}.
 */
export async function walIdentity(dataDir: string): Promise<{ memberId: string; clusterId: string } | undefined> {
  const directory = join(dataDir, 'member', 'wal');
  const [first] = (await readdir(directory).catch(() => [])).filter((name) => name.endsWith('.wal')).sort();
  if (!first) return undefined;
  const wal = await readHead(join(directory, first));
  for (let at = 0; at + 8 <= wal.length; ) {
    // The frame's highest byte holds how many bytes of padding follow the record.
    const length = wal.readUIntLE(at, 6);
    if (at + 8 + length > wal.length) return undefined;
    const padding = wal[at + 7]! & 0x80 ? wal[at + 7]! & 0x7 : 0;
    const record = Object.fromEntries(fieldsOf(wal.subarray(at + 8, at + 8 + length)));
    if (record[1] === METADATA_RECORD) {
      const ids = Object.fromEntries(fieldsOf(record[3] as Uint8Array));
      return { memberId: hexId(ids[1]!), clusterId: hexId(ids[2]!) };
    }
    if (length === 0) return undefined;
    at += 8 + length + padding;
  }
  return undefined;
}

async function readHead(path: string): Promise<Buffer> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD), 0, HEAD, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}
