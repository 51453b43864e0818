import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const execute = promisify(execFile);

/** Runs a program and returns its stdout; a failure is an Error of one line. */
export async function run(program, args, { timeout = 0, ...options } = {}) {
  try {
    const { stdout } = await execute(program, args, { maxBuffer: 64 * 1024 * 1024, timeout, ...options });
    return stdout;
  } catch (error) {
    if (error.code === 'ENOENT') throw new Error(`no ${program} on the PATH`);
    if (error.killed) throw new Error(`${program} took longer than ${timeout / 1000} s`);
    throw new Error(lastLine(error.stderr) ?? error.message.split('\n')[0]);
  }
}

function lastLine(text = '') {
  const lines = text.split('\n').map((line) => line.trim());
  return lines.filter((line) => line && !line.startsWith('go: downloading')).at(-1);
}

/** Prints one line on stderr, with the seconds since `started` (of performance.now()). */
export function say(line, started) {
  const seconds = started === undefined ? '' : ` (${((performance.now() - started) / 1000).toFixed(1)} s)`;
  console.error(`${line}${seconds}`);
}
