// `node scripts/run.mjs COMMAND [ARGUMENTS]`: what every npm script calls. Installs the npm packages when package-lock.json is
// newer than what is installed, then runs scripts/commands/COMMAND.mjs on the Node of those packages. Runs on Node 20.
import { spawn, spawnSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { delimiter, join } from 'node:path';

const root = join(import.meta.dirname, '..');
const [command, ...args] = process.argv.slice(2);
install();
run();

function install() {
  if (Number(process.versions.node.split('.')[0]) < 20) {
    console.error(`Node 20 or newer is needed to start; this is ${process.version}`);
    process.exit(2);
  }
  const modified = (file) => statSync(join(root, file), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  if (modified('node_modules/.package-lock.json') >= modified('package-lock.json')) return;
  console.error('installing npm packages (once, a minute or more)');
  const { status } = spawnSync('npm', ['ci', '--no-fund', '--no-audit'], {
    cwd: root,
    stdio: ['ignore', 'ignore', 'inherit'],
    // `npm run -s` would silence the errors of this npm too.
    env: { ...process.env, npm_config_loglevel: 'error' },
  });
  if (status !== 0) process.exit(status ?? 1);
}

function run() {
  if (command === undefined) return;
  const bin = join(root, 'node_modules/.bin');
  const child = spawn(join(bin, 'node'), [join(import.meta.dirname, 'commands', `${command}.mjs`), ...args], {
    stdio: 'inherit',
    env: { ...process.env, PATH: `${bin}${delimiter}${process.env.PATH}` },
  });
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('exit', (code) => {
    process.exitCode = code ?? 1;
  });
}
