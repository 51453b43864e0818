import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

let made: string | undefined;

/**
 * A directory for this process, in memory if possible: each input becomes a file. A terminated thread cannot remove its
 * own directory, so it uses the one of the process that started it.
 */
export function scratch(): string {
  if (process.env.FUZZ_SCRATCH) return process.env.FUZZ_SCRATCH;
  if (made !== undefined) return made;
  made = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'fuzz-'));
  process.on('exit', () => rmSync(made!, { recursive: true, force: true }));
  return made;
}

export const pathOf = (name: string): string => join(scratch(), name);

/** Writes an input to the place from which a parser reads it. */
export function fileWith(name: string, input: Uint8Array | string): string {
  const file = pathOf(name);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, input);
  return file;
}
