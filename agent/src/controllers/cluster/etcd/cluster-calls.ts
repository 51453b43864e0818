import type { CallOptions, GrpcChannel } from '../../../etcd/grpc.ts';
import { header } from '../../../etcd/maintenance.ts';
import { encodeBytes, encodeInt, fieldsOf, hexId, idOf, text } from '../../../etcd/protobuf.ts';
import type { Member } from '../observed.ts';

/** Lists the members. On 3.4 the response is the member's own view; newer versions ask a quorum first. */
export async function memberList(
  channel: GrpcChannel,
  options: CallOptions,
): Promise<{ clusterId: string; members: Member[] }> {
  const linearizable = encodeInt(1, 1);
  const answer = await channel.unary('Cluster/MemberList', linearizable, options);
  let clusterId = '';
  const members: Member[] = [];
  for (const [field, value] of fieldsOf(answer)) {
    if (field === 1) clusterId = header(value as Uint8Array).clusterId;
    if (field === 2) members.push(memberOf(value as Uint8Array));
  }
  return { clusterId, members };
}

function memberOf(message: Uint8Array): Member {
  const member: Member = { id: '', name: '', peerUrl: '', isLearner: false };
  for (const [field, value] of fieldsOf(message)) {
    if (field === 1) member.id = hexId(value);
    if (field === 2) member.name = text(value);
    if (field === 3) member.peerUrl ||= text(value);
    if (field === 5) member.isLearner = value !== 0n;
  }
  return member;
}

export async function memberAddLearner(channel: GrpcChannel, peerUrl: string, options: CallOptions): Promise<void> {
  const learner = encodeInt(2, 1);
  await channel.unary('Cluster/MemberAdd', Buffer.concat([encodeBytes(1, peerUrl), learner]), options);
}

export async function memberRemove(channel: GrpcChannel, memberId: string, options: CallOptions): Promise<void> {
  await channel.unary('Cluster/MemberRemove', encodeInt(1, idOf(memberId)), options);
}

export async function memberPromote(channel: GrpcChannel, memberId: string, options: CallOptions): Promise<void> {
  await channel.unary('Cluster/MemberPromote', encodeInt(1, idOf(memberId)), options);
}
