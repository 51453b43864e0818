import type { GrpcCallOptions, GrpcChannel } from './grpc.ts';
import { header, readAnswer } from './maintenance.ts';
import { bytesOf, encodeInt, fieldsOf, hexId, numberOf, text } from './protobuf.ts';

/** A member as etcd lists it. */
export interface ListedMember {
  id: string;
  name: string;
  peerUrls: string[];
  clientUrls: string[];
  isLearner: boolean;
}

/** Lists the members: the member's own view, or that of a quorum, which 3.4 never asks. */
export async function memberList(
  channel: GrpcChannel,
  isLinearizable: boolean,
  options: GrpcCallOptions,
): Promise<{ clusterId: string; members: ListedMember[] }> {
  const method = 'Cluster/MemberList';
  const answer = await channel.unary(method, encodeInt(1, isLinearizable ? 1 : 0), options);
  return readAnswer(channel, method, () => {
    let clusterId = '';
    const members: ListedMember[] = [];
    for (const [field, value] of fieldsOf(answer)) {
      if (field === 1) clusterId = header(bytesOf(value)).clusterId;
      if (field === 2) members.push(memberOf(bytesOf(value)));
    }
    return { clusterId, members };
  });
}

function memberOf(message: Uint8Array): ListedMember {
  const member: ListedMember = { id: '', name: '', peerUrls: [], clientUrls: [], isLearner: false };
  for (const [field, value] of fieldsOf(message)) {
    if (field === 1) member.id = hexId(value);
    if (field === 2) member.name = text(value);
    if (field === 3) member.peerUrls.push(text(value));
    if (field === 4) member.clientUrls.push(text(value));
    if (field === 5) member.isLearner = numberOf(value) !== 0n;
  }
  return member;
}
