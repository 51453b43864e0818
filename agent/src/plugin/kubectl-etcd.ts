#!/usr/bin/env node
import '../lib/partial-chains.ts';
import { codeOf } from '../lib/errors.ts';
import { Exit } from './exit.ts';
import { run } from './run.ts';

// A credential plugin or a library may cause deprecation warnings, and a reader can do nothing about them.
process.noDeprecation = true;

// Ignore a closed pipe (as with `head`).
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error) => {
    if (codeOf(error) !== 'EPIPE') process.exitCode = Exit.unexpected;
  });
}

const stopped = new AbortController();
const stop = (): void => {
  // The second Ctrl-C ends at once.
  if (stopped.signal.aborted) process.exit(Exit.interrupted);
  stopped.abort();
};
process.on('SIGINT', stop).on('SIGTERM', stop);

void run(process.argv.slice(2), {
  stdout: process.stdout,
  stderr: process.stderr,
  stdin: process.stdin,
  env: process.env,
  signal: stopped.signal,
}).then((code) => {
  process.exitCode = code;
  // Standard input that was read for an answer would keep the process alive.
  process.stdin.unref?.();
});
