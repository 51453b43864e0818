import { setTimeout as sleep } from 'node:timers/promises';
import type { CommandContext } from '../cli/command.ts';

/** Milliseconds between two attempts to write a note. */
const RETRY_AFTER = 60_000;

/**
 * Tries to write the note until that succeeds or the signal is aborted. Resolves after the first attempt. Only this one warns:
 * a store that takes no notes would otherwise fill the log while the snapshot is served.
 */
export function noteUntilDone(
  attempt: (log: CommandContext['log']) => Promise<boolean>,
  { signal, log }: Pick<CommandContext, 'signal' | 'log'>,
  retryAfter = RETRY_AFTER,
): Promise<boolean> {
  const first = attempt(log);
  const goOn = async () => {
    if (await first) return;
    const silent = log.child({}, { level: 'silent' });
    do await sleep(retryAfter, undefined, { signal, ref: false });
    while (!(await attempt(silent)));
    log.info('the restore is noted in the store now');
  };
  goOn().catch(() => {});
  return first;
}
