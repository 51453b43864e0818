// Makes sure that programs of Debian's packages are on the PATH. Installs the packages if they are missing, without
// starting their services.
import { existsSync } from 'node:fs';
import { onPath } from './on-path.mjs';
import { run, say } from './run.mjs';

const env = { ...process.env, LC_ALL: 'C', DEBIAN_FRONTEND: 'noninteractive' };
const aptGet = (...args) => run('apt-get', ['-q', '-o', 'DPkg::Lock::Timeout=300', ...args], { env, timeout: 900_000 });

/** Sets the exit code 2 if the programs are missing and cannot be installed. */
export async function provideDebianPrograms(name, { programs, packages, services }) {
  const started = performance.now();
  try {
    const there = (await missing(programs)).length === 0;
    if (!there) await install(name, { programs, packages, services });
    say(`${name}: ${there ? 'at hand' : "installed from the distribution's packages"}`, started);
  } catch (error) {
    say(`${name} is missing and cannot be installed here: install ${packages.join(', ')} (${error.message})`);
    process.exitCode = 2;
  }
}

async function missing(programs) {
  const found = await Promise.all(programs.map((name) => onPath(new RegExp(`^${name}$`))));
  return programs.filter((_, index) => found[index].length === 0);
}

async function install(name, { programs, packages, services }) {
  if (process.getuid() !== 0) throw new Error('not root');
  say(`${name}: installing ${packages.join(', ')}, a minute or so`);
  await installPackages(packages);
  if (existsSync('/run/systemd/system')) {
    for (const service of services) await run('systemctl', ['disable', '--now', service], { env }).catch(() => {});
  }
  const absent = await missing(programs);
  if (absent.length > 0) throw new Error(`the packages have no ${absent.join(', ')}`);
}

/** Installs packages, after an update of their lists if it does not work without. */
export async function installPackages(packages) {
  const args = ['install', '-y', '--no-install-recommends', ...packages];
  await aptGet(...args).catch(async () => {
    await aptGet('update');
    await aptGet(...args);
  });
}
