import { spawnSync } from 'node:child_process';

const isThere = (program: string) => spawnSync('sh', ['-c', `command -v ${program}`]).status === 0;

/** Installs the missing Debian packages, each named like its program. */
export function provide(...programs: string[]): void {
  const missing = programs.filter((program) => !isThere(program));
  if (missing.length === 0) return;
  console.log(`installing ${missing.join(', ')} with apt-get`);
  const install = () => spawnSync('apt-get', ['install', '-y', '--no-install-recommends', ...missing]).status === 0;
  if (install()) return;
  spawnSync('apt-get', ['update']);
  if (!install()) throw new Error(`bench needs ${missing.join(', ')}: apt-get could not install them; do it by hand`);
}
