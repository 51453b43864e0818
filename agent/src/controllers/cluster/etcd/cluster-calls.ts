import type { CallOptions, GrpcChannel } from '../../../etcd/grpc.ts';
import { header, readAnswer } from '../../../etcd/maintenance.ts';
import { bytesOf, encodeBytes, encodeInt, fieldsOf, hexId, idOf, numberOf, text } from '../../../etcd/protobuf.ts';
import type { Member } from '../observed.ts';

/** Lists the members. On 3.4 the response is the member's own view; newer versions ask a quorum first. */
export async function memberList(
  channel: GrpcChannel,
  options: CallOptions,
): Promise<{ clusterId: string; members: Member[] }> {
  const linearizable = encodeInt(1, 1);
  const answer = await channel.unary('Cluster/MemberList', linearizable, options);
  return readAnswer(channel, 'Cluster/MemberList', () => {
    let clusterId = '';
    const members: Member[] = [];
    for (const [field, value] of fieldsOf(answer)) {
      if (field === 1) clusterId = header(bytesOf(value)).clusterId;
      if (field === 2) members.push(memberOf(bytesOf(value)));
    }
    return { clusterId, members };
  });
}

function memberOf(message: Uint8Array): Member {
  const peerUrls: string[] = [];
  const member: Member = { id: '', name: '', peerUrls, isLearner: false };
  for (const [field, value] of fieldsOf(message)) {
    if (field === 1) member.id = hexId(value);
    if (field === 2) member.name = text(value);
    if (field === 3) peerUrls.push(text(value));
    if (field === 5) member.isLearner = numberOf(value) !== 0n;
  }
  return member;
}

export async function memberAddLearner(
  channel: GrpcChannel,
  peerUrls: readonly string[],
  options: CallOptions,
): Promise<void> {
  const urls = peerUrls.map((url) => encodeBytes(1, url));
  const learner = encodeInt(2, 1);
  await channel.unary('Cluster/MemberAdd', Buffer.concat([...urls, learner]), options);
}

/** Replaces the peer URLs of a member. */
export async function memberUpdate(
  channel: GrpcChannel,
  memberId: string,
  peerUrls: readonly string[],
  options: CallOptions,
): Promise<void> {
  const urls = peerUrls.map((url) => encodeBytes(2, url));
  await channel.unary('Cluster/MemberUpdate', Buffer.concat([encodeInt(1, idOf(memberId)), ...urls]), options);
}

export async function memberRemove(channel: GrpcChannel, memberId: string, options: CallOptions): Promise<void> {
  await channel.unary('Cluster/MemberRemove', encodeInt(1, idOf(memberId)), options);
}

export async function memberPromote(channel: GrpcChannel, memberId: string, options: CallOptions): Promise<void> {
  await channel.unary('Cluster/MemberPromote', encodeInt(1, idOf(memberId)), options);
}
