import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import { Socket } from 'node:net';
import { addAbortSignal } from 'node:stream';
import { text } from 'node:stream/consumers';

/**
 * Reads a file, or until the signal a pipe, such as `<(…)` of a shell: to read that as a file would wait for its writer, and
 * nothing could interrupt it.
 */
export async function readFileOrPipe(path: string, signal?: AbortSignal): Promise<string> {
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  let isPipe = false;
  try {
    isPipe = fstatSync(file).isFIFO();
    if (!isPipe) return readFileSync(file, 'utf8');
  } finally {
    if (!isPipe) closeSync(file);
  }
  const pipe = new Socket({ fd: file, readable: true, writable: false });
  return text(signal ? addAbortSignal(signal, pipe) : pipe);
}
