import { AgentError, ExitCode, remarkOf } from '../../lib/errors.ts';
import type { Finding } from '../../lib/finding.ts';

export interface CheckResult {
  /**
   * Subject of the check: `etcd`, `member`, `version`, `quorum`, `alarms`, `tls`, `store`, `clock`, `snapshots`, `encryption`,
   * `etcdutl`.
   */
  readonly check: string;
  readonly outcome: 'ok' | 'warning' | 'failed';
  /** One line. */
  readonly detail: string;
  /** Exit code that a `backup` would end with. Only if the check failed. */
  readonly exitCode?: ExitCode;
  /** The setting that is wrong. */
  readonly at?: string | undefined;
  /** What can be done about it. */
  readonly finding?: Finding | undefined;
}

export const ok = (check: string, detail: string, finding?: Finding): CheckResult => ({
  ...{ check, outcome: 'ok', detail, finding },
});
export const warning = (check: string, detail: string, finding?: Finding): CheckResult => ({
  ...{ check, outcome: 'warning', detail, finding },
});
export const failed = (check: string, exitCode: ExitCode, detail: string, finding?: Finding): CheckResult => ({
  ...{ check, outcome: 'failed', detail, exitCode, finding },
});

/** Runs a check. If it throws, returns the error as a failed finding. */
export async function finding(
  check: string,
  signal: AbortSignal,
  work: () => Promise<CheckResult | CheckResult[]>,
): Promise<CheckResult[]> {
  try {
    return [await work()].flat();
  } catch (error) {
    signal.throwIfAborted();
    const { message, at, finding } = remarkOf(error);
    const exitCode = error instanceof AgentError ? error.exitCode : ExitCode.unexpected;
    return [{ ...failed(check, exitCode, message, finding), at }];
  }
}
