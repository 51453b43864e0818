// Makes sure that OpenSSH's server is available for the tests of the sftp store: on the PATH or in /usr/sbin, else from
// Debian. Runs on Node 20.
import { access, constants } from 'node:fs/promises';
import { installPackages } from '../lib/debian-programs.mjs';
import { onPath } from '../lib/on-path.mjs';
import { say } from '../lib/run.mjs';

async function isThere() {
  if ((await onPath(/^sshd$/)).length > 0) return true;
  return access('/usr/sbin/sshd', constants.X_OK).then(
    () => true,
    () => false,
  );
}

async function install() {
  if (process.getuid() !== 0) throw new Error('only root may install it');
  await installPackages(['openssh-server', 'openssh-client']);
  return 'from Debian';
}

const started = performance.now();
try {
  say(`sshd: ${(await isThere()) ? 'at hand' : await install()}`, started);
} catch (error) {
  say(`sshd is missing and cannot be installed here: install openssh-server (${error.message})`);
  process.exitCode = 2;
}
