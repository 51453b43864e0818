import { readdirSync, readFileSync } from 'node:fs';
import { codeOf } from '../../src/lib/errors.ts';

/** True once no thread of the process runs: SIGSTOP is heard by one of them, the others go on for a moment. */
export const isStopped = (pid: number): boolean =>
  readdirSync(`/proc/${pid}/task`).every((thread) => /\) [Tt]/.test(statOf(pid, thread)));

function statOf(pid: number, thread: string): string {
  try {
    return readFileSync(`/proc/${pid}/task/${thread}/stat`, 'utf8');
  } catch (error) {
    // The thread ended while it was looked at; of a process that is gone, the next look fails.
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ESRCH') return '';
    throw error;
  }
}
