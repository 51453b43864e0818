import { oneLine } from '../lib/errors.ts';

/** What the API server answered instead of doing it. */
export class ApiError extends Error {
  readonly status: number;
  /** Kubernetes' word, such as AlreadyExists. */
  readonly reason: string;

  constructor(status: number, reason: string, message: string) {
    super(message);
    this.name = 'ApiError';
    this.status = status;
    this.reason = reason;
  }

  /** From the body of an answer: a Status, or whatever a proxy sends. */
  static of(status: number, request: string, body: string): ApiError {
    const { reason = '', message = '' } = parse(body);
    const said = message || `the API server answers ${status}`;
    return new ApiError(status, reason, `${request}: ${oneLine(said)}${hint(status)}`);
  }
}

export const isStatus = (error: unknown, status: number): boolean =>
  error instanceof ApiError && error.status === status;

/** undefined for what is not there. */
export const unlessMissing = (error: unknown): undefined => {
  if (isStatus(error, 404)) return undefined;
  throw error;
};

const hint = (status: number): string =>
  status === 403 ? ' (a right is missing: apply the manifests of the cluster and of the reconciler again)' : '';

function parse(body: string): { reason?: string; message?: string } {
  try {
    const found = JSON.parse(body);
    return found !== null && typeof found === 'object' ? found : {};
  } catch {
    return {};
  }
}
