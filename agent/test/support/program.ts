import { chmod, writeFile } from 'node:fs/promises';

/** Writes a shell script that replaces a program, and returns its path. */
export async function program(file: string, ...lines: string[]): Promise<string> {
  await writeFile(file, ['#!/bin/sh', ...lines, ''].join('\n'));
  await chmod(file, 0o755);
  return file;
}
