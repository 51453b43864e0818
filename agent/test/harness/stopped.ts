import { readdirSync, readFileSync } from 'node:fs';
import { codeOf } from '../../src/lib/errors.ts';

/**
 * Returns true when no thread of the process runs: one of them receives SIGSTOP, and the others continue for a moment.
 */
export const isStopped = (pid: number): boolean =>
  readdirSync(`/proc/${pid}/task`).every((thread) => /\) [Tt]/.test(statOf(pid, thread)));

function statOf(pid: number, thread: string): string {
  try {
    return readFileSync(`/proc/${pid}/task/${thread}/stat`, 'utf8');
  } catch (error) {
    // The thread ended in between. For a process that has ended, the next check fails.
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ESRCH') return '';
    throw error;
  }
}
