import { randomBytes } from 'node:crypto';
import type { EtcdClient } from '../harness/etcd-client.ts';

const MIB = 1024 * 1024;
const text = Buffer.from('{"kind":"Pod","metadata":{"labels":{"app":"orders"}}}'.repeat(MIB)).subarray(0, MIB / 2);

/** Puts values of 1 MiB each, half of it random, half text that compresses well. */
export async function fill(etcd: EtcdClient, from: number, to: number): Promise<void> {
  const client = await etcd.connect();
  let next = from;
  const writer = async () => {
    while (next < to) await client.put(`key-${next++}`).value(Buffer.concat([randomBytes(MIB / 2), text]));
  };
  try {
    await Promise.all(Array.from({ length: 4 }, writer));
  } finally {
    client.close();
  }
}
