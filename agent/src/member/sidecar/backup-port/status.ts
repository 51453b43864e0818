import { GrpcStatus } from '../../../etcd/grpc.ts';
import { AgentError, messageOf } from '../../../lib/errors.ts';

/** Codes of gRPC that the backup port itself answers with. */
export const Status = {
  ok: 0,
  permissionDenied: 7,
  resourceExhausted: 8,
  unimplemented: 12,
  unavailable: 14,
} as const;

/** A call that is not passed on. */
export class Refused extends GrpcStatus {
  override readonly name = 'Refused';
}

/** What to tell the caller: etcd's own status, or why etcd did not answer. */
export function statusOf(error: unknown): { code: number; message: string } {
  if (error instanceof Refused) return error;
  if (error instanceof AgentError && error.cause instanceof GrpcStatus) return error.cause;
  return { code: Status.unavailable, message: `the agent cannot ask its etcd: ${messageOf(error)}` };
}
