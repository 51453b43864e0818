import { readdir } from 'node:fs/promises';
import { join } from 'node:path';

/** Raft index of the newest snapshot of a data directory: its name is `<term>-<index>.snap`, in hex. Undefined: there is none. */
export async function snapIndex(etcdDir: string): Promise<number | undefined> {
  const names = await readdir(join(etcdDir, 'member', 'snap')).catch(() => []);
  const indexes = names.flatMap((name) => {
    const [, index] = /^[0-9a-f]{16}-([0-9a-f]{16})\.snap$/.exec(name) ?? [];
    return index === undefined ? [] : [Number(BigInt(`0x${index}`))];
  });
  return indexes.length > 0 ? Math.max(...indexes) : undefined;
}
