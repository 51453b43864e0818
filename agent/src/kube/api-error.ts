import { oneLine } from '../lib/errors.ts';

/** An error answer of the API server. */
export class ApiError extends Error {
  readonly status: number;
  /** Reason in Kubernetes' terms, for example AlreadyExists. */
  readonly reason: string;

  constructor(status: number, reason: string, message: string) {
    super(message);
    this.name = 'ApiError';
    this.status = status;
    this.reason = reason;
  }

  /** Creates an error from the body of an answer: a Status, or any text that a proxy sends. */
  static of(status: number, request: string, body: string): ApiError {
    const { reason = '', message = '' } = parse(body);
    const text = message || `HTTP status ${status} from the API server`;
    return new ApiError(status, reason, `${request}: ${oneLine(text)}${hint(status)}`);
  }
}

export const isStatus = (error: unknown, status: number): boolean =>
  error instanceof ApiError && error.status === status;

/** For `catch`: undefined if the object does not exist. Rethrows every other error. */
export const unlessMissing = (error: unknown): undefined => {
  if (isStatus(error, 404)) return undefined;
  throw error;
};

const hint = (status: number): string =>
  status === 403 ? ' (a permission is missing: apply the manifests of the cluster and of the reconciler again)' : '';

/** A proxy may answer with JSON of its own. */
function parse(body: string): { reason?: string; message?: string } {
  try {
    const { reason, message } = JSON.parse(body);
    return { ...(typeof reason === 'string' && { reason }), ...(typeof message === 'string' && { message }) };
  } catch {
    return {};
  }
}
