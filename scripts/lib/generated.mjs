import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './steps.mjs';

/** Writes a file of the repository that is made, perhaps from what it was. With --check, fails if it is out of date instead. */
export function generated(name, make) {
  const file = join(root, name);
  const before = existsSync(file) ? readFileSync(file, { encoding: 'utf8' }) : '';
  const after = make(before);
  if (!process.argv.includes('--check')) writeFileSync(file, after);
  else if (before !== after) {
    console.error(`${name} is out of date: run npm run generate`);
    process.exitCode = 1;
  }
}

/** Returns a text as `biome format` writes it into that file. */
export function formatted(name, text) {
  const { status, stdout, stderr } = spawnSync('biome', ['format', `--stdin-file-path=${join(root, name)}`], {
    cwd: root,
    input: text,
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`biome format: ${stderr}`);
  return stdout;
}
