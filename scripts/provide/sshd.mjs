// Makes sure that OpenSSH's server is available for the tests of the sftp store: on the PATH or in /usr/sbin, else from
// Debian. Runs on Node 20.
import { access, constants } from 'node:fs/promises';
import { onPath } from '../lib/on-path.mjs';
import { run, say } from '../lib/run.mjs';

const env = { ...process.env, LC_ALL: 'C', DEBIAN_FRONTEND: 'noninteractive' };

async function isThere() {
  if ((await onPath(/^sshd$/)).length > 0) return true;
  return access('/usr/sbin/sshd', constants.X_OK).then(
    () => true,
    () => false,
  );
}

async function install() {
  if (process.getuid() !== 0) throw new Error('only root may install it');
  const packages = ['-y', '-q', '--no-install-recommends', 'openssh-server', 'openssh-client'];
  const attempt = () => run('apt-get', ['install', ...packages], { env, timeout: 300_000 });
  try {
    await attempt();
  } catch {
    await run('apt-get', ['update', '-q'], { env, timeout: 300_000 });
    await attempt();
  }
  return 'from Debian';
}

const started = performance.now();
try {
  say(`sshd: ${(await isThere()) ? 'at hand' : await install()}`, started);
} catch (error) {
  say(`sshd is missing and cannot be installed here: install openssh-server (${error.message})`);
  process.exitCode = 2;
}
