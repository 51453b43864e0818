import { AgentError, ExitCode } from '../lib/errors.ts';
import type { GrpcCallOptions, GrpcChannel } from './grpc.ts';
import { bytesOf, encodeInt, fieldsOf, hexId, integer, numberOf, text } from './protobuf.ts';

/** Response of a member to Maintenance.Status, including the fields that etcd 3.6 added. */
export interface StatusResponse {
  readonly clusterId: string;
  readonly memberId: string;
  readonly revision: number;
  readonly version: string;
  /** Size of the backend in bytes, including free pages. */
  readonly dbSize: number;
  readonly dbSizeInUse: number;
  /** Member id of the leader. `0` if the member does not know one. */
  readonly leader: string;
  readonly raftIndex: number;
  readonly raftTerm: number;
  readonly raftAppliedIndex: number;
  readonly errors: readonly string[];
  readonly isLearner: boolean;
  /** etcd 3.6 and newer. */
  readonly storageVersion?: string;
  /** Quota of the backend in bytes. Only etcd 3.6 and newer. */
  readonly dbSizeQuota?: number;
  /** Whether a downgrade is in progress. Only etcd 3.6 and newer. */
  readonly downgradeEnabled?: boolean;
}

export interface MemberAlarm {
  readonly memberId: string;
  readonly type: string;
}

/**
 * Returns the alarms of all members that the answering member knows of. Every member keeps them in its database and says them in
 * its status, also without quorum. Listing them is a write to the log, which may fail while everything else works.
 */
export const alarmsIn = ({ errors }: Pick<StatusResponse, 'errors'>): MemberAlarm[] =>
  errors.flatMap((error) => {
    const type = /\balarm:\s*(\w+)/.exec(error)?.[1];
    const memberId = /\bmemberID:\s*(\d+)/.exec(error)?.[1] ?? '0';
    return type === undefined ? [] : [{ memberId: BigInt(memberId).toString(16), type: type.toUpperCase() }];
  });

export interface HashKVAnswer {
  readonly hash: number;
  /** −1 if the member was never compacted. */
  readonly compactRevision: number;
}

/** Reads an answer. A malformed one shows that the server is not etcd, or is broken. */
export function readAnswer<T>({ endpoint }: GrpcChannel, method: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new AgentError(
      ExitCode.etcdUnavailable,
      `etcd at ${endpoint} returned a malformed response to ${method} (${error.message}); check the endpoint`,
      { cause: error },
    );
  }
}

/** Throws a RangeError if the message is malformed. */
export function header(message: Uint8Array): { clusterId: string; memberId: string; revision: number } {
  const found = { clusterId: '0', memberId: '0', revision: 0 };
  for (const [field, value] of fieldsOf(message)) {
    if (field === 1) found.clusterId = hexId(value);
    if (field === 2) found.memberId = hexId(value);
    if (field === 3) found.revision = integer(value);
  }
  return found;
}

export async function status(channel: GrpcChannel, options: GrpcCallOptions): Promise<StatusResponse> {
  const answer = await channel.unary('Maintenance/Status', new Uint8Array(), options);
  return readAnswer(channel, 'Maintenance/Status', () => statusIn(answer));
}

function statusIn(answer: Uint8Array): StatusResponse {
  let head = { clusterId: '0', memberId: '0', revision: 0 };
  const found = {
    version: '',
    dbSize: 0,
    leader: '0',
    raftIndex: 0,
    raftTerm: 0,
    raftAppliedIndex: 0,
    errors: [] as string[],
    dbSizeInUse: 0,
    isLearner: false,
    storageVersion: undefined as string | undefined,
    dbSizeQuota: undefined as number | undefined,
    downgradeEnabled: undefined as boolean | undefined,
  };
  for (const [field, value] of fieldsOf(answer)) {
    if (field === 1) head = header(bytesOf(value));
    if (field === 2) found.version = text(value);
    if (field === 3) found.dbSize = integer(value);
    if (field === 4) found.leader = hexId(value);
    if (field === 5) found.raftIndex = integer(value);
    if (field === 6) found.raftTerm = integer(value);
    if (field === 7) found.raftAppliedIndex = integer(value);
    if (field === 8) found.errors.push(text(value));
    if (field === 9) found.dbSizeInUse = integer(value);
    if (field === 10) found.isLearner = numberOf(value) !== 0n;
    if (field === 11) found.storageVersion = text(value) || undefined;
    if (field === 12) found.dbSizeQuota = integer(value) || undefined;
    if (field === 13) found.downgradeEnabled = isSet(bytesOf(value), 1);
  }
  return { ...head, ...found };
}

const isSet = (message: Uint8Array, wanted: number): boolean =>
  [...fieldsOf(message)].some(([field, value]) => field === wanted && value !== 0n);

export async function hashKV(channel: GrpcChannel, revision: number, options: GrpcCallOptions): Promise<HashKVAnswer> {
  const answer = await channel.unary('Maintenance/HashKV', encodeInt(1, revision), options);
  return readAnswer(channel, 'Maintenance/HashKV', () => {
    const found = { hash: 0, compactRevision: 0 };
    for (const [field, value] of fieldsOf(answer)) {
      if (field === 2) found.hash = integer(value);
      if (field === 3) found.compactRevision = integer(value);
    }
    return found;
  });
}

export interface SnapshotMessage {
  readonly blob: Uint8Array;
  /** Bytes of the database that follow this message, without the trailer. */
  readonly remainingBytes: number;
  /** Storage version. Only etcd 3.6 and newer. */
  readonly version?: string;
}

export async function* snapshot(channel: GrpcChannel, options: GrpcCallOptions): AsyncGenerator<SnapshotMessage> {
  for await (const message of channel.stream('Maintenance/Snapshot', new Uint8Array(), options)) {
    yield readAnswer(channel, 'Maintenance/Snapshot', () => snapshotIn(message));
  }
}

function snapshotIn(message: Uint8Array): SnapshotMessage {
  let blob: Uint8Array = new Uint8Array();
  let remainingBytes = 0;
  let version: string | undefined;
  for (const [field, value] of fieldsOf(message)) {
    if (field === 2) remainingBytes = integer(value);
    if (field === 3) blob = bytesOf(value);
    if (field === 4) version = text(value) || undefined;
  }
  return { blob, remainingBytes, version };
}
