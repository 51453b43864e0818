// Installs the npm packages when package-lock.json is newer than what is installed. Runs on Node 20, before anything is there.
import { spawnSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const modified = (file) => statSync(join(root, file), { throwIfNoEntry: false })?.mtimeMs ?? 0;
if (Number(process.versions.node.split('.')[0]) < 20) {
  console.error(`Node 20 or newer is needed to start; this is ${process.version}`);
  process.exit(2);
}
if (modified('node_modules/.package-lock.json') < modified('package-lock.json')) {
  console.error('installing npm packages (once, about a minute)');
  const { status } = spawnSync('npm', ['ci', '--no-fund', '--no-audit'], {
    cwd: root,
    stdio: ['ignore', 'ignore', 'inherit'],
    // `npm run -s` would silence the errors of this npm too.
    env: { ...process.env, npm_config_loglevel: 'error' },
  });
  process.exit(status ?? 1);
}
