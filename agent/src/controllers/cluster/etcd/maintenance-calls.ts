import type { CallOptions, GrpcChannel } from '../../../etcd/grpc.ts';
import { encodeBytes, encodeInt, fieldsOf, hexId, idOf } from '../../../etcd/protobuf.ts';
import { messageOf } from '../../../lib/errors.ts';
import type { Alarm } from '../observed.ts';

const alarmNumbers = { NoSpace: 1, Corrupt: 2 } as const;
const deactivate = 2;
const nothing = new Uint8Array();

/** Goes through raft, so it needs a quorum. */
export async function alarms(channel: GrpcChannel, options: CallOptions): Promise<Alarm[]> {
  const answer = await channel.unary('Maintenance/Alarm', nothing, options);
  return [...fieldsOf(answer)].flatMap(([field, value]) => (field === 2 ? alarmOf(value as Uint8Array) : []));
}

function alarmOf(message: Uint8Array): Alarm[] {
  let memberId = '0';
  let number = 0;
  for (const [field, value] of fieldsOf(message)) {
    if (field === 1) memberId = hexId(value);
    if (field === 2) number = Number(value);
  }
  const types = Object.keys(alarmNumbers) as Alarm['type'][];
  return types.filter((type) => alarmNumbers[type] === number).map((type) => ({ memberId, type }));
}

export async function disarm(channel: GrpcChannel, { memberId, type }: Alarm, options: CallOptions): Promise<void> {
  const fields = [encodeInt(1, deactivate), encodeInt(2, idOf(memberId)), encodeInt(3, alarmNumbers[type])];
  await channel.unary('Maintenance/Alarm', Buffer.concat(fields), options);
}

/** Resolves when the space is free for a defragmentation, on this member. */
export async function compact(channel: GrpcChannel, revision: number, options: CallOptions): Promise<void> {
  const physical = encodeInt(2, 1);
  await channel.unary('KV/Compact', Buffer.concat([encodeInt(1, revision), physical]), options);
}

export async function defragment(channel: GrpcChannel, options: CallOptions): Promise<void> {
  await channel.unary('Maintenance/Defragment', nothing, options);
}

export async function moveLeader(channel: GrpcChannel, to: string, options: CallOptions): Promise<void> {
  await channel.unary('Maintenance/MoveLeader', encodeInt(1, idOf(to)), options);
}

const anyKey = encodeBytes(1, 'health');
const countOnly = encodeInt(9, 1);

/** A linearizable read: it succeeds only where a quorum answers, and the member has applied all that was committed. */
export async function confirmQuorum(channel: GrpcChannel, options: CallOptions): Promise<void> {
  try {
    await channel.unary('KV/Range', Buffer.concat([anyKey, countOnly]), options);
  } catch (error) {
    // A CORRUPT alarm forbids the read itself, after the quorum has been asked.
    if (!/corrupt cluster/.test(messageOf(error))) throw error;
  }
}

/** The compact revision is this one or newer: what came before it cannot be read any more. */
export async function isCompactedAt(channel: GrpcChannel, revision: number, options: CallOptions): Promise<boolean> {
  // etcd reads revision 0 as the newest, and nothing lies before 1.
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

export async function leaseGrant(channel: GrpcChannel, ttl: number, options: CallOptions): Promise<bigint> {
  const answer = await channel.unary('Lease/LeaseGrant', encodeInt(1, ttl), options);
  for (const [field, value] of fieldsOf(answer)) if (field === 2) return value as bigint;
  throw new Error('etcd granted a lease without an id');
}

export async function leaseRevoke(channel: GrpcChannel, id: bigint, options: CallOptions): Promise<void> {
  await channel.unary('Lease/LeaseRevoke', encodeInt(1, id), options);
}
