import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './steps.mjs';

/** Writes a file of the repository that is made, perhaps from what it was. With --check, fails if it is out of date instead. */
export function generated(name, make) {
  const file = join(root, name);
  const before = readFileSync(file, { encoding: 'utf8' });
  const after = make(before);
  if (!process.argv.includes('--check')) writeFileSync(file, after);
  else if (before !== after) {
    console.error(`${name} is out of date: run npm run generate`);
    process.exitCode = 1;
  }
}
