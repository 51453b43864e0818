import { oneLine } from '../lib/errors.ts';

/** An error answer of the API server. */
export class ApiError extends Error {
  readonly status: number;
  /** Reason in Kubernetes' terms, for example AlreadyExists. */
  readonly reason: string;
  /** What the API server said, on one line, without the request. */
  readonly said: string;

  constructor(status: number, reason: string, message: string, said: string = message) {
    super(message);
    this.name = 'ApiError';
    this.status = status;
    this.reason = reason;
    this.said = said;
  }

  /** Creates an error from the body of an answer: a Status, or any text that a proxy sends. */
  static of(status: number, request: string, body: string): ApiError {
    const { reason = '', message = '' } = parse(body);
    const said = oneLine(message || `HTTP status ${status} from the API server`);
    return new ApiError(status, reason, `${request}: ${said}${hint(status)}`, said);
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
    return {
      reason: typeof reason === 'string' ? reason : undefined,
      message: typeof message === 'string' ? message : undefined,
    };
  } catch {
    return {};
  }
}
