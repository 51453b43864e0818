import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const execute = promisify(execFile);

const works = new Set();
process.on('exit', () => {
  for (const work of [...works].reverse()) {
    try {
      work();
    } catch (error) {
      console.error(error.message);
    }
  }
});

/** Returns a function that does this work, which an exit of this process does if nobody has called it. */
export function atExit(work) {
  works.add(work);
  return () => {
    if (works.delete(work)) work();
  };
}

/** Runs a program and returns its stdout; a failure is an Error of one line. An exit of this process ends the program too. */
export async function run(program, args, { timeout = 0, ...options } = {}) {
  const running = execute(program, args, { maxBuffer: 64 * 1024 * 1024, timeout, ...options });
  const end = atExit(() => running.child.kill());
  try {
    const { stdout } = await running;
    return stdout;
  } catch (error) {
    if (error.code === 'ENOENT') throw new Error(`no ${program} on the PATH`);
    if (error.killed) throw new Error(`${program} took longer than ${timeout / 1000} s`);
    throw new Error(mavenError(error.stdout) ?? lastLine(error.stderr) ?? error.message.split('\n')[0]);
  } finally {
    end();
  }
}

/** Maven writes its reason to stdout, before lines of help. */
function mavenError(text = '') {
  const [, reason] = /\[ERROR\] (Failed to execute goal .*|.+ -> \[Help \d+\])$/m.exec(text) ?? [];
  return reason?.replace(/ -> \[Help \d+\]$/, '');
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
