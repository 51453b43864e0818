import { AgentError, ExitCode } from '../errors.ts';

/** A call that a store has not answered yet, such as `get KEY`. */
export interface Call {
  readonly url: string;
  readonly what: string;
}

/** The time limit of a run was reached. Names the stores that had not answered then, and the call if it is one store. */
export class TimedOutError extends AgentError {
  readonly #limit: number;
  readonly #owed: readonly Call[];

  /** `limit` in milliseconds. `urls`: the stores to name. Default: those that owe an answer. */
  constructor(
    limit: number,
    step: string | undefined,
    owed: readonly Call[],
    {
      urls = [...new Set(owed.map(({ url }) => url))],
      cause,
    }: ErrorOptions & { readonly urls?: readonly string[] } = {},
  ) {
    const call = urls.length === 1 ? owed.find(({ url }) => url === urls[0])?.what.trim() : undefined;
    const stores = urls.length === 0 ? '' : `${urls.join(', ')}: `;
    const inStep = step === undefined ? '' : `, in the step '${step}'`;
    const waiting = call === undefined ? '' : `, waiting for \`${call}\``;
    super(ExitCode.timedOut, `${stores}not done after ${Math.round(limit / 1000)}s${inStep}${waiting}`, {
      cause,
      finding: { kind: 'timedOut', isWaiting: call !== undefined },
    });
    this.#limit = limit;
    this.#owed = owed;
  }

  /** The same error for a part of the run, which was in another step than the run. */
  of(urls: readonly string[], step: string | undefined): TimedOutError {
    return new TimedOutError(this.#limit, step, this.#owed, { urls, cause: this });
  }
}

/** Returns the error of a run that has timed out for a part of it: names these stores, and the step of the part. */
export const timedOutAt = (error: unknown, urls: readonly string[], step: string | undefined): unknown =>
  error instanceof TimedOutError ? error.of(urls, step) : error;

/** Whether the signal was aborted because the run reached its time limit. */
export const isTimeout = ({ aborted, reason }: AbortSignal): boolean =>
  aborted && reason instanceof AgentError && reason.exitCode === ExitCode.timedOut;
