// What Git tracks, because other files may lie in a checkout, and not all of them show up as a change.
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../lib/steps.mjs';

/** Paths of the files of these patterns, from the root. */
export function tracked(...patterns) {
  const list = execFileSync('git', ['ls-files', '-z', '--', ...patterns], { cwd: root, encoding: 'utf8' });
  return list.split('\0').filter((path) => path && existsSync(join(root, path)));
}
