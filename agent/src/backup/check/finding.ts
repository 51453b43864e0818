import { AgentError, ExitCode, messageOf } from '../../lib/errors.ts';

export interface Finding {
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
}

export const ok = (check: string, detail: string): Finding => ({ check, outcome: 'ok', detail });
export const warning = (check: string, detail: string): Finding => ({ check, outcome: 'warning', detail });
export const failed = (check: string, exitCode: ExitCode, detail: string): Finding => ({
  check,
  outcome: 'failed',
  detail,
  exitCode,
});

/** Runs a check. If it throws, returns the error as a failed finding. */
export async function finding(
  check: string,
  signal: AbortSignal,
  work: () => Promise<Finding | Finding[]>,
): Promise<Finding[]> {
  try {
    return [await work()].flat();
  } catch (error) {
    signal.throwIfAborted();
    return [failed(check, error instanceof AgentError ? error.exitCode : ExitCode.unexpected, messageOf(error))];
  }
}
