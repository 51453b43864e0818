import type { Finding, Remark } from './finding.ts';

/** Exit codes. They are stable: the podFailurePolicy of a Job refers to them. */
export const ExitCode = {
  done: 0,
  unexpected: 1,
  /** A mistake in usage or configuration: trying again does not help. */
  usage: 2,
  /** Some stores failed, but at least one has a verified snapshot. */
  partial: 3,
  etcdUnavailable: 10,
  /** A CORRUPT alarm, or members whose data differ. */
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

/** Only a person can change what such a code is about: another try ends with the same one. */
const toCorrect: readonly (number | undefined)[] = [ExitCode.usage, ExitCode.storeRefused];
export const needsCorrection = (exitCode: number | undefined): boolean => toCorrect.includes(exitCode);

export type ExitCode = (typeof ExitCode)[keyof typeof ExitCode];

/** An error that the user can act on: one line without a stack trace, and the exit code to end with. */
export class AgentError extends Error {
  readonly exitCode: ExitCode;
  /** The setting that is wrong, by its name in a request, such as `dataDir`. */
  readonly at?: string | undefined;
  /** What a command can say more about. By default that of the cause. */
  readonly finding?: Finding | undefined;

  constructor(exitCode: ExitCode, message: string, { at, finding, ...options }: ErrorDetails = {}) {
    super(message, options);
    this.name = 'AgentError';
    this.exitCode = exitCode;
    this.at = at;
    this.finding = finding ?? (options.cause instanceof AgentError ? options.cause.finding : undefined);
  }
}

export interface ErrorDetails extends ErrorOptions {
  readonly at?: string | undefined;
  readonly finding?: Finding | undefined;
}

/** Takes a warning, and what a command can say more about it. */
export type Warn = (message: string, finding?: Finding) => void;

/** Message of any thrown value, on one line. */
export const messageOf = (error: unknown): string =>
  oneLine(error instanceof Error ? error.message || error.name : String(error));

/** An error as a remark, for what does not end with it. */
export const remarkOf = (error: unknown): Remark => ({
  message: messageOf(error),
  ...(error instanceof AgentError ? { at: error.at, finding: error.finding } : {}),
});

/** Puts a text on one line, with a separator between its lines, and removes a final full stop, because more may follow. */
export const oneLine = (text: string, separator = ' '): string =>
  text
    // Not by a pattern such as /\s*\n\s*/: it takes seconds for a server's message of many spaces.
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .join(separator)
    .replace(/(?<!\.)\.$/, '');

/** Node's error code (`ENOENT`, `ECONNREFUSED`, …) of an error or of one of its causes. */
export function codeOf(error: unknown): string | undefined {
  // Do not use instanceof: Node's own errors can come from another realm.
  for (let at = error as NodeJS.ErrnoException | undefined; at; at = at.cause as typeof at) {
    if (typeof at.code === 'string') return at.code;
  }
  return undefined;
}

/**
 * Error for a mistake in a flag, an environment variable or a file of the user. Exit code 2: trying again does not
 * help.
 */
export const usageError = (message: string, details?: ErrorDetails): AgentError =>
  new AgentError(ExitCode.usage, message, details);
