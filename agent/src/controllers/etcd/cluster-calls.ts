import type { GrpcCallOptions, GrpcChannel } from '../../etcd/grpc.ts';
import { memberList as list } from '../../etcd/member-list.ts';
import { encodeBytes, encodeInt, idOf } from '../../etcd/protobuf.ts';
import type { Member } from '../port/observed.ts';

/** Lists the members. On 3.4 the response is the member's own view; newer versions ask a quorum first. */
export async function memberList(
  channel: GrpcChannel,
  options: GrpcCallOptions,
): Promise<{ clusterId: string; members: Member[] }> {
  const { clusterId, members } = await list(channel, true, options);
  return { clusterId, members: members.map(({ clientUrls: _, ...member }) => member) };
}

export async function memberAddLearner(
  channel: GrpcChannel,
  peerUrls: readonly string[],
  options: GrpcCallOptions,
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
  options: GrpcCallOptions,
): Promise<void> {
  const urls = peerUrls.map((url) => encodeBytes(2, url));
  await channel.unary('Cluster/MemberUpdate', Buffer.concat([encodeInt(1, idOf(memberId)), ...urls]), options);
}

export async function memberRemove(channel: GrpcChannel, memberId: string, options: GrpcCallOptions): Promise<void> {
  await channel.unary('Cluster/MemberRemove', encodeInt(1, idOf(memberId)), options);
}

export async function memberPromote(channel: GrpcChannel, memberId: string, options: GrpcCallOptions): Promise<void> {
  await channel.unary('Cluster/MemberPromote', encodeInt(1, idOf(memberId)), options);
}
