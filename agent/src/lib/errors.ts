/** Exit codes, stable: a Job's podFailurePolicy decides by them. */
export const ExitCode = {
  done: 0,
  unexpected: 1,
  /** Usage or configuration: trying again won't help. */
  usage: 2,
  /** Some stores failed, at least one holds a verified snapshot. */
  partial: 3,
  etcdUnavailable: 10,
  /** CORRUPT alarm, or members whose data differ. */
  sourceSuspect: 11,
  storeUnreachable: 20,
  storeRefused: 21,
  verificationFailed: 30,
  inconclusive: 31,
  /** Refused by a safety rule. */
  refused: 40,
  nothingThere: 41,
  timedOut: 50,
  interrupted: 130,
  terminated: 143,
} as const;

export type ExitCode = (typeof ExitCode)[keyof typeof ExitCode];

/** An error that its reader can act on: one line, no stack trace, and the exit code that goes with it. */
export class AgentError extends Error {
  readonly exitCode: ExitCode;

  constructor(exitCode: ExitCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'AgentError';
    this.exitCode = exitCode;
  }
}

/** The message of anything thrown, on one line. */
export const messageOf = (error: unknown): string =>
  oneLine(error instanceof Error ? error.message || error.name : String(error));

/** Without a full stop: more may follow. */
export const oneLine = (text: string): string =>
  text
    .replaceAll(/\s*\n\s*/g, ' ')
    .trim()
    .replace(/(?<!\.)\.$/, '');

/** Node's error code (`ENOENT`, `ECONNREFUSED`, …), also of a cause. */
export function codeOf(error: unknown): string | undefined {
  // Not instanceof: an error of Node's own can be of another realm.
  for (let at = error as NodeJS.ErrnoException | undefined; at; at = at.cause as typeof at) {
    if (typeof at.code === 'string') return at.code;
  }
  return undefined;
}

/** A mistake in a flag, an environment variable or a file that the user wrote. Exit code 2: trying again does not help. */
export const usageError = (message: string): AgentError => new AgentError(ExitCode.usage, message);
