import { encodeInt } from '../../../src/etcd/protobuf.ts';
import { openVoters } from '../checks/member-view.ts';
import { KvClient, type Target } from './kv-client.ts';
import { put } from './kv-messages.ts';

const mebibyte = 1024 ** 2;

/** Writes a MiB to one key repeatedly until etcd reports NOSPACE. A compaction then frees most of it. */
export async function overwrite(target: Target, times: number): Promise<string | undefined> {
  const kv = new KvClient(target);
  try {
    for (let n = 0; n < times; n++) {
      const failure = await kv.call('KV/Put', put('filler', String(n).padEnd(mebibyte, '.')), 5_000).then(
        () => '',
        (error: Error) => error.message,
      );
      if (/no space|space exceeded/.test(failure)) return failure;
    }
    return undefined;
  } finally {
    kv.close();
  }
}

/** Compacts physically, up to a few revisions ago: readers of the newest ones go on. */
export async function compact(target: Target): Promise<void> {
  const voters = await openVoters(target);
  for (const voter of voters) voter[Symbol.dispose]();
  const revision = Math.min(...voters.map(({ status }) => status.revision)) - 10;
  const kv = new KvClient(target);
  try {
    await kv.call('KV/Compact', Buffer.concat([encodeInt(1, revision), encodeInt(2, 1)]), 30_000);
  } finally {
    kv.close();
  }
}
