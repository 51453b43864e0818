import { readdirSync, readFileSync } from 'node:fs';

/** True once no thread of the process runs: SIGSTOP is heard by one of them, the others go on for a moment. */
export function isStopped(pid: number): boolean {
  try {
    return readdirSync(`/proc/${pid}/task`).every((thread) =>
      /\) [Tt]/.test(readFileSync(`/proc/${pid}/task/${thread}/stat`, 'utf8')),
    );
  } catch {
    // A thread ended while it was looked at.
    return false;
  }
}
