import type { GrpcCallOptions, GrpcChannel } from './grpc.ts';
import { readAnswer } from './maintenance.ts';
import { bytesOf, encodeInt, fieldsOf, hexId, idOf, integer } from './protobuf.ts';

const alarmNumbers = { NoSpace: 1, Corrupt: 2 } as const;
const deactivate = 2;
const nothing = new Uint8Array();

export interface RaisedAlarm {
  readonly memberId: string;
  readonly type: keyof typeof alarmNumbers;
}

/** Lists the alarms. Needs a quorum, because the request goes through raft. */
export async function alarms(channel: GrpcChannel, options: GrpcCallOptions): Promise<RaisedAlarm[]> {
  const answer = await channel.unary('Maintenance/Alarm', nothing, options);
  return readAnswer(channel, 'Maintenance/Alarm', () =>
    [...fieldsOf(answer)].flatMap(([field, value]) => (field === 2 ? alarmOf(bytesOf(value)) : [])),
  );
}

function alarmOf(message: Uint8Array): RaisedAlarm[] {
  let memberId = '0';
  let number = 0;
  for (const [field, value] of fieldsOf(message)) {
    if (field === 1) memberId = hexId(value);
    if (field === 2) number = integer(value);
  }
  const types = Object.keys(alarmNumbers) as RaisedAlarm['type'][];
  return types.filter((type) => alarmNumbers[type] === number).map((type) => ({ memberId, type }));
}

export async function disarm(
  channel: GrpcChannel,
  { memberId, type }: RaisedAlarm,
  options: GrpcCallOptions,
): Promise<void> {
  const fields = [encodeInt(1, deactivate), encodeInt(2, idOf(memberId)), encodeInt(3, alarmNumbers[type])];
  await channel.unary('Maintenance/Alarm', Buffer.concat(fields), options);
}

export async function defragment(channel: GrpcChannel, options: GrpcCallOptions): Promise<void> {
  await channel.unary('Maintenance/Defragment', nothing, options);
}
