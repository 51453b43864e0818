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
