import { type ChildProcess, spawn } from 'node:child_process';

// The last line that the shell reads lists the processes that are still running. Its stdin ends when this process ends,
// even by SIGKILL.
const script = 'while read -r line; do pids=$line; done; [ -z "$pids" ] || kill -9 $pids';

const living = new Set<number>();
let reaper: ChildProcess | undefined;

/** From now on the process ends with this one. */
export function reap(pid: number): void {
  living.add(pid);
  reaper ??= startReaper();
  tell();
}

/** The process has ended, and its id may soon belong to another process. */
export function spare(pid: number): void {
  living.delete(pid);
  tell();
  if (living.size > 0) return;
  reaper?.stdin?.end();
  reaper = undefined;
}

function tell(): void {
  reaper?.stdin?.write(`${[...living].join(' ')}\n`);
}

function startReaper(): ChildProcess {
  // Detached: a Ctrl-C in the terminal must not end it before its work is done.
  const shell = spawn('sh', ['-c', script], { stdio: ['pipe', 'ignore', 'ignore'], detached: true });
  shell.unref();
  (shell.stdin as unknown as { unref(): void }).unref();
  return shell;
}
