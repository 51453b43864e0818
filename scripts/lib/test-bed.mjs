// A Kubernetes cluster for CI, by the command in TESTBED.
import { spawnSync } from 'node:child_process';

/** Starts it within `minutes` and puts what it exports, such as KUBECONFIG, into our environment. Returns whether it runs. */
export function startTestBed(command, minutes) {
  console.log(`\n=== ${command} up`);
  // Node.js takes whole milliseconds only.
  const timeout = Math.max(1, Math.round(minutes * 60_000));
  if (spawnSync(command, ['up'], { stdio: 'inherit', timeout }).status !== 0) return false;
  const script = 'set -e; exports=$("$0" env); eval "$exports"; env -0';
  const { status, stdout } = spawnSync('bash', ['-c', script, command], { encoding: 'utf8' });
  if (status !== 0) return false;
  for (const line of stdout.split('\0').filter(Boolean)) {
    const at = line.indexOf('=');
    process.env[line.slice(0, at)] = line.slice(at + 1);
  }
  process.env.IMAGE_LOADER = `${command} load`;
  process.env.NODE_DRIVER = command;
  return true;
}

export const endTestBed = (command) => spawnSync(command, ['down'], { stdio: 'ignore' });
