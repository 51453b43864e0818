import type { GrpcCallOptions, GrpcChannel } from '../../etcd/grpc.ts';
import { readAnswer } from '../../etcd/maintenance.ts';
import { encodeBytes, encodeInt, fieldsOf, idOf, numberOf } from '../../etcd/protobuf.ts';
import { messageOf } from '../../lib/errors.ts';

export { alarms, defragment, disarm } from '../../etcd/alarms.ts';

/** Compacts physically. Resolves when this member can reclaim the space by a defragmentation. */
export async function compact(channel: GrpcChannel, revision: number, options: GrpcCallOptions): Promise<void> {
  const physical = encodeInt(2, 1);
  await channel.unary('KV/Compact', Buffer.concat([encodeInt(1, revision), physical]), options);
}

export async function moveLeader(channel: GrpcChannel, to: string, options: GrpcCallOptions): Promise<void> {
  await channel.unary('Maintenance/MoveLeader', encodeInt(1, idOf(to)), options);
}

const anyKey = encodeBytes(1, 'health');
const countOnly = encodeInt(9, 1);

/** Performs a linearizable read, which succeeds only with a quorum and after the member has applied all committed entries. */
export async function confirmQuorum(channel: GrpcChannel, options: GrpcCallOptions): Promise<void> {
  try {
    await channel.unary('KV/Range', Buffer.concat([anyKey, countOnly]), options);
  } catch (error) {
    // With a CORRUPT alarm etcd refuses the read, but only after the quorum has answered.
    if (!/corrupt cluster/.test(messageOf(error))) throw error;
  }
}

/** Returns true if the compact revision is at least this one, so that the revision before it cannot be read. */
export async function isCompactedAt(
  channel: GrpcChannel,
  revision: number,
  options: GrpcCallOptions,
): Promise<boolean> {
  // Revision 0 means the newest one, and there is none before 1.
  if (revision <= 1) return false;
  const serializable = encodeInt(7, 1);
  try {
    await channel.unary(
      'KV/Range',
      Buffer.concat([anyKey, encodeInt(4, revision - 1), serializable, countOnly]),
      options,
    );
    return false;
  } catch (error) {
    if (/has been compacted/.test(messageOf(error))) return true;
    throw error;
  }
}

export async function leaseGrant(channel: GrpcChannel, ttl: number, options: GrpcCallOptions): Promise<bigint> {
  const answer = await channel.unary('Lease/LeaseGrant', encodeInt(1, ttl), options);
  return readAnswer(channel, 'Lease/LeaseGrant', () => {
    for (const [field, value] of fieldsOf(answer)) if (field === 2) return numberOf(value);
    throw new Error('etcd granted a lease without an id');
  });
}

export async function leaseRevoke(channel: GrpcChannel, id: bigint, options: GrpcCallOptions): Promise<void> {
  await channel.unary('Lease/LeaseRevoke', encodeInt(1, id), options);
}

/** Number of concurrent pairs. Raft batches them, and a small number leaves room for the writes of clients. */
const workers = 8;

/** Grants and revokes a lease `pairs` times: two raft entries each. Stops at the first failure; remaining leases expire. */
export async function leaseChurn(pairs: number, pair: () => Promise<void>): Promise<void> {
  let left = pairs;
  const worker = async (): Promise<void> => {
    while (left-- > 0) {
      await pair().catch((error) => {
        left = 0;
        throw error;
      });
    }
  };
  await Promise.all(Array.from({ length: Math.min(workers, pairs) }, worker));
}
