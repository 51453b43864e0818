/**
 * Ends the process at once. A thread that hangs in a call of the system would hold up `process.exit`, which waits for all
 * threads. The kernel waits for none when another program replaces this one.
 */
export function endProcess(exitCode: number): void {
  process.execve?.(process.execPath, [process.execPath, '--eval', `process.exitCode = ${exitCode}`], {});
  process.kill(process.pid, 'SIGKILL');
}
